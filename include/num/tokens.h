#ifndef NUM_TOKENS_H
#define NUM_TOKENS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Rows for the packed tokens of n samples: sample i is the rows [offsets[i],
 * offsets[i + 1]).  Rows have d numbers, f32 or, with `bf16`, bfloat16
 * (num/half.h); vectors that rows share, and their gradients, are f32.
 *
 * The gradient of a vector that k rows share is a sum over these rows in their
 * order, in f32, for any number of threads, so its error is at most k / 2^24 of
 * the sum of their magnitudes; all other results are rounded once
 * (tests/num/test_tokens.c).  With `add` gradients are added to the output,
 * else they overwrite it.  Calls on different arrays may run at the same time.
 */

/* num_embed() looks up rows of a table: y_t = table[id_t].
 *   ids [n], each below the rows of the table;  y [n,d] */
void num_embed(size_t n, size_t d, int bf16, const int32_t *ids,
               const float *table, void *y);

/*
 * num_embed_back() writes the gradient, dtable[r] = sum of dy_t over id_t = r,
 * of all `rows` rows.
 *   order  [num_embed_scratch()] scratch
 * O(rows d + n d) time: rows are sorted by id first.
 */
size_t num_embed_scratch(size_t n, size_t rows);
void num_embed_back(size_t n, size_t d, int bf16, size_t rows,
                    const int32_t *ids, const void *dy, int add, float *dtable,
                    uint32_t *order);

/* num_position() adds the vector of a token's position in its sample:
 * y_t = x_t + p[t - offsets[i]].
 *   x, y [tokens,d], may be the same;  p [longest,d] */
void num_position(size_t n, const size_t *offsets, size_t d, int bf16,
                  const float *p, const void *x, void *y);

/* num_position_back() writes dp [longest,d]; dx equals dy. */
void num_position_back(size_t n, const size_t *offsets, size_t longest,
                       size_t d, int bf16, const void *dy, int add, float *dp);

/* num_column_sums() writes sum_j = sum over rows i of x_ij, in double and in
 * the order of rows.
 *   x [n,d];  sum [d] */
void num_column_sums(size_t n, size_t d, int bf16, const void *x, int add,
                     float *sum);

#endif
