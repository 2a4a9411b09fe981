/*
 * The loops of products.h for one instruction set (level.h).  FUSED is a b + c
 * for a number and two vectors, rounded once if the processor has such an
 * instruction; PAIRED adds both products of a word with words to c.
 */
#include "lanes.h"
#include "products.h"

#if LANES_WIDE == 16
#include <immintrin.h>
#define FUSED(a, b, c) \
    ((lanes)_mm512_fmadd_ps(_mm512_set1_ps(a), (__m512)(b), (__m512)(c)))
#define PAIRED(a, b, c)                                                  \
    ((c) + (lanes_int)_mm512_madd_epi16(_mm512_set1_epi32((int32_t)(a)), \
                                        (__m512i)(b)))
#elif LANES_WIDE == 8
#include <immintrin.h>
#define FUSED(a, b, c) \
    ((lanes)_mm256_fmadd_ps(_mm256_set1_ps(a), (__m256)(b), (__m256)(c)))
#define PAIRED(a, b, c)                                                  \
    ((c) + (lanes_int)_mm256_madd_epi16(_mm256_set1_epi32((int32_t)(a)), \
                                        (__m256i)(b)))
#else
#define FUSED(a, b, c) ((a) * (b) + (c))
#define PAIRED(a, b, c)                       \
    ((c) + (int16_t)(a) * ((b) << 16 >> 16) + \
     ((int32_t)(a) >> 16) * ((b) >> 16))
#endif

enum {
    ROWS = PRODUCTS_ROWS,
    STRIP = LANES_WIDE == 16 ? 2 * ROWS : ROWS, /* rows that fill registers */
    HELD = HALF_PANEL / LANES_WIDE < 8 ? HALF_PANEL / LANES_WIDE : 8,
    SCALED_HELD = SCALED_PANEL / LANES_WIDE
};

/* Computes `rows` rows and one or two vectors of columns. */
LANES_INLINE void
multiply_columns(const struct products_rows *p, size_t row, size_t rows,
                 size_t vectors, size_t at)
{
    lanes sum[STRIP][2] = {0};

    for (size_t k = p->from; k < p->to; k++) {
        const float *a = p->a + row * p->ai + k * p->ak;
        const float *b = p->b + k * p->ldb + at;
        lanes column[2];

        for (size_t v = 0; v < vectors; v++)
            column[v] = lanes_at(b + v * LANES_WIDE);
        for (size_t i = 0; i < rows; i++)
            for (size_t v = 0; v < vectors; v++)
                sum[i][v] = FUSED(a[i * p->ai], column[v], sum[i][v]);
    }
    for (size_t i = 0; i < rows; i++)
        memcpy(p->c + (row + i) * p->ldc + at, sum[i],
               vectors * sizeof *sum[i]);
}

/* Computes all rows of one or two vectors of columns, which stay in the L1
 * cache. */
LANES_INLINE void
all_rows(const struct products_rows *p, size_t vectors, size_t at)
{
    size_t row = 0;

    for (; row + STRIP <= p->rows; row += STRIP)
        multiply_columns(p, row, STRIP, vectors, at);
    for (; row + ROWS <= p->rows; row += ROWS)
        multiply_columns(p, row, ROWS, vectors, at);
    for (; row < p->rows; row++)
        multiply_columns(p, row, 1, vectors, at);
}

static void
rows_product(const struct products_rows *product)
{
    const struct products_rows p = *product;
    size_t at = 0;

    for (; at + 2 * LANES_WIDE <= p.n; at += 2 * LANES_WIDE)
        all_rows(&p, 2, at);
    if (at < p.n)
        all_rows(&p, 1, at);
}

/* Computes a row and HELD vectors of the panel from column `at` on; adds both
 * products of a word one after the other. */
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
        lanes scale, x;

        memcpy(&scale, scales + v * LANES_WIDE, sizeof scale);
        x = __builtin_convertvector(sum[v], lanes) * own * scale;
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

const struct num_products LEVEL_OF(num_products) = {
    .rows = rows_product, .halves = half_product, .scaled = scaled_product};
