#ifndef TRAIN_LEARNER_H
#define TRAIN_LEARNER_H

#include "loss/objective.h"
#include "nn/schedule.h"
#include "train/encoder.h"
#include "train/negatives.h"
#include "train/samples.h"
#include "train/scalars.h"
#include "train/state.h"
#include "util/batch.h"
#include "util/param.h"
#include "util/value.h"

/*
 * One step of training: a batch in, its outcome out.
 *
 *     z   = encoder(views, extra)            raw embeddings
 *     W   = negatives(z / |z|)               where the objective wants weights
 *     L   = objective(z, W, columns of the samples)
 *     g   = dL/dparams
 *     params, columns, samplers move, if all of it is finite
 *
 * With one encoder all rows go through it.  With two, view k of each sample
 * goes through encoder k, as image and text do; their embeddings must be
 * equally wide, and further samples are texts.  Where the negatives weigh rows
 * that are not of the batch, these follow as constants.
 *
 * With an objective of train/own.h the first encoder computes the loss.
 *
 * A learner uses no file and no socket and prints nothing; the functions that
 * it asks for weights may.  Not for two threads at once.
 */
enum { TRAIN_ENCODERS = 2 };

/* The action on a step that is not finite. */
enum train_nonfinite {
    TRAIN_ON_NONFINITE_STOP,
    TRAIN_ON_NONFINITE_SKIP,
    TRAIN_ON_NONFINITE_ROLLBACK
};

/* The outcome of a step. */
enum train_outcome {
    TRAIN_FAILED,      /* no weights came, or an encoder could not go on: the
                          sentence says why */
    TRAIN_INTERRUPTED, /* the wait for weights was stopped; nothing has
                          changed */
    TRAIN_APPLIED,     /* weights, columns and samplers have moved */
    TRAIN_SKIPPED,     /* not finite: nothing has moved, the next may come */
    TRAIN_ROLLBACK,    /* the same, but the caller is to go back to the weights
                          of the last checkpoint first */
    TRAIN_STOPPED      /* not finite, and the run is to end; or this was the
                          TRAIN_LOST_STEPS-th in a row */
};
enum { TRAIN_LOST_STEPS = 16 };

struct train_result {
    enum train_outcome outcome;
    const char *reason;      /* why it was not applied; or NULL */
    struct loss_report loss; /* of an applied step */
    struct values values;    /* of an applied step: loss, numbers of the
                                      objective, gradient, rate, tau and other
                                      scheduled parameters, numbers of the
                                      negatives */
    double seconds;          /* that the step took */
};

/* The schedules of the learning rate and of each parameter of the objective by
 * the epoch; where a PARAM_INVERSE parameter moves as a wave, that of its
 * inverse. */
struct train_pace {
    struct nn_schedule rate, value[PARAM_MOST];
};

/* All that is pointed to is the caller's and must stay. */
struct train_learner_spec {
    const struct loss_objective *objective;
    const struct loss_settings *settings; /* of the objective, as begun with */
    struct train_pace pace;
    struct train_encoder *encoder[TRAIN_ENCODERS]; /* the second may be NULL */
    size_t table_views;   /* rows of a sample in an encoder of ids; else 0 */
    size_t images, extra; /* at most, in a batch; extra: images or texts */
    struct train_samples *samples;           /* with their columns */
    struct train_scalars *scalars;           /* of the objective; or NULL */
    struct train_state *state;               /* which steps move on */
    const struct train_negatives *negatives; /* NULL: no weights are wanted */
    const int64_t *group; /* [size of the data set] as in loss/share.h, for the
                             share of false negatives; NULL: not wanted */
    enum train_nonfinite nonfinite;
    double average; /* 0 .. 1: weights count for their mean in this last share
                       of the epochs */

    /* Called in each step, while the encoders work at their gradients or just
     * before: the time to call train_learner_expect().  Or NULL. */
    void (*meanwhile)(void *tool);
    void *tool;
};

/* Read only. */
struct train_learner {
    struct train_learner_spec spec;
    struct loss_settings settings; /* in force at the last step */
    size_t dim;
    float *z, *v;   /* [rows,dim] of the last batch, raw and of unit length: the
                       2 n views, the extra rows, then in z rows that negatives
                       brought from outside */
    size_t outside; /* such rows, at most */
    float *dz, *columns, *work;
    uint8_t *pixels;
    int32_t *table_rows;     /* of a batch, in an encoder of ids */
    int64_t *sample, *group; /* [rows] of a batch, where groups are known */
    const float *s; /* S of a batch whose products the encoder makes, and */
    float *w;       /* where it takes W + W' from; or NULL */
    int elsewhere;  /* dz is made where the embeddings are */
    int refused;    /* steps in a row that were not applied */
};

/*
 * train_learner_open() makes room for the largest batch.  -1 with a sentence,
 * with nothing to close, where objective and encoders do not go together.
 * Memory: for n rows about n n + 4 n dim floats, and a copy of the images if
 * extra ones may come.
 */
int train_learner_open(struct train_learner *learner,
                       const struct train_learner_spec *spec, struct err *err);
void train_learner_close(struct train_learner *learner);

/*
 * train_learner_step() takes a step; err is filled in for TRAIN_FAILED alone.
 * The state moves on to the next place, except after TRAIN_FAILED,
 * TRAIN_INTERRUPTED and TRAIN_STOPPED.  Two forward passes, if micro-batched,
 * and one backward of the encoders; O(n n dim) for the objective.
 */
enum train_outcome train_learner_step(struct train_learner *learner,
                                      const struct batch *batch,
                                      struct train_result *result,
                                      struct err *err);

/* train_learner_expect(), called in `meanwhile`, says which batch will probably
 * come next; its arrays must stay until its own step is over, if it comes. */
void train_learner_expect(struct train_learner *learner,
                          const struct batch *batch);

/* train_learner_encode() encodes a batch into z and v, trains nothing and moves
 * the state on.  Returns 1 when all of z is finite, 0 when it is not, -1 where
 * an encoder failed. */
int train_learner_encode(struct train_learner *learner,
                         const struct batch *batch, struct err *err);

#endif
