#ifndef LOSS_SHARE_H
#define LOSS_SHARE_H

#include <stddef.h>
#include <stdint.h>

/*
 * How much of the weight that an objective puts on negatives falls on the
 * anchor's own group, false negatives: with W = dL/dS of a batch
 * (loss/objective.h), over its anchors r and negatives c, the rows of other
 * samples,
 *
 *     own / all,    own = sum of max(W_rc, 0) over c of the group of r,
 *                   all = sum of max(W_rc, 0) over all c,
 *
 * and kin / negatives, the share of the group among the negatives that the
 * batch shows: what uniform weights would have.
 */
struct loss_share {
    double own, all;
    size_t kin, negatives;
};

/*
 * loss_share_add() adds a batch: n anchors, the first of `rows` rows.
 *   sample  [rows]  which sample each row is of
 *   group   [rows]  equal numbers >= 0 belong together, such as those of a
 *                   class; -1: alone
 *   w       [n,columns]  columns >= rows; those behind the rows, constants, do
 *                        not count
 * O(n rows) time.
 */
void loss_share_add(struct loss_share *share, size_t n, size_t rows,
                    size_t columns, const int64_t *sample, const int64_t *group,
                    const float *w);

#endif
