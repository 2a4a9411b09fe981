#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "util/mem.h"

#include "bytes.h"

enum { PIECE = 65536 }; // bytes of one read()

void
stage_bytes_clear(struct stage_bytes *bytes)
{
    bytes->from = bytes->n = bytes->scanned = 0;
}

void
stage_bytes_add(struct stage_bytes *bytes, const char *text, size_t n)
{
    // drop the consumed bytes once they are half of all
    if (bytes->from > bytes->n / 2 || bytes->from == bytes->n) {
        bytes->n -= bytes->from;
        bytes->scanned -= bytes->from;
        if (bytes->n)
            memmove(bytes->at, bytes->at + bytes->from, bytes->n);
        bytes->from = 0;
    }
    mem_grow(&bytes->at, &bytes->room, bytes->n + n, 1);
    memcpy(bytes->at + bytes->n, text, n);
    bytes->n += n;
}

char *
stage_bytes_line(struct stage_bytes *bytes, size_t *n)
{
    char *line, *end = NULL;

    if (bytes->scanned < bytes->n)
        end =
            memchr(bytes->at + bytes->scanned, '\n', bytes->n - bytes->scanned);
    if (!end) {
        bytes->scanned = bytes->n;
        return NULL;
    }
    line = bytes->at + bytes->from;
    *n = (size_t)(end - line);
    *end = 0;
    bytes->from = bytes->scanned = (size_t)(end - bytes->at) + 1;
    return line;
}

int
stage_bytes_read(int fd, struct stage_bytes *bytes)
{
    char piece[PIECE];
    ssize_t n;

    do
        n = read(fd, piece, sizeof piece);
    while (n < 0 && errno == EINTR);
    if (n > 0)
        stage_bytes_add(bytes, piece, (size_t)n);
    return n > 0 ? 1 : n < 0 && errno == EAGAIN ? 0 : -1;
}
