/*
 * The loops of products.h for one instruction set.  Whoever includes this
 * defines ISA, the struct num_products, and LANES_WIDE, numbers of a register,
 * and gets nothing without; FUSED, a b + c of a number and two vectors, where
 * the processor rounds that once; and PAIRED, c and the sum of both products of
 * a word and words, where it has an instruction for them.
 */
#ifdef ISA
#include "lanes.h"
#include "products.h"
#include "whole.h"

#ifndef FUSED
#define FUSED(a, b, c) ((a) * (b) + (c))
#endif

#ifndef PAIRED
#define PAIRED(a, b, c)                       \
    ((c) + (int16_t)(a) * ((b) << 16 >> 16) + \
     ((int32_t)(a) >> 16) * ((b) >> 16))
#endif

enum {
    STRIP = LANES_WIDE == 16  ? 14
            : LANES_WIDE == 8 ? 6
                              : 4, /* fill registers */
    STEPS_AHEAD = 32,              /* of a across, to be asked for early */
    PARTS = 4,                     /* of what is asked for */
    CACHE_LINE = 16,               /* floats */
    HELD = HALF_PANEL / LANES_WIDE < 8 ? HALF_PANEL / LANES_WIDE : 8,
    SCALED_HELD = SCALED_PANEL / LANES_WIDE
};

/* Asks for a part of the rows that are wanted next. */
LANES_INLINE void
ask_part(const size_t rows, const size_t vectors, const struct products_rows *p,
         size_t row, size_t at, size_t part)
{
    for (size_t i = rows * part / PARTS; i < rows * (part + 1) / PARTS; i++)
        for (size_t v = 0; v < vectors * LANES_WIDE; v += CACHE_LINE)
            __builtin_prefetch(p->ask + (row + i) * p->ld_ask + at + v, 1);
}

/* So many rows, and one or two vectors of columns.  A pointer to each third row
 * makes addresses cheap; steps across are too wide to be foreseen.  Rows are
 * asked for in parts, or what is read meanwhile would wait for them. */
LANES_INLINE void
multiply_columns(const size_t rows, const size_t vectors, const int across,
                 const struct products_rows *p, size_t row, size_t at)
{
    const size_t ai = across ? 1 : p->ai, ak = across ? p->ak : 1;
    const size_t parts = p->ask ? PARTS : 1, depth = p->to - p->from;
    const float *a[(STRIP + 2) / 3], *b = p->b + p->from * p->ldb + at;
    lanes sum[STRIP][2];
    size_t k = 0;

#pragma GCC unroll 14
    for (size_t i = 0; i < rows; i++)
        sum[i][0] = sum[i][1] = (lanes){0};
    for (size_t i = 0; i < rows; i += 3)
        a[i / 3] = p->a + (row + i) * ai + p->from * ak;
    for (size_t part = 0; part < parts; part++) {
        const size_t below = depth * (part + 1) / parts;

        if (p->ask)
            ask_part(rows, vectors, p, row, at, part);
        for (; k < below; k++, b += p->ldb) {
            lanes column[2];

            for (size_t v = 0; v < vectors; v++)
                column[v] = lanes_at(b + v * LANES_WIDE);
            if (across) {
                __builtin_prefetch(a[0] + STEPS_AHEAD * ak);
                if (STRIP > 6) // most lie in two lines
                    __builtin_prefetch(a[0] + STEPS_AHEAD * ak + rows - 1);
            }
#pragma GCC unroll 14
            for (size_t i = 0; i < rows; i++)
                for (size_t v = 0; v < vectors; v++)
                    sum[i][v] =
                        FUSED(a[i / 3][i % 3 * ai], column[v], sum[i][v]);
            for (size_t i = 0; i < rows; i += 3)
                a[i / 3] += ak;
        }
    }
#pragma GCC unroll 14
    for (size_t i = 0; i < rows; i++)
        for (size_t v = 0; v < vectors; v++)
            memcpy(p->c + (row + i) * p->ldc + at + v * LANES_WIDE, &sum[i][v],
                   sizeof sum[i][v]);
}

#define BLOCK(rows)                                                     \
    static void block_##rows(const struct products_rows *p, size_t row, \
                             size_t at)                                 \
    {                                                                   \
        const int two = at + 2 * LANES_WIDE <= p->n;                    \
                                                                        \
        if (p->ai == 1 && two)                                          \
            multiply_columns(rows, 2, 1, p, row, at);                   \
        else if (p->ai == 1)                                            \
            multiply_columns(rows, 1, 1, p, row, at);                   \
        else if (two)                                                   \
            multiply_columns(rows, 2, 0, p, row, at);                   \
        else                                                            \
            multiply_columns(rows, 1, 0, p, row, at);                   \
    }
BLOCK(1)
BLOCK(2)
BLOCK(3)
BLOCK(4)
#if LANES_WIDE > 4
BLOCK(5)
BLOCK(6)
#endif
#if LANES_WIDE > 8
BLOCK(7)
BLOCK(8)
BLOCK(9)
BLOCK(10)
BLOCK(11)
BLOCK(12)
BLOCK(13)
BLOCK(14)
#endif

static void (*const blocks[STRIP + 1])(const struct products_rows *p,
                                       size_t row, size_t at) = {
    NULL,    block_1, block_2, block_3,  block_4,
#if LANES_WIDE > 4
    block_5, block_6,
#endif
#if LANES_WIDE > 8
    block_7, block_8, block_9, block_10, block_11, block_12, block_13, block_14,
#endif
};

/* One or two vectors of columns at a time, which stay in the first cache, for
 * all rows, in blocks of nearly the same size. */
static void
rows_product(const struct products_rows *product)
{
    const struct products_rows p = *product;
    const size_t n = num_divide_up(p.rows, STRIP);

    for (size_t at = 0; at < p.n; at += 2 * LANES_WIDE)
        for (size_t i = 0; i < n; i++) {
            const size_t from = p.rows * i / n, to = p.rows * (i + 1) / n;

            blocks[to - from](&p, from, at);
        }
}

/* Both products of a word, one after the other: a row, and HELD vectors of the
 * panel from column `at` on. */
LANES_INLINE void
part_of_panel(const struct half_product *p, size_t row, size_t at)
{
    const uint32_t *a = p->a + row * p->row, *b = p->b + at;
    lanes sum[HELD] = {0};

    for (size_t k = 0; k < p->depth; k++, a += p->step, b += HALF_PANEL) {
        const float low = half_value((uint16_t)*a);
        const float high = half_value((uint16_t)(*a >> 16));

        for (size_t v = 0; v < HELD; v++) {
            const struct pair both = pair_load(b, 2 * v * LANES_WIDE, 1);

            sum[v] += low * both.v[0];
            sum[v] += high * both.v[1];
        }
    }
    memcpy(p->c + row * HALF_PANEL + at, sum, sizeof sum);
}

static void
half_product(const struct half_product *product)
{
    const struct half_product p = *product;

    for (size_t i = 0; i < p.rows; i++)
        for (size_t at = 0; at < HALF_PANEL; at += HELD * LANES_WIDE)
            part_of_panel(&p, i, at);
}

LANES_INLINE void
store_scaled(const struct scaled_product *p, size_t row, const lanes_int *sum)
{
    const uint32_t *scales = p->b + p->depth * SCALED_PANEL;
    float *c = p->c + row * p->line, own;

    memcpy(&own, p->a + row * (p->depth + 1) + p->depth, sizeof own);
    for (size_t v = 0; v < SCALED_HELD; v++) {
        lanes theirs, x;

        memcpy(&theirs, scales + v * LANES_WIDE, sizeof theirs);
        x = __builtin_convertvector(sum[v], lanes) * own * theirs;
        memcpy(c + v * LANES_WIDE, &x, sizeof x);
    }
}

LANES_INLINE void
multiply_scaled(const struct scaled_product *p, size_t row, size_t rows)
{
    const size_t next = p->depth + 1;
    const uint32_t *a = p->a + row * next, *b = p->b;
    lanes_int sum[SCALED_ROWS][SCALED_HELD] = {0};

    for (size_t k = 0; k < p->depth; k++, b += SCALED_PANEL) {
        lanes_int both[SCALED_HELD];

        for (size_t v = 0; v < SCALED_HELD; v++)
            memcpy(&both[v], b + v * LANES_WIDE, sizeof both[v]);
        for (size_t i = 0; i < rows; i++)
            for (size_t v = 0; v < SCALED_HELD; v++)
                sum[i][v] = PAIRED(a[i * next + k], both[v], sum[i][v]);
    }
    for (size_t i = 0; i < rows; i++)
        store_scaled(p, row + i, sum[i]);
}

static void
scaled_product(const struct scaled_product *product)
{
    const struct scaled_product p = *product;
    size_t row = 0;

    for (; row + SCALED_ROWS <= p.rows; row += SCALED_ROWS)
        multiply_scaled(&p, row, SCALED_ROWS);
    for (; row < p.rows; row++)
        multiply_scaled(&p, row, 1);
}

const struct num_products ISA = {.rows_best = LANES_WIDE == 16 ? STRIP : 24,
                                 .rows = rows_product,
                                 .halves = half_product,
                                 .scaled = scaled_product};

#endif
