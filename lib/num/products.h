#pragma once

#include <stddef.h>

#include "half_product.h"
#include "level.h"

/*
 * The inner loops of all products, compiled from products_loops.c for each
 * instruction set: vectors are as wide as a register, so that sums stay in
 * registers.  Sums are in the order of k.  Products of halves are not fused
 * with sums: all instruction sets give the same bits.  Products of rows are
 * fused with AVX2 and AVX-512, which give the same bits; others differ.
 */
enum { PRODUCTS_COLUMNS = 16 };
enum { SCALED_ROWS = 6, SCALED_PANEL = 16 };

/* c (+)= a b, for `rows` rows and n columns, a multiple of 16, or of 8 without
 * AVX-512: a_ik is a[i * row + k * step], where row or step is 1; row k of b is
 * b + k * ldb, and row i of c is c + i * ldc. */
struct products_rows {
    const float *a;
    size_t row, step;
    const float *b;
    size_t ldb;
    float *c;
    size_t ldc;
    size_t rows, depth, n;
    int add;
    const float *next; /* `ahead` floats of the next product, prefetched */
    size_t ahead;
};

/* Products of scaled rows (num/narrow.h) with a panel: row i of a is words
 * a[i * (depth + 1)], the last of them its scale; those of b are at
 * b[k * SCALED_PANEL + j].  All instruction sets give the same bits. */
struct scaled_product {
    const uint32_t *a, *b;
    size_t rows, depth;
    float *c; /* [rows,SCALED_PANEL], with `line` floats per row */
    size_t line;
};

struct num_products {
    size_t columns; /* of b that are computed at a time, from 16 on */
    void (*rows)(const struct products_rows *product);
    void (*halves)(const struct half_product *product);
    void (*scaled)(const struct scaled_product *product);
};

LEVELS(num_products)
