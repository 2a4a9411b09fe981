#include <stdint.h>

#include "pack.h"

struct walk {
    const uint8_t *at;
    size_t left; /* bytes from `at` on */
};

/* Read a big-endian number of `width` bytes; -1 when they are not there. */
static int
read_number(struct walk *w, size_t width, uint64_t *value)
{
    if (w->left < width)
        return -1;
    *value = 0;
    for (size_t i = 0; i < width; i++)
        *value = *value << 8 | w->at[i];
    w->at += width;
    w->left -= width;
    return 0;
}

static int
skip_bytes(struct walk *w, uint64_t n)
{
    if (n > w->left)
        return -1;
    w->at += n;
    w->left -= (size_t)n;
    return 0;
}

static int
is_text(uint8_t tag)
{
    return (tag >= 0xa0 && tag <= 0xbf) || (tag >= 0xd9 && tag <= 0xdb);
}

static int
is_map(uint8_t tag)
{
    return (tag >= 0x80 && tag <= 0x8f) || tag == 0xde || tag == 0xdf;
}

static int walk_value(struct walk *w, int depth, int is_key);

/* The values of a map or an array: each takes a byte at least. */
static int
walk_values(struct walk *w, uint64_t count, int pairs, int depth)
{
    if (depth == WIRE_DEPTH_MAX || (pairs ? 2 * count : count) > w->left)
        return -1;
    for (; count; count--)
        if ((pairs && walk_value(w, depth + 1, 1)) ||
            walk_value(w, depth + 1, 0))
            return -1;
    return 0;
}

/* A value inside so many maps and arrays; a key is a text. */
static int
walk_value(struct walk *w, int depth, int is_key)
{
    static const uint8_t fixed[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8};
    uint64_t byte, n;
    uint8_t tag;

    if (read_number(w, 1, &byte))
        return -1;
    tag = (uint8_t)byte;
    if (is_key && !is_text(tag))
        return -1;
    if (tag <= 0x7f || tag >= 0xe0)
        return 0;
    if (tag <= 0x9f)
        return walk_values(w, tag & 15, tag <= 0x8f, depth);
    if (tag <= 0xbf)
        return skip_bytes(w, tag & 31);
    if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3) // nil, false, true
        return 0;
    if (tag >= 0xca && tag <= 0xd3) // floats and integers
        return skip_bytes(w, fixed[tag - 0xca]);
    if (tag == 0xdc || tag == 0xdd) // array
        return read_number(w, tag == 0xdc ? 2 : 4, &n)
                   ? -1
                   : walk_values(w, n, 0, depth);
    if (tag == 0xde || tag == 0xdf) // map
        return read_number(w, tag == 0xde ? 2 : 4, &n)
                   ? -1
                   : walk_values(w, n, 1, depth);
    if (tag >= 0xc4 && tag <= 0xc6) // bin
        return read_number(w, (size_t)1 << (tag - 0xc4), &n) ? -1
                                                             : skip_bytes(w, n);
    if (tag >= 0xd9 && tag <= 0xdb) // str
        return read_number(w, (size_t)1 << (tag - 0xd9), &n) ? -1
                                                             : skip_bytes(w, n);
    return -1; // ext, and 0xc1, which is unused
}

int
wire_guard(const void *bytes, size_t len, struct err *err)
{
    struct walk w = {.at = bytes, .left = len};

    if (len < 1 || len > WIRE_HEADER_MAX)
        return err_set(err, "header of %zu bytes, want 1 .. %d", len,
                       WIRE_HEADER_MAX);
    if (!is_map(*w.at))
        return err_set(err, "header is not a msgpack map");
    if (walk_value(&w, 0, 0))
        return err_set(err, "header is malformed at byte %zu of %zu",
                       len - w.left, len);
    if (w.left)
        return err_set(err, "header has %zu bytes after its end", w.left);
    return 0;
}
