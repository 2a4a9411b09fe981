#ifndef EVAL_SHARE_H
#define EVAL_SHARE_H

#include "eval/frozen.h"

/*
 * How much of the weight that an objective puts on negatives falls on the
 * anchor's own group, false negatives: with W = dL/dS of a batch
 * (loss/objective.h), over its anchors r and negatives c,
 *
 *     own / all,    own = sum of max(W_rc, 0) over c of the group of r,
 *                   all = sum of max(W_rc, 0) over all c,
 *
 * and kin / negatives, the share of the group among the negatives that the
 * batch shows: what uniform weights would have.
 */
struct eval_share {
    double own, all;
    size_t kin, negatives;
};

/* eval_share_add() adds a batch.  Constants, features that are no row of the
 * batch, do not count.
 *   w  [2b,columns]  of eval_frozen_pull() */
void eval_share_add(struct eval_share *share, const struct eval_views *views,
                    const struct eval_batch *batch, const float *w);

#endif
