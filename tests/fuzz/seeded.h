#pragma once

/*
 * Noise reaches little of a decoder that wants a sound file first.  So an input
 * is either taken as it is, or as a list of edits to a sound file: three bytes
 * each, a place (two bytes, little-endian, modulo the length) and what to add
 * there; an odd byte at the end cuts the file.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { SEEDED_ROOM = 1 << 16 };

/*
 * seeded_input() writes the file to try to out and returns its length.  The
 * first byte of the input picks the seed; past the last, the rest is raw.
 */
static inline size_t
seeded_input(const uint8_t *data, size_t len, size_t seeds,
             const uint8_t *const *seed, const size_t *seed_len,
             uint8_t out[SEEDED_ROOM])
{
    size_t pick = len ? data[0] : seeds, n;

    if (pick >= seeds) {
        n = len < SEEDED_ROOM ? len : SEEDED_ROOM;
        if (n)
            memcpy(out, data, n);
        return n;
    }
    n = seed_len[pick];
    memcpy(out, seed[pick], n);
    for (data++, len--; len >= 3; data += 3, len -= 3)
        out[(data[0] | (size_t)data[1] << 8) % n] += data[2];
    return len ? n * *data / 256 : n;
}
