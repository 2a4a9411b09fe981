#ifndef STAGE_BYTES_H
#define STAGE_BYTES_H

#include <stddef.h>

/* Bytes in the order they came, as of a pipe; the first `from` of them are used
 * up.  All zero is empty; `at` is to be freed. */
struct stage_bytes {
    char *at;
    size_t from, n, room;
    size_t looked; /* no line ends between `from` and it */
};

void stage_bytes_clear(struct stage_bytes *bytes);
void stage_bytes_add(struct stage_bytes *bytes, const char *text, size_t n);

/* stage_bytes_line() returns the next whole line, its end a 0, or NULL; it
 * stays until more is added.  Its length, which another 0 in it does not
 * change, goes to *n. */
char *stage_bytes_line(struct stage_bytes *bytes, size_t *n);

/* stage_bytes_read() adds some that a descriptor has which does not block: 1
 * when it may have more, 0 when it has none for now, -1 when it will have none.
 */
int stage_bytes_read(int fd, struct stage_bytes *bytes);

#endif
