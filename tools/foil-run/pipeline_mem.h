#ifndef FOIL_RUN_PIPELINE_MEM_H
#define FOIL_RUN_PIPELINE_MEM_H

#include <stddef.h>

/*
 * Memory that is released when the process ends: a run makes some thousand
 * short texts, and ends after its last step.  Nothing here is freed.
 */

/* pipeline_keep() returns memory of malloc(3), which must not be freed then. */
void *pipeline_keep(void *memory);

/* pipeline_printf() returns a formatted text, pipeline_array() n zeroed items.
 */
char *pipeline_printf(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));
void *pipeline_array(size_t n, size_t size);

/* pipeline_grow() is mem_grow() (util/mem.h) for such an array. */
void pipeline_grow(void *items, size_t *room, size_t need, size_t size);

#endif
