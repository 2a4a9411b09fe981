#ifndef FOIL_RUN_KEEP_H
#define FOIL_RUN_KEEP_H

#include <stddef.h>

/*
 * Memory that is released when the process ends: a run makes some thousand
 * short texts, and ends after its last step.  Nothing here is freed.
 */

/* keep() returns a formatted text, keep_array() n zeroed items. */
char *keep(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void *keep_array(size_t n, size_t size);

/* keep_grow() is mem_grow() (util/mem.h) for such an array. */
void keep_grow(void *items, size_t *room, size_t need, size_t size);

#endif
