#include <stdint.h>

#include "pack.h"

struct walk {
    const uint8_t *at;
    size_t left; /* bytes from `at` on */
    size_t open; /* maps and arrays that are not complete */
    struct {
        uint64_t values; /* still to come, keys of a map included */
        int is_map;
    } in[WIRE_DEPTH_MAX];
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

/* A length of `width` bytes, then so many bytes. */
static int
skip_counted(struct walk *w, size_t width)
{
    uint64_t n;

    return read_number(w, width, &n) ? -1 : skip_bytes(w, n);
}

/* Enter a map or an array: each of its values takes a byte at least. */
static int
enter_values(struct walk *w, uint64_t count, int is_map)
{
    const uint64_t values = is_map ? 2 * count : count;

    if (w->open == WIRE_DEPTH_MAX || values > w->left)
        return -1;
    w->in[w->open].values = values;
    w->in[w->open++].is_map = is_map;
    return 0;
}

static int
enter_counted(struct walk *w, size_t width, int is_map)
{
    uint64_t n;

    return read_number(w, width, &n) ? -1 : enter_values(w, n, is_map);
}

/* One value by its tag: skip or enter what follows. */
static int
walk_value(struct walk *w, uint8_t tag)
{
    static const uint8_t fixed[] = {4, 8, 1, 2, 4, 8, 1, 2, 4, 8};

    if (tag <= 0x7f || tag >= 0xe0)
        return 0;
    if (tag <= 0x8f)
        return enter_values(w, tag & 15, 1);
    if (tag <= 0x9f)
        return enter_values(w, tag & 15, 0);
    if (tag <= 0xbf)
        return skip_bytes(w, tag & 31);
    if (tag == 0xc0 || tag == 0xc2 || tag == 0xc3) // nil, false, true
        return 0;
    if (tag >= 0xc4 && tag <= 0xc6) // bin
        return skip_counted(w, (size_t)1 << (tag - 0xc4));
    if (tag >= 0xca && tag <= 0xd3) // floats and integers
        return skip_bytes(w, fixed[tag - 0xca]);
    if (tag >= 0xd9 && tag <= 0xdb) // str
        return skip_counted(w, (size_t)1 << (tag - 0xd9));
    if (tag == 0xdc || tag == 0xdd)
        return enter_counted(w, tag == 0xdc ? 2 : 4, 0);
    if (tag == 0xde || tag == 0xdf)
        return enter_counted(w, tag == 0xde ? 2 : 4, 1);
    return -1; // ext, and 0xc1, which is unused
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

int
wire_guard(const void *bytes, size_t len, struct err *err)
{
    struct walk w = {.at = bytes, .left = len};

    if (len < 1 || len > WIRE_HEADER_MAX)
        return err_set(err, "header of %zu bytes, want 1 .. %d", len,
                       WIRE_HEADER_MAX);
    if (!is_map(*w.at))
        return err_set(err, "header is not a msgpack map");
    do {
        uint64_t tag;
        int key = w.open && w.in[w.open - 1].is_map &&
                  w.in[w.open - 1].values % 2 == 0;

        if (w.open)
            w.in[w.open - 1].values--;
        if (read_number(&w, 1, &tag) || (key && !is_text((uint8_t)tag)) ||
            walk_value(&w, (uint8_t)tag))
            return err_set(err, "header is malformed at byte %zu of %zu",
                           len - w.left, len);
        while (w.open && !w.in[w.open - 1].values)
            w.open--;
    } while (w.open);
    if (w.left)
        return err_set(err, "header has %zu bytes after its end", w.left);
    return 0;
}
