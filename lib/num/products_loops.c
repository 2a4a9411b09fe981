/* The loops of products.h for one instruction set (level.h).  FUSED is a b + c
 * for a number and two vectors, rounded once if the processor has such an
 * instruction; PAIRED adds both products of a word with words to c. */
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

#define ROWS (LANES_WIDE == 16 ? 12 : 6) /* at a time, in registers */

enum {
    COLUMNS = 2 * LANES_WIDE, /* at a time */
    STEPS_AHEAD = 16,         /* of a product, to prefetch */
    CACHE_LINE = 16,          /* floats */
    HELD = HALF_PANEL / LANES_WIDE < 8 ? HALF_PANEL / LANES_WIDE : 8,
    SCALED_HELD = SCALED_PANEL / LANES_WIDE
};

/* Computes rows at .. at + rows in registers.  `row` or `step` is 1; a pointer
 * to each third row makes addresses cheap.  Loops over rows are unrolled early;
 * otherwise sums would start and end in memory, which with 16 channels takes a
 * fifth of the time. */
LANES_INLINE void
multiply_block(const size_t rows, const size_t vectors, const size_t row,
               const size_t step, const struct products_rows *p, size_t at)
{
    const size_t ldb = p->ldb, ldc = p->ldc;
    const float *a[(ROWS + 2) / 3], *b = p->b;
    float *c = p->c + at * ldc;
    lanes sum[ROWS][2];

    for (size_t i = 0; i < rows; i += 3)
        a[i / 3] = p->a + (at + i) * row;
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            sum[i][v] = p->add ? lanes_at(c + v * LANES_WIDE) : (lanes){0};
        c += ldc;
    }
    for (size_t k = 0; k < p->depth; k++) {
        lanes column[2];

        for (size_t v = 0; v < vectors; v++)
            column[v] = lanes_at(b + v * LANES_WIDE);
        // not into the L1 cache, which has the current operands
        __builtin_prefetch(p->next + k * CACHE_LINE, 0, 2);
        if (row == 1) // steps are too wide for the hardware prefetcher
            __builtin_prefetch(a[0] + STEPS_AHEAD * step, 0);

#pragma GCC unroll 12
        for (size_t i = 0; i < rows; i++) {
            const float x = a[i / 3][i % 3 * row];

            for (size_t v = 0; v < vectors; v++)
                sum[i][v] = FUSED(x, column[v], sum[i][v]);
        }
        for (size_t i = 0; i < rows; i += 3)
            a[i / 3] += step;
        b += ldb;
    }
    c = p->c + at * ldc;
#pragma GCC unroll 12
    for (size_t i = 0; i < rows; i++) {
#pragma GCC unroll 2
        for (size_t v = 0; v < vectors; v++)
            memcpy(c + v * LANES_WIDE, &sum[i][v], sizeof sum[i][v]);
        c += ldc;
    }
}

#define BLOCK(rows)                                                    \
    static void block_##rows(const struct products_rows *p, size_t at) \
    {                                                                  \
        if (p->n <= LANES_WIDE && p->step == 1)                        \
            multiply_block(rows, 1, p->row, 1, p, at);                 \
        else if (p->n <= LANES_WIDE)                                   \
            multiply_block(rows, 1, 1, p->step, p, at);                \
        else if (p->step == 1)                                         \
            multiply_block(rows, 2, p->row, 1, p, at);                 \
        else                                                           \
            multiply_block(rows, 2, 1, p->step, p, at);                \
    }
BLOCK(1)
BLOCK(2)
BLOCK(3)
BLOCK(4)
BLOCK(5)
BLOCK(6)
#if LANES_WIDE == 16
BLOCK(7)
BLOCK(8)
BLOCK(9)
BLOCK(10)
BLOCK(11)
BLOCK(12)
#endif

static void (*const blocks[ROWS + 1])(const struct products_rows *p,
                                      size_t at) = {
    NULL,    block_1, block_2, block_3,  block_4,  block_5,  block_6,
#if LANES_WIDE == 16
    block_7, block_8, block_9, block_10, block_11, block_12,
#endif
};

/* Computes blocks of rows of nearly the same size.  Each prefetches `depth`
 * lines of the next operand; after its end, lines that are cached already. */
static void
multiply_columns(const struct products_rows *p)
{
    const size_t n = (p->rows + ROWS - 1) / ROWS, each = p->depth * CACHE_LINE;
    struct products_rows block = *p;

    for (size_t i = 0; i < n; i++) {
        const size_t from = p->rows * i / n, to = p->rows * (i + 1) / n;

        block.next = i * each < p->ahead ? p->next + i * each : p->b;
        blocks[to - from](&block, from);
    }
}

static void
rows_product(const struct products_rows *product)
{
    struct products_rows part = *product;

    for (size_t at = 0; at < product->n; at += COLUMNS) {
        part.n = num_least(COLUMNS, product->n - at);
        multiply_columns(&part);
        part.b += COLUMNS;
        part.c += COLUMNS;
    }
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
    .columns = LANES_WIDE == 16 ? 32 : 16,
    .rows = rows_product,
    .halves = half_product,
    .scaled = scaled_product};
