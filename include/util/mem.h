#pragma once

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

/* mem_array() returns n zeroed items of `size` bytes; the caller frees them.
 * It aborts if memory is short or n * size overflows.  Check a count from
 * outside against its limit before calling it. */
void *mem_array(size_t n, size_t size);

/* mem_aligned() is mem_array() on a 64-byte boundary, for vector loads and
 * oneDNN. From 4 MiB on it uses a boundary of 2 MiB and asks the kernel for
 * huge pages (madvise(2)). */
void *mem_aligned(size_t n, size_t size);

/* mem_unset() is mem_aligned() without initialisation. */
void *mem_unset(size_t n, size_t size);

/* mem_grow() makes room for at least `need` items in the array at *items, which
 * has room for *room; it updates both.  Old items stay, new ones are not
 * initialised.  Amortised O(1) an item. */
void mem_grow(void *items, size_t *room, size_t need, size_t size);

/* mem_free_list() frees n blocks, mem_free() each of its arguments. */
#define mem_free(...)                      \
    mem_free_list((void *[]){__VA_ARGS__}, \
                  sizeof(void *[]){__VA_ARGS__} / sizeof(void *))
void mem_free_list(void *const *block, size_t n);

/* A growing array of bytes; data_bytes_release() frees it. */
struct data_bytes {
    uint8_t *data;
    size_t len, room;
};
void data_bytes_release(struct data_bytes *bytes);

/* mem_text() returns a copy of a string.  The caller frees it. */
char *mem_text(const char *text);

/* mem_format() returns a formatted string, which the caller frees;
 * mem_format_list() is the same with a va_list. */
char *mem_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_format_list(const char *fmt, va_list ap)
    __attribute__((format(printf, 1, 0)));

/* mem_temp() returns a formatted path or name to use at once: it is in memory
 * of this thread, which the eighth call from here on reuses.  A text of 4,160
 * bytes or more is cut, to one that no system call takes as a path. */
const char *mem_temp(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* mem_keep() returns memory of malloc(3), which is never freed from then on;
 * mem_keep_format() such a formatted string.  For a process that makes a few
 * thousand short texts and ends.  Not thread-safe. */
void *mem_keep(void *memory);
char *mem_keep_format(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* mem_append() appends formatted text to *text (NULL: none yet), which it
 * replaces and frees.  The caller frees the new *text.  O(length). */
void mem_append(char **text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * A list of names for a sentence that shows the first ones: "a, b and 3 more".
 *
 *     struct series names = {.most = 2};
 *     while (...)
 *         series_put(&names, name);
 *     text = series_end(&names);
 *
 * series_end() returns the text, "" if there were no names, which the caller
 * frees; the series is then empty, with the same `most`.
 */
struct series {
    size_t most, n; /* maximum names to show, >= 1; names so far */
    char *text;
};

void series_put(struct series *series, const char *name);
char *series_end(struct series *series);
