#ifndef STAGE_BYTES_H
#define STAGE_BYTES_H

#include <stddef.h>

/* A queue of bytes, as from a pipe; the first `from` of them are consumed.
 * All zero is empty; the caller frees `at`. */
struct stage_bytes {
    char *at;
    size_t from, n, room;
    size_t scanned; /* no '\n' from `from` up to here */
};

void stage_bytes_clear(struct stage_bytes *bytes);
void stage_bytes_add(struct stage_bytes *bytes, const char *text, size_t n);

/* stage_bytes_line() returns the next complete line, with 0 for its '\n', or
 * NULL; it is valid until more is added.  *n is its length, which may include
 * further 0 bytes. */
char *stage_bytes_line(struct stage_bytes *bytes, size_t *n);

/* stage_bytes_read() reads from a non-blocking descriptor: 1 if there may be
 * more, 0 if there is nothing now, -1 at the end or on error.
 */
int stage_bytes_read(int fd, struct stage_bytes *bytes);

#endif
