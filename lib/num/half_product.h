#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Products of bfloat16 matrices, summed in f32, for num/dense.h.
 *
 * A word has two numbers that are adjacent in the direction of the sum, k and
 * k + 1, the first in the lower half.  A matrix of k rows is packed into panels
 * of HALF_PANEL columns: word (p, k/2, j) is at (p depth + k/2) HALF_PANEL + j,
 * with depth = num_half_depth(k).  Words beyond k and beyond the columns are
 * zero.
 */
enum { HALF_PANEL = 64, HALF_ROWS = 6, HALF_ROWS_MOST = 32 };

size_t num_half_depth(size_t k);        /* words for k numbers */
size_t num_half_panels(size_t columns); /* panels for these columns */

/* num_half_pack_down() packs a panel of a matrix [k,columns],
 * num_half_pack_across() one of its transpose [columns,k], with `row` numbers
 * from a row to the next.  Numbers are bfloat16, or f32 which is rounded. */
void num_half_pack_down(size_t k, size_t columns, size_t row, const void *x,
                        size_t panel, uint32_t *to, int bf16);
void num_half_pack_across(size_t k, size_t columns, size_t row, const void *x,
                          size_t panel, uint32_t *to, int bf16);

/* num_half_pack_lines() writes the transpose of a matrix [k,columns] of
 * bfloat16 as lines of num_half_depth(k) words, columns [from,to) of it. */
void num_half_pack_lines(size_t k, size_t columns, const uint16_t *x,
                         size_t from, size_t to, uint32_t *lines);

/* c = a b for `rows` <= kernel->rows rows, one panel wide: word k of row i of a
 * is a[i * row + k * step]. */
struct half_product {
    const uint32_t *a;
    size_t row, step;
    const uint32_t *b; /* a panel */
    size_t rows, depth;
    float *c; /* [kernel->rows,HALF_PANEL] */
};

/*
 * Three implementations: the tiles of AMX; the instruction of AVX512-BF16,
 * which adds two products at once; and vectors of f32.  They add in different
 * orders, so bits differ.  num_half_kernel() returns the one for this
 * processor; product is NULL in those of another architecture.
 */
struct half_kernel {
    const char *name;
    size_t rows;         /* at a time, <= HALF_ROWS_MOST */
    int lines;           /* 1: it requires step = 1 */
    void (*begin)(void); /* called before a thread's products, or NULL */
    void (*end)(void);   /* called after them, or NULL */
    void (*product)(const struct half_product *p);
};

extern const struct half_kernel num_half_tiles, num_half_dot, num_half_vectors;

/* num_half_has_tiles() requests tiles from the kernel; 1 if they may be used.
 */
int num_half_has_tiles(void);
const struct half_kernel *num_half_kernel(void);
