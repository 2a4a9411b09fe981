#ifndef UTIL_MEM_H
#define UTIL_MEM_H

#include <stdarg.h>
#include <stddef.h>

/*
 * mem_array() returns n zeroed items of `size` bytes, to be given to free().
 * It does not return when memory is short or n * size overflows: a process
 * is the unit of failure here.  A count that came from outside is checked
 * against its limit before it gets this far.
 */
void *mem_array(size_t n, size_t size);

/*
 * mem_aligned() is mem_array() with the first byte on a 64-byte boundary, as
 * vector loads and oneDNN like it.  From 4 MiB on it begins on a boundary of
 * 2 MiB, and the kernel is asked for huge pages (madvise(2)).  To be given to
 * free().
 */
void *mem_aligned(size_t n, size_t size);

/* mem_unset() is mem_aligned() whose bytes are any: for what is written before
 * it is read. */
void *mem_unset(size_t n, size_t size);

/*
 * mem_grow() makes room for at least `need` items in the array at *items, of
 * which *room says how many fit now; both are updated, the old items kept,
 * new ones not initialised.  Amortised O(1) an item.
 */
void mem_grow(void *items, size_t *room, size_t need, size_t size);

/* mem_text() returns a copy of a string, to be given to free(). */
char *mem_text(const char *text);

/* mem_word() returns a text with a blank and a word behind it, to be given to
 * free(); it frees the text that it was given. */
char *mem_word(char *text, const char *word);

/* mem_format() returns a formatted string, to be given to free();
 * mem_format_list() is the same with a va_list. */
char *mem_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_format_list(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

#endif
