/*
 * The loops of winograd_isa.h for one instruction set.  Whoever includes this
 * defines
 *
 *     ISA    the struct winograd_isa, and NAME, that of the instructions
 *     WIDE   lanes of a vector
 *     ROWS   rows of a product at a time, up to 12: 2 ROWS vectors are held
 *     FMA    a b + c of vectors
 *     WIDEN, NARROW  WIDE halves become words; words become their lower halves
 *
 * and gets nothing without.
 */
#ifdef WIDE
#include "taps_loops.h"
#include "winograd_maps.h"

static void
weights(const float *w, size_t out, size_t in, int back, size_t panel, float *u,
        size_t plane)
{
    const size_t rows = back ? out : in, columns = back ? in : out;
    const size_t stride = back ? TAPS : in * TAPS;

    for (size_t c = 0; c < rows; c++)
        for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < columns; v++) {
            const size_t o = panel * PANEL + v * WIDE;
            const float *from = w + (back ? c * in + o : o * in + c) * TAPS;
            float tap[TAPS][WIDE];
            vec g[3][3], half[SIDE][3];

            for (size_t l = 0; l < WIDE; l++)
                for (size_t t = 0; t < TAPS; t++)
                    tap[t][l] = from[l * stride + (back ? TAPS - 1 - t : t)];
            memcpy(g, tap, sizeof g);
            for (int j = 0; j < 3; j++) {
                vec column[3] = {g[0][j], g[1][j], g[2][j]}, all[SIDE];

                by_g(column, all);
                for (int i = 0; i < SIDE; i++)
                    half[i][j] = all[i];
            }
            for (size_t i = 0; i < SIDE; i++) {
                vec all[SIDE];

                by_g(half[i], all);
                for (size_t j = 0; j < SIDE; j++) {
                    float *to = u + (i * SIDE + j) * plane + c * PANEL;

                    // the next line of each plane is asked for early
                    __builtin_prefetch(to + PANEL + v * WIDE, 1);
                    store(to, v * WIDE, all[j], 0);
                }
            }
        }
}

static void
gradient(const float *s, size_t plane, size_t panel, size_t from, size_t to,
         size_t out, size_t in, int accumulate, float *dw)
{
    for (size_t c = from; c < to; c++)
        for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < out; v++) {
            float *at = dw + ((panel * PANEL + v * WIDE) * in + c) * TAPS;
            float tap[TAPS][WIDE];
            vec half[3][SIDE], g[3][3];

            for (int j = 0; j < SIDE; j++) {
                vec all[SIDE], column[3];

                for (int i = 0; i < SIDE; i++)
                    memcpy(&all[i],
                           s + (size_t)(i * SIDE + j) * plane + c * PANEL +
                               v * WIDE,
                           sizeof *all);
                by_g_back(all, column);
                for (int i = 0; i < 3; i++)
                    half[i][j] = column[i];
            }
            for (int i = 0; i < 3; i++)
                by_g_back(half[i], g[i]);
            memcpy(tap, g, sizeof tap);
            for (size_t l = 0; l < WIDE; l++)
                for (size_t t = 0; t < TAPS; t++) {
                    float *put = at + l * in * TAPS + t;

                    *put = (accumulate ? *put : 0) + tap[t][l];
                }
        }
}

/* Rows `at` .. at + rows of a product, held in registers.  Of a_ik, `row` or
 * `step` is 1; a pointer to each third row makes addresses cheap.  Loops over
 * rows are unrolled early, or sums would begin and end in memory, which with 16
 * channels takes a fifth of the time. */
INLINE void
block(const size_t rows, const size_t vectors, const size_t row,
      const size_t step, const struct winograd_product *p, size_t at)
{
    const float *a[(ROWS + 2) / 3], *b = p->b;
    float *c = p->c + at * PANEL;
    vec sum[ROWS][2];

    for (size_t i = 0; i < rows; i += 3)
        a[i / 3] = p->a + (at + i) * row;
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            sum[i][v] = p->add ? load(c, i * PANEL + v * WIDE, 0) : (vec){0};
    for (size_t k = 0; k < p->depth; k++) {
        vec column[2];

        for (size_t v = 0; v < vectors; v++)
            column[v] = load(b, v * WIDE, 0);

#pragma GCC unroll 12
        for (size_t i = 0; i < rows; i++) {
            const vec x = a[i / 3][i % 3 * row] - (vec){0};

            for (size_t v = 0; v < vectors; v++)
                sum[i][v] = FMA(x, column[v], sum[i][v]);
        }
        for (size_t i = 0; i < rows; i += 3)
            a[i / 3] += step;
        b += PANEL;
    }
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            store(c, i * PANEL + v * WIDE, sum[i][v], 0);
}

#define BLOCK(n)                                                       \
    static void block_##n(const struct winograd_product *p, size_t at) \
    {                                                                  \
        if (p->vectors == 1 && p->step == 1)                           \
            block(n, 1, p->row, 1, p, at);                             \
        else if (p->vectors == 1)                                      \
            block(n, 1, 1, p->step, p, at);                            \
        else if (p->step == 1)                                         \
            block(n, 2, p->row, 1, p, at);                             \
        else                                                           \
            block(n, 2, 1, p->step, p, at);                            \
    }
BLOCK(1)
BLOCK(2)
BLOCK(3)
BLOCK(4)
#if ROWS > 4
BLOCK(5)
BLOCK(6)
#endif
#if ROWS > 6
BLOCK(7)
BLOCK(8)
BLOCK(9)
BLOCK(10)
BLOCK(11)
BLOCK(12)
#endif

static void (*const blocks[ROWS + 1])(const struct winograd_product *p,
                                      size_t at) = {
    NULL,    block_1, block_2, block_3,  block_4,
#if ROWS > 4
    block_5, block_6,
#endif
#if ROWS > 6
    block_7, block_8, block_9, block_10, block_11, block_12,
#endif
};

/* In blocks of nearly the same size. */
static void
product(const struct winograd_product *p)
{
    const size_t n = (p->rows + ROWS - 1) / ROWS;

    for (size_t i = 0; i < n; i++) {
        const size_t from = p->rows * i / n, to = p->rows * (i + 1) / n;

        blocks[to - from](p, from);
    }
}

const struct winograd_isa ISA = {
    .name = "winograd:" NAME,
    .taps = "taps:" NAME,
    .lanes = WIDE,
    .weights = weights,
    .points = all_points,
    .product = product,
    .tiles = all_tiles,
    .spread = spread,
    .gradient = gradient,
    .gather = gather,
    .scatter = scatter,
    .taps_in = taps_in,
    .taps_out = taps_out,
};

#endif
