#define _DEFAULT_SOURCE // madvise

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "util/err.h"
#include "util/mem.h"

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

_Noreturn static void
out_of_memory(size_t n, size_t size)
{
    fprintf(stderr, "out of memory: %zu x %zu bytes\n", n, size);
    abort();
}

void *
mem_array(size_t n, size_t size)
{
    void *p = calloc(n ? n : 1, size ? size : 1);

    if (!p)
        out_of_memory(n, size);
    return p;
}

/* Returns the bytes of n items, rounded up to a boundary. */
static size_t
aligned_bytes(size_t n, size_t size)
{
    if (size && n > (SIZE_MAX - ALIGN) / size)
        out_of_memory(n, size);
    return (n * size + ALIGN) / ALIGN * ALIGN;
}

void *
mem_aligned(size_t n, size_t size)
{
    return memset(mem_unset(n, size), 0, aligned_bytes(n, size));
}

void *
mem_unset(size_t n, size_t size)
{
    const size_t bytes = aligned_bytes(n, size);
    int large;
    void *p;

    large = bytes >= 2 * (size_t)HUGE_PAGE;
    if (posix_memalign(&p, large ? HUGE_PAGE : ALIGN, bytes))
        out_of_memory(n, size);
    if (large) // may fail: the kernel may lack huge pages
        madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

void
mem_grow(void *items, size_t *room, size_t need, size_t size)
{
    void **at = items;
    size_t more = *room + *room / 2 + 16;
    void *p;

    if (need <= *room)
        return;
    if (more < need)
        more = need;
    REQUIRE(size > 0);
    if (more > SIZE_MAX / size)
        out_of_memory(more, size);
    p = realloc(*at, more * size);
    if (!p)
        out_of_memory(more, size);
    *at = p;
    *room = more;
}

void
data_bytes_release(struct data_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct data_bytes){0};
}

void
mem_free_list(void *const *block, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(block[i]);
}

char *
mem_text(const char *text)
{
    size_t n = strlen(text) + 1;

    return memcpy(mem_array(n, 1), text, n);
}

char *
mem_format_list(const char *fmt, va_list ap)
{
    va_list again;
    char *text;
    int n;

    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    REQUIRE(n >= 0);
    text = mem_array((size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, fmt, ap);
    return text;
}

char *
mem_format(const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    return text;
}

const char *
mem_temp(const char *fmt, ...)
{
    static _Thread_local char texts[8][4160];
    static _Thread_local unsigned n;
    char *text = texts[n++ % 8];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof texts[0], fmt, ap);
    va_end(ap);
    return text;
}

void *
mem_keep(void *memory)
{
    static void **all; // so that tools that search for leaks find it
    static size_t n, room;

    mem_grow(&all, &room, n + 1, sizeof *all);
    return all[n++] = memory;
}

char *
mem_keep_format(const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    return mem_keep(text);
}

void
mem_append(char **text, const char *fmt, ...)
{
    char *more, *whole;
    va_list ap;

    va_start(ap, fmt);
    more = mem_format_list(fmt, ap);
    va_end(ap);
    whole = mem_format("%s%s", *text ? *text : "", more);
    mem_free(more, *text);
    *text = whole;
}

void
series_put(struct series *series, const char *name)
{
    if (series->n++ < series->most)
        mem_append(&series->text, "%s%s", series->text ? ", " : "", name);
}

char *
series_end(struct series *series)
{
    char *text = series->text ? series->text : mem_text("");

    if (series->n > series->most)
        mem_append(&text, " and %zu more", series->n - series->most);
    *series = (struct series){.most = series->most};
    return text;
}
