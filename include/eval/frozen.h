#pragma once

#include "eval/views.h"
#include "loss/objective.h"
#include "sample/source.h"
#include "select/plan.h"

/*
 * Training on fixed rows: the batches of a plan, the negatives of a sampler and
 * the gradient of an objective, as in a trainer with a fixed encoder, with the
 * state of objective and sampler.
 *
 * A batch has two views of each of its images; of more than two views, two
 * different ones at random in each epoch.
 */
struct eval_frozen_settings {
    const struct loss_objective *objective;
    struct loss_settings settings;
    const struct sample_settings *sampler; /* read only if the objective needs
                                         weights; a copy of it adds images from
                                         outside of the batch, with horizon 1 */
    const struct select_strategy *strategy;
    double plan[PARAM_MOST]; /* the strategy's parameters; its features are the
                                rows of views 0 and 1 */
    size_t batch;            /* images, >= 2 */
    uint64_t seed;           /* of plan, views and sampler */
};

struct eval_frozen;

/*
 * eval_frozen_new() begins with the initial state.
 *   views  with two or more views; not copied, must stay valid
 * NULL with a message for an objective that needs more than rows, or invalid
 * settings.  Memory: the state of objective and sampler, and some batches.
 */
struct eval_frozen *eval_frozen_new(const struct eval_views *views,
                                    const struct eval_frozen_settings *how,
                                    struct err *err);
void eval_frozen_free(struct eval_frozen *frozen);

/* eval_frozen_move() replaces the rows by others of the same samples, views and
 * width, such as those of a later checkpoint; objective and sampler keep their
 * state.  Arguments as above. */
void eval_frozen_move(struct eval_frozen *frozen,
                      const struct eval_views *views);

/* eval_frozen_steps() returns the number of batches of an epoch. */
size_t eval_frozen_steps(const struct eval_frozen *frozen);

/* A batch, valid until the next one. */
struct eval_batch {
    size_t b, rows;     /* images; rows with a gradient: 2b anchors, then those
                           of the sampler */
    size_t columns;     /* rows, followed by constants without gradient */
    const int64_t *ids; /* [b] */
    const size_t *row;  /* [rows] index of each row in the views */
    struct weights weights;           /* of a sampler */
    const struct sample_state *state; /* [2b] of the anchors' chains after
                                         weighing; NULL: there are none */
};

/*
 * eval_frozen_next() makes the batch of a step, and the sampler weighs its
 * negatives.  Epochs < 2^32; call it once for each step, in the order of the
 * plan, since chains move.  Returns 0, or -1 with a message if the sampler
 * refuses it.
 */
int eval_frozen_next(struct eval_frozen *frozen, uint64_t epoch, uint64_t step,
                     struct eval_batch *batch, struct err *err);

/* eval_frozen_gradient() returns dL/dz [rows,d] of the batch, valid until the
 * next one, and updates the objective's state: call it once a batch. */
const float *eval_frozen_gradient(struct eval_frozen *frozen);

/*
 * eval_frozen_share() is called instead of eval_frozen_gradient(): it returns
 * the share of false negatives in the batch (loss/rows.h), and also updates the
 * state.  group [samples] of each sample, -1: none.  -1 if the objective has
 * direct(), so no share.
 */
int eval_frozen_share(struct eval_frozen *frozen, const int64_t *group,
                      struct loss_share *share);
