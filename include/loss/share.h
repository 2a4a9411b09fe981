#ifndef LOSS_SHARE_H
#define LOSS_SHARE_H

#include <stddef.h>
#include <stdint.h>

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
