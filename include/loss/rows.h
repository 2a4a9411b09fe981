#ifndef LOSS_ROWS_H
#define LOSS_ROWS_H

#include <stddef.h>

/*
 * What objectives on a similarity matrix share.  Rows as in loss/objective.h:
 * n = 2b anchors, view-major, against `rows` columns of which the first n are
 * the anchors themselves.
 */

/* The columns of the batch that a row does not meet. */
enum loss_mask {
    LOSS_SELF,  /* itself: 2b - 1 remain, the partner among them */
    LOSS_FAMILY /* itself and its partner: 2b - 2 remain */
};

/* loss_partner() returns the row of the other view of the same image. */
size_t loss_partner(size_t b, size_t row);

/*
 * loss_partition() takes each row's softmax over the anchors that the mask
 * leaves:
 *
 *     log_z_r = log sum_c exp(beta s_rc),   p_rc = exp(beta s_rc - log_z_r)
 *
 *   s      [n,rows]
 *   p      [n,rows] or NULL; 0 in masked and further columns.  May be s.
 * Returns sum_r (log_z_r - beta s_r,partner).  The largest score is taken out
 * first, so any beta > 0 is fine.
 */
double loss_partition(size_t b, size_t rows, double beta, enum loss_mask mask,
                      const float *s, float *p);

/*
 * loss_spread() takes a weight matrix to the gradient on the rows:
 *
 *     dv = (W + W') v,   W extended by zero rows to [rows,rows]
 *
 *   w      [n,rows]
 *   v, dv  [rows,d]
 *   work   [rows,rows]
 */
void loss_spread(size_t n, size_t rows, size_t d, const float *w,
                 const float *v, float *dv, float *work);

#endif
