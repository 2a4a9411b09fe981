#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Sums of products of bfloat16 tiles, in f32, for lib/num/tiles.h.
 *
 * A tile is 16 rows of 16 words of 32 bits, without gaps.  A word is two
 * numbers that are adjacent in the direction of the sum, the first in the lower
 * half: word (i, k) of a left tile is a(i, 2k) and a(i, 2k + 1), and word (k,
 * j) of a right one b(2k, j) and b(2k + 1, j).
 */
enum { TILE_SIDE = 16, TILE_DEPTH = 32, TILE_WORDS = 256, TILE_SUMS = 1024 };

/* The first tiles of a sum: offsets from a and from b, in words. */
struct tile_term {
    size_t a, b;
};

/* c(i, j) (+)= sum over terms and steps of a(i) b(j), for `rows` times
 * `columns` tiles, each 1 or 2: tile i of a is i * a_next words further, step s
 * of a term s * a_step, and the same for b. */
struct tile_product {
    const uint32_t *a, *b;
    size_t rows, columns, a_next, b_next;
    const struct tile_term *terms;
    size_t n_terms, steps, a_step, b_step;
    int add;
    float *c; /* [2,2,16,16], TILE_SUMS; or with a line, [32,32] of a matrix */
    size_t line; /* floats from a row of the matrix to the next, or 0 */
};

/* Floats of c from a row of a tile to the next, and where tile (i, j) is. */
static inline size_t
tile_line(const struct tile_product *p)
{
    return p->line ? p->line : TILE_SIDE;
}

static inline float *
tile_sums(const struct tile_product *p, size_t i, size_t j)
{
    return p->line ? p->c + (i * p->line + j) * TILE_SIDE
                   : p->c + (2 * i + j) * TILE_WORDS;
}

/* By the tiles of AMX; or by loops in plain C, for tests.  They add in
 * different orders, so bits differ.  num_tile_kernel() returns that of AMX, or
 * NULL if the processor has none. */
struct tile_kernel {
    const char *name;
    void (*begin)(void); /* called before a thread's products */
    void (*end)(void);   /* called after them */
    void (*product)(const struct tile_product *p);
};

extern const struct tile_kernel num_tile_amx, num_tile_plain;

const struct tile_kernel *num_tile_kernel(void);
