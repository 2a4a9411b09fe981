#ifndef FOIL_RUN_KEEP_H
#define FOIL_RUN_KEEP_H

#include <stddef.h>

/*
 * Memory that lives until the process ends: a run makes some thousand short
 * texts, and ends with its last step.  Nothing here is given to free().
 */

/* keep() returns a formatted text, keep_array() n zeroed items. */
char *keep(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *keep_array(size_t n, size_t size);

/* keep_grow() is mem_grow() (util/mem.h) for such an array. */
void keep_grow(void *items, size_t *room, size_t need, size_t size);

#endif
