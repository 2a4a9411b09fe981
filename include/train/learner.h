#pragma once

#include "loss/objective.h"
#include "nn/schedule.h"
#include "train/config.h"
#include "train/encoder.h"
#include "train/negatives.h"
#include "train/samples.h"
#include "train/scalars.h"
#include "util/batch.h"
#include "util/param.h"
#include "util/value.h"

/*
 * One step of training: a batch in, its outcome out.
 *
 *     z   = encoder(views, extra)            raw embeddings
 *     W   = negatives(z / |z|)               if the objective needs weights
 *     L   = objective(z, W, columns of the samples)
 *     g   = dL/dparams
 *     update params, columns and samplers if all of this is finite
 *
 * One encoder encodes all rows.  With two, encoder k encodes view k of each
 * sample, as for image and text; their embeddings must have the same width, and
 * the second encodes extra samples.  If the negatives weigh rows from outside
 * of the batch, these follow as constants.
 *
 * For an objective of train/process.h the first encoder computes the loss.
 *
 * A learner uses no file and no socket and prints nothing; the functions of
 * train_negatives may.  Not for two threads at once.
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
    TRAIN_FAILED,      /* no weights came, or an encoder failed: see err */
    TRAIN_INTERRUPTED, /* the wait for weights was stopped; nothing changed */
    TRAIN_APPLIED,     /* weights, columns and samplers are updated */
    TRAIN_SKIPPED,     /* not finite: nothing has changed; continue with the
                          next batch */
    TRAIN_ROLLBACK,    /* the same, but the caller must roll back to the last
                          checkpoint first */
    TRAIN_STOPPED      /* not finite, and the run must end; or this was the
                          TRAIN_MAX_NONFINITE-th in a row */
};
enum { TRAIN_MAX_NONFINITE = 16 };

struct train_result {
    enum train_outcome outcome;
    const char *reason;      /* why it was not applied; or NULL */
    struct loss_report loss; /* of an applied step */
    struct values values;    /* of an applied step: loss, numbers of the
                                      objective, gradient, rate, tau and other
                                      scheduled parameters, numbers of the
                                      negatives */
    double seconds;          /* of the step */
};

/* The schedules by epoch of the learning rate and of each parameter of the
 * objective; for a PARAM_INVERSE parameter with a wave schedule, that of its
 * inverse. */
struct train_schedules {
    struct nn_schedule rate, value[PARAM_MOST];
};

/* The caller owns what the pointers point to; it must outlive the learner. */
struct train_learner_spec {
    const struct loss_objective *objective;
    const struct loss_settings *settings; /* of the objective, at the start */
    struct train_schedules schedules;
    struct train_encoder *encoder[TRAIN_ENCODERS]; /* the second may be NULL */
    size_t table_views;   /* rows of a sample in an encoder of ids; else 0 */
    size_t images, extra; /* largest numbers in a batch */
    size_t views;         /* of each image; 0: two, as of two encoders */
    size_t targets;       /* as in struct loss_batch */
    struct train_samples *samples;           /* with their columns */
    struct train_scalars *scalars;           /* of the objective; or NULL */
    struct train_state *state;               /* advanced by steps */
    const struct train_negatives *negatives; /* NULL: weights are not needed */
    const int64_t *group; /* [size of the data set] as in loss/rows.h, for the
                             share of false negatives; NULL: not reported */
    enum train_nonfinite nonfinite;
    double average; /* 0 .. 1: weights are averaged in this last share of the
                       epochs */

    /* Called in each step while or before the encoders compute gradients, so
     * that the caller can call train_learner_prefetch().  Or NULL. */
    void (*prefetch)(void *tool);
    /* Called with the weights of a step, which are valid during the call.  Or
     * NULL. */
    void (*on_weights)(void *tool, const struct batch *batch,
                       const struct weights *weights);
    void *tool;
};

/* Read only. */
struct train_learner {
    struct train_learner_spec spec;
    struct loss_settings settings; /* at the last step */
    size_t dim;
    float *z, *v;   /* [rows,dim] of the last batch, raw and of unit length: the
                       views, the extra rows, then in z the rows from
                       outside that the negatives passed */
    size_t outside; /* largest number of rows from outside */
    float *dz, *columns, *work;
    uint8_t *pixels;
    int32_t *table_rows;     /* of a batch, in an encoder of ids */
    int64_t *sample, *group; /* [rows] of a batch, if groups are known */
    double *tau;             /* [2b] of the anchors of a batch */
    struct batch next;   /* that of the last train_learner_prefetch(), or b 0 */
    int early;           /* 1: the encoder updates before its norm is known */
    int by_sums;         /* 1: the encoders compute row sums of this batch */
    int encoder_has_dz;  /* 1: the encoder computes dz itself */
    int nonfinite_steps; /* steps in a row that were not applied */
};

/*
 * train_learner_open() allocates memory for the largest batch.  It returns -1
 * with an error message, with nothing to close, if objective and encoders do
 * not fit together.  Memory: for n rows about n n + 4 n dim floats, and a copy
 * of the images if batches may have extra ones.
 */
int train_learner_open(struct train_learner *learner,
                       const struct train_learner_spec *spec, struct err *err);
void train_learner_close(struct train_learner *learner);

/*
 * train_learner_step() takes a step; err is set for TRAIN_FAILED only. The
 * state advances to the next place, except after TRAIN_FAILED,
 * TRAIN_INTERRUPTED and TRAIN_STOPPED.  Two forward passes, if micro-batched,
 * and one backward of the encoders; O(n n dim) for the objective.
 */
enum train_outcome train_learner_step(struct train_learner *learner,
                                      const struct batch *batch,
                                      struct train_result *result,
                                      struct err *err);

/* train_learner_prefetch(), called in `prefetch`, announces the batch that
 * probably comes next; if it comes, its arrays must be valid until its step has
 * ended. */
void train_learner_prefetch(struct train_learner *learner,
                            const struct batch *batch);

/* train_learner_encode() encodes a batch into z and v without training and
 * advances the state.  Returns 1 if all of z is finite, 0 if not, -1 if an
 * encoder failed. */
int train_learner_encode(struct train_learner *learner,
                         const struct batch *batch, struct err *err);
