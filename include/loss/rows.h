#ifndef LOSS_ROWS_H
#define LOSS_ROWS_H

#include <stddef.h>

/*
 * Functions that objectives on a similarity matrix share.  Rows as in
 * loss/objective.h: n = 2b anchors, view-major, against `rows` columns of which
 * the first n are the anchors themselves.
 */

/* From so many elements on rows are spread over threads; for fewer it takes
 * longer to wake the threads. */
enum { LOSS_FOR_THREADS = 1 << 16 };

/* The columns of the batch that a row is compared with. */
enum loss_mask {
    LOSS_BATCH,          /* all but itself: 2b - 1, the partner among them */
    LOSS_NEGATIVES,      /* all but itself and its partner: 2b - 2 */
    LOSS_CROSS,          /* of the other view all: b, the partner among them */
    LOSS_CROSS_NEGATIVES /* of the other view all but its partner: b - 1 */
};

/* loss_mask_count() returns how many columns a mask has. */
size_t loss_mask_count(size_t b, enum loss_mask mask);

/* loss_partner() returns the row of the other view of the same image. */
size_t loss_partner(size_t b, size_t row);

/* The softmax of one row's scores. */
struct loss_row {
    double log_z; /* log sum_c exp(beta s_c) */
    double mean;  /* sum_c p_c s_c */
};

/*
 * loss_row_partition() takes the softmax of row r over the columns of a mask:
 *
 *     p_c = exp(beta s_c - log_z)
 *
 *   s  [rows]  the row of S
 *   p  [rows]  or NULL; 0 in columns outside of the mask.  May be s.
 * By num_exp(), to 1e-6 of p, with the same bits on any processor; p is 0 below
 * 2e-38.  The largest score is taken out first, so any beta >= 0 is fine.  The
 * Kullback-Leibler divergence of the softmax from the uniform distribution over
 * its m columns is beta mean - log_z + log m.
 */
struct loss_row loss_row_partition(size_t b, size_t rows, size_t r, double beta,
                                   enum loss_mask mask, const float *s,
                                   float *p);

/*
 * loss_partition() does that for all rows.
 *   s  [n,rows]
 *   p  [n,rows] or NULL, may be s
 * Returns sum_r (log_z_r - beta s_r,partner).  Rows are spread over threads,
 * whose number changes no bit.
 */
double loss_partition(size_t b, size_t rows, double beta, enum loss_mask mask,
                      const float *s, float *p);

/*
 * loss_partner_balance() sets the weight of the partner to minus the sum of all
 * others, which is p - 1 of a softmax whose target is the partner, but without
 * its cancellation, which loses all digits once p is near 1.
 *   w        [rows]  a row of W
 *   partner  the partner's column
 */
void loss_partner_balance(size_t rows, size_t partner, float *w);

/* loss_log_add() returns log(exp(a) + exp(b)). */
double loss_log_add(double a, double b);

/*
 * loss_similarity_backward() takes a weight matrix to the gradient on the first
 * `moved` rows, n or more; those behind them are constants:
 *
 *     dv = (W + W') v,   W extended by zero rows to [rows,rows]
 *
 *   w   [moved,rows]; only the first n rows are read, and all are scratch
 *       then.  Fast where few weights of constants are not zero
 *   v   [rows,d]
 *   dv  [moved,d] out
 */
void loss_similarity_backward(size_t n, size_t moved, size_t rows, size_t d,
                              float *w, const float *v, float *dv);

/* loss_similarity_mirror() is its first half: it replaces w by W + W',
 * [moved,moved] in the first columns of [moved,rows]; the product with v is
 * left to the caller. */
void loss_similarity_mirror(size_t n, size_t moved, size_t rows, float *w);

#endif
