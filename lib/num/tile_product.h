#ifndef NUM_TILE_PRODUCT_H
#define NUM_TILE_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

/*
 * Sums of products of bfloat16 tiles, in f32: what lib/num/tiles.h is made of.
 *
 * A tile is 16 rows of 16 words of 32 bits, without gaps, and a word two
 * numbers that follow each other in the direction of the sum, the first in the
 * lower half: word (i, k) of a left tile is a(i, 2k) and a(i, 2k + 1), and word
 * (k, j) of a right one b(2k, j) and b(2k + 1, j).
 */
enum { TILE_SIDE = 16, TILE_DEPTH = 32, TILE_WORDS = 256, TILE_SUMS = 1024 };

/* Where the tiles of a sum begin: words from a and from b. */
struct tile_term {
    size_t a, b;
};

/*
 * c(i, j) (+)= sum over terms and steps of a(i) b(j), of `rows` times `columns`
 * tiles, each 1 or 2: tile i of a is i * a_next words further, step s of a term
 * s * a_step, and the same of b.
 */
struct tile_product {
    const uint32_t *a, *b;
    size_t rows, columns, a_next, b_next;
    const struct tile_term *terms;
    size_t n_terms, steps, a_step, b_step;
    int add;
    float *c; /* [2,2,16,16], TILE_SUMS; or with a line, [32,32] of a matrix: */
    size_t line; /* floats from a row of it to the next, or 0 */
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

/*
 * By the tiles of AMX, or as the equation says, by loops in plain C, which are
 * for tests.  They add in different orders: bits differ.  num_tile_kernel()
 * returns AMX's, or NULL where there is none.
 */
struct tile_kernel {
    const char *name;
    void (*begin)(void); /* a thread's products, */
    void (*end)(void);   /* and their end */
    void (*product)(const struct tile_product *p);
};

extern const struct tile_kernel num_tile_amx, num_tile_plain;

const struct tile_kernel *num_tile_kernel(void);

#endif
