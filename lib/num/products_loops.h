/*
 * The loops of products.h for one instruction set.  Whoever includes this
 * defines ISA, the struct num_products, and LANES_WIDE, numbers of a register,
 * and gets nothing without.
 */
#ifdef ISA
#include "lanes.h"
#include "products.h"

enum {
    ROWS = PRODUCTS_ROWS,
    HELD = HALF_PANEL / LANES_WIDE < 8 ? HALF_PANEL / LANES_WIDE : 8
};

/* So many rows, and one or two vectors of columns. */
LANES_INLINE void
multiply_columns(const struct products_rows *p, size_t row, size_t rows,
                 size_t vectors, size_t at)
{
    lanes sum[ROWS][2] = {0};

    for (size_t k = p->from; k < p->to; k++) {
        const float *a = p->a + row * p->ai + k * p->ak;
        const float *b = p->b + k * p->ldb + at;
        lanes column[2];

        for (size_t v = 0; v < vectors; v++)
            column[v] = lanes_at(b + v * LANES_WIDE);
        for (size_t i = 0; i < rows; i++)
            for (size_t v = 0; v < vectors; v++)
                sum[i][v] += a[i * p->ai] * column[v];
    }
    for (size_t i = 0; i < rows; i++)
        memcpy(p->c + (row + i) * p->ldc + at, sum[i],
               vectors * sizeof *sum[i]);
}

LANES_INLINE void
all_columns(const struct products_rows *p, size_t row, size_t rows)
{
    size_t at = 0;

    for (; at + 2 * LANES_WIDE <= p->n; at += 2 * LANES_WIDE)
        multiply_columns(p, row, rows, 2, at);
    if (at < p->n)
        multiply_columns(p, row, rows, 1, at);
}

static void
rows_product(const struct products_rows *product)
{
    const struct products_rows p = *product;

    if (p.rows == ROWS) {
        all_columns(&p, 0, ROWS);
        return;
    }
    for (size_t i = 0; i < p.rows; i++)
        all_columns(&p, i, 1);
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

const struct num_products ISA = {.rows = rows_product, .halves = half_product};

#endif
