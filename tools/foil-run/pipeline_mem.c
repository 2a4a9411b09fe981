#include "pipeline_mem.h"

#include <stdarg.h>
#include <string.h>

#include "util/mem.h"

void *
pipeline_keep(void *memory)
{
    static void **all;
    static size_t n, room;

    mem_grow(&all, &room, n + 1, sizeof *all);
    return all[n++] = memory;
}

void *
pipeline_array(size_t n, size_t size)
{
    return pipeline_keep(mem_array(n, size));
}

char *
pipeline_printf(const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    return pipeline_keep(text);
}

void
pipeline_grow(void *items, size_t *room, size_t need, size_t size)
{
    void **at = items, *grown;

    if (need <= *room)
        return;
    grown = pipeline_array(2 * need, size);
    if (*room)
        memcpy(grown, *at, *room * size);
    *at = grown;
    *room = 2 * need;
}
