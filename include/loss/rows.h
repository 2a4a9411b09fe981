#ifndef LOSS_ROWS_H
#define LOSS_ROWS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Functions for objectives on a similarity matrix.  Rows as in
 * loss/objective.h: n = v b anchors, view-major, and `rows` columns, first the
 * n anchors.
 *
 * The positives of a row are the other rows of its image in the first `targets`
 * views: all v - 1 others with targets = v; with fewer, the further views learn
 * from these, and these from each other (SwAV, arXiv:2006.09882, section 3.2).
 */
struct loss_views {
    size_t b;       /* images, >= 1 */
    size_t v;       /* views of each, 2 .. LOSS_VIEWS_MAX */
    size_t targets; /* 2 .. v */
};

enum { LOSS_VIEWS_MAX = 64 };

/* From so many elements on rows are spread over threads; for fewer it takes
 * longer to wake the threads. */
enum { LOSS_FOR_THREADS = 1 << 16 };

/* The columns of the batch that a row is compared with. */
enum loss_mask {
    LOSS_BATCH,     /* all but itself: v b - 1 */
    LOSS_NEGATIVES, /* all of other images: v (b - 1) */

    /* of two views */
    LOSS_CROSS,          /* all of the other view, with the partner: b */
    LOSS_CROSS_NEGATIVES /* all of the other view but the partner: b - 1 */
};

/* loss_mask_count() returns the number of columns of a mask. */
size_t loss_mask_count(const struct loss_views *views, enum loss_mask mask);

/* loss_partner() returns, of two views, the row of the other view of the same
 * image. */
size_t loss_partner(size_t b, size_t row);

/*
 * loss_positives_mean() returns the mean of a row's numbers at its positives;
 * loss_positives_add() adds x, in equal parts, to its numbers at them.
 *   row  [v b]  numbers of row r
 */
double loss_positives_mean(const struct loss_views *views, size_t r,
                           const float *row);
void loss_positives_add(const struct loss_views *views, size_t r, double x,
                        float *row);

/* The softmax of one row's scores. */
struct loss_row {
    double log_z; /* log sum_c exp(beta s_c) */
    double mean;  /* sum_c p_c s_c */
    double score; /* mean s of the positives */
};

/* An objective's part of a row, from its softmax p. */
struct loss_term {
    double scale, pull;              /* W_c = scale p_c - pull [c in P] / |P| */
    double value;                    /* its part of L */
    double weight, kl, slope, log_u; /* of the objective */
};

/*
 * loss_row_partition() computes the softmax of row r over the columns of a
 * mask:
 *
 *     p_c = exp(beta s_c - log_z)
 *
 *   s  [rows]  the row of S
 *   p  [rows]  or NULL; 0 in columns outside of the mask.  May be s.
 * By num_exp(), with a relative error of 1e-6 of p and the same bits on any
 * processor; p is 0 below 2e-38.  The largest score is subtracted first, so no
 * beta >= 0 overflows.  The Kullback-Leibler divergence of the softmax from the
 * uniform distribution over its m columns is beta mean - log_z + log m.
 */
struct loss_row loss_row_partition(const struct loss_views *views, size_t rows,
                                   size_t r, double beta, enum loss_mask mask,
                                   const float *s, float *p);

/* loss_view_partition() does that for a row's n columns in one view. */
struct loss_row loss_view_partition(size_t n, double beta, const float *s,
                                    float *p);

/*
 * loss_partition() does that for all rows.
 *   s  [n,rows]
 *   p  [n,rows] or NULL, may be s
 * Returns sum_r (log_z_r - beta mean_p s_rp), p its positives.  It uses
 * threads; the bits do not depend on their number.
 */
double loss_partition(const struct loss_views *views, size_t rows, double beta,
                      enum loss_mask mask, const float *s, float *p);

/*
 * loss_partner_balance() sets the weight of the partner to minus the sum of all
 * others: p - 1 for a softmax with the partner as target, without the
 * cancellation that loses all digits if p is near 1.
 *   w        [rows]  a row of W
 *   partner  the partner's column
 */
void loss_partner_balance(size_t rows, size_t partner, float *w);

/* loss_log_add() returns log(exp(a) + exp(b)). */
double loss_log_add(double a, double b);

/*
 * loss_similarity_backward() computes the gradient of the first `moved` rows, n
 * or more, from a weight matrix; the rows after them are constants:
 *
 *     dv = (W + W') v,   W extended by zero rows to [rows,rows]
 *
 *   w   [moved,rows]; reads only the first n rows, then uses all as scratch.
 *       Fast if few weights of constants are not zero
 *   v   [rows,d]
 *   dv  [moved,d] out
 */
void loss_similarity_backward(size_t n, size_t moved, size_t rows, size_t d,
                              float *w, const float *v, float *dv);

/* loss_similarity_mirror() is its first half: it replaces w by W + W',
 * [moved,moved] in the first columns of [moved,rows]. */
void loss_similarity_mirror(size_t n, size_t moved, size_t rows, float *w);

/*
 * The share of false negatives, those of the anchor's group, in the weight of
 * all negatives: with W = dL/dS of a batch (loss/objective.h), over its anchors
 * r and negatives c, the rows of other samples,
 *
 *     same_group_weight / all
 *
 *     same_group_weight = sum of max(W_rc, 0) over c of the group of r
 *     all               = sum of max(W_rc, 0) over all c
 *
 * and for comparison same_group / negatives, the share with uniform weights,
 * where same_group counts the negatives of the anchor's group.
 */
struct loss_share {
    double same_group_weight, all;
    size_t same_group, negatives;
};

/*
 * loss_share_add() adds the sums of a batch to *share, which starts as zeros.
 *   n       anchors, the first of `rows` rows
 *   sample  [rows]  the sample of each row
 *   group   [rows]  the group of each row, such as its class; -1: none
 *   w       [n,columns]  columns >= rows; those after the rows, constants, do
 *                        not count
 * O(n rows) time.
 */
void loss_share_add(struct loss_share *share, size_t n, size_t rows,
                    size_t columns, const int64_t *sample, const int64_t *group,
                    const float *w);

#endif
