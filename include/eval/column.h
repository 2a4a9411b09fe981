#pragma once

#include <stddef.h>
#include <stdint.h>

/* Statistics of one number per sample, x [n], such as learnt temperatures. */

/* eval_sort() sorts x in rising order. */
void eval_sort(size_t n, double *x);

/* eval_order() returns the indices of x, or of keys, in rising order, a stable
 * sort; the other one is NULL.  The caller frees them. */
size_t *eval_order(size_t n, const double *x, const int64_t *key);

/* eval_quantile() returns the q-quantile of sorted numbers, interpolated
 * linearly at the index (n - 1) q; n >= 1, 0 <= q <= 1. */
double eval_quantile(size_t n, const double *sorted, double q);

/*
 * eval_histogram() counts x in `bins` equal parts of [low, high]; a number
 * outside counts in the first or the last. low < high.
 *   count [bins]  overwritten
 */
void eval_histogram(size_t n, const double *x, double low, double high,
                    size_t bins, size_t *count);

/* eval_mean_ranks() returns the ranks of x from 0; equal numbers have their
 * mean rank.  The caller frees them. */
double *eval_mean_ranks(size_t n, const double *x);

/* eval_spearman() returns the correlation of the ranks of x and y, with mean
 * ranks for equal numbers; 0 if x or y is constant.  O(n log n). */
double eval_spearman(size_t n, const double *x, const double *y);
