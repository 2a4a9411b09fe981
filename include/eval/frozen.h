#ifndef EVAL_FROZEN_H
#define EVAL_FROZEN_H

#include "eval/views.h"
#include "loss/objective.h"
#include "sample/source.h"
#include "select/plan.h"

/*
 * Training on rows that do not change: the batches of a plan, the negatives of
 * a sampler and the gradient of an objective, as a trainer would have them at
 * this encoder, with all that objective and sampler remember of samples.
 *
 * A batch has two views of each of its images: with two views these, with more
 * two different ones of them, drawn anew in each epoch.
 */
struct eval_frozen_how {
    const struct loss_objective *objective;
    struct loss_settings settings;
    const struct sample_how *sampler; /* where the objective wants weights; it
                                         brings samples from outside along, and
                                         looks a step back */
    const struct select_strategy *strategy;
    double plan[PARAM_MOST]; /* of the strategy's parameters; its features are
                                the rows of views 0 and 1 */
    size_t batch;            /* images, >= 2 */
    uint64_t seed;           /* of plan, views and sampler */
};

struct eval_frozen;

/*
 * eval_frozen_new() begins with nothing remembered.
 *   views  two or more views; stays
 *   z      [n,d] the rows before they were made of unit length; stays
 * NULL with a sentence: an objective that needs more than rows, or settings
 * that cannot work.
 * Memory: what objective and sampler keep, and some batches.
 */
struct eval_frozen *eval_frozen_new(const struct eval_views *views,
                                    const float *z,
                                    const struct eval_frozen_how *how,
                                    struct err *err);
void eval_frozen_free(struct eval_frozen *frozen);

/* eval_frozen_steps() returns how many batches an epoch has. */
size_t eval_frozen_steps(const struct eval_frozen *frozen);

/* A batch, until the next one. */
struct eval_batch {
    size_t b, rows;     /* images; anchors 2b and the rows after them that a
                           gradient is wanted for */
    size_t columns;     /* rows, and constants behind them */
    const int64_t *ids; /* [b] */
    const size_t *row;  /* [rows] of the views */
    struct sample_weights weights; /* of a sampler */
};

/*
 * eval_frozen_next() makes the batch of a step and has it weighed.  Epochs
 * < 2^32; each step once, in the order of the plan, since chains move.  -1 with
 * a sentence where the sampler refuses it.
 */
int eval_frozen_next(struct eval_frozen *frozen, uint64_t epoch, uint64_t step,
                     struct eval_batch *batch, struct err *err);

/*
 * eval_frozen_gradient() returns dL/dz [rows,d] of the batch, lent until the
 * next one, and moves the objective's state: once a batch.
 */
const float *eval_frozen_gradient(struct eval_frozen *frozen);

/*
 * eval_frozen_pull() returns W [2b,columns], dL/dS of the batch, lent, and
 * moves the state likewise, in place of eval_frozen_gradient().  NULL where the
 * objective is no function of S.
 */
const float *eval_frozen_pull(struct eval_frozen *frozen);

/* eval_frozen_states() returns where the chains of the batch's rows stand after
 * it was weighed, [2b], lent; NULL where the sampler has none. */
const struct sample_state *eval_frozen_states(const struct eval_frozen *frozen);

#endif
