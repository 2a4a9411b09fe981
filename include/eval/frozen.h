#ifndef EVAL_FROZEN_H
#define EVAL_FROZEN_H

#include "eval/views.h"
#include "loss/objective.h"
#include "sample/source.h"
#include "select/plan.h"

/*
 * Training on rows that do not change: the batches of a plan, the negatives of
 * a sampler and the gradient of an objective, as a trainer would have them if
 * its encoder stayed as it is, with what objective and sampler remember of
 * samples.
 *
 * A batch has two views of each of its images: with two views these, with more
 * two different ones of them, drawn anew in each epoch.
 */
struct eval_frozen_how {
    const struct loss_objective *objective;
    struct loss_settings settings;
    const struct sample_how *sampler; /* where the objective wants weights,
                                         else not read; copied, and made to add
                                         images from outside of the batch, with
                                         horizon 1 */
    const struct select_strategy *strategy;
    double plan[PARAM_MOST]; /* of the strategy's parameters; its features are
                                the rows of views 0 and 1 */
    size_t batch;            /* images, >= 2 */
    uint64_t seed;           /* of plan, views and sampler */
};

struct eval_frozen;

/*
 * eval_frozen_new() begins with nothing remembered.
 *   views  with two or more views; kept, not copied
 *   z      [n,d] the rows before they were made of unit length; kept likewise
 * NULL with a sentence for an objective that needs more than rows, or settings
 * that cannot work.
 * Memory: what objective and sampler remember, and some batches.
 */
struct eval_frozen *eval_frozen_new(const struct eval_views *views,
                                    const float *z,
                                    const struct eval_frozen_how *how,
                                    struct err *err);
void eval_frozen_free(struct eval_frozen *frozen);

/* eval_frozen_steps() returns how many batches an epoch has. */
size_t eval_frozen_steps(const struct eval_frozen *frozen);

/* A batch, which lasts until the next one. */
struct eval_batch {
    size_t b, rows;     /* images; rows with a gradient: 2b anchors, then those
                           that the sampler added */
    size_t columns;     /* rows, and constants behind them, without gradient */
    const int64_t *ids; /* [b] */
    const size_t *row;  /* [rows] which row of the views each is */
    struct weights weights; /* of a sampler */
};

/*
 * eval_frozen_next() makes the batch of a step, and the sampler weighs its
 * negatives.  Epochs < 2^32; each step once, in the order of the plan, since
 * chains move.  Returns 0, or -1 with a sentence where the sampler refuses it.
 */
int eval_frozen_next(struct eval_frozen *frozen, uint64_t epoch, uint64_t step,
                     struct eval_batch *batch, struct err *err);

/*
 * eval_frozen_gradient() returns dL/dz [rows,d] of the batch, lent until the
 * next one, and updates the objective's state: call it once a batch.
 */
const float *eval_frozen_gradient(struct eval_frozen *frozen);

/*
 * eval_frozen_pull() is called in place of eval_frozen_gradient(): it returns
 * W [2b,columns], dL/dS of the batch (loss/objective.h), lent, and updates the
 * state as well.  NULL where the objective is no function of S.
 */
const float *eval_frozen_pull(struct eval_frozen *frozen);

/* eval_frozen_states() returns the states of the chains of the batch's anchors
 * after it was weighed, [2b], lent; NULL where the sampler has no chains. */
const struct sample_state *eval_frozen_states(const struct eval_frozen *frozen);

#endif
