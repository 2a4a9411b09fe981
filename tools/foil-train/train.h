#ifndef FOIL_TRAIN_H
#define FOIL_TRAIN_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "flow/inlet.h"
#include "sample/source.h"
#include "train/config.h"
#include "train/encoder.h"
#include "train/history.h"
#include "train/journal.h"
#include "train/snapshot.h"
#include "util/err.h"
#include "util/json.h"
#include "util/opt.h"
#include "wire/batch.h"
#include "wire/feed.h"
#include "wire/pairs.h"
#include "wire/plan.h"
#include "wire/service.h"
#include "wire/state.h"
#include "wire/weights.h"

/*
 * The parts of foil-train, one file each:
 *
 *   options.c    the command line, and what of it a checkpoint remembers
 *   source.c     batches from augmenters, in the order of the plan
 *   pace.c       schedules of what moves with the epoch
 *   net.c        encoder and learner for the batches that come
 *   batch.c      what the library is to know of a batch
 *   step.c       one step, and what is done about what became of it
 *   negatives.c  weights from the negatives service
 *   features.c   features of past epochs, for selectors that ask
 *   save.c       what checkpoints are made of
 *   report.c     what the journal tells, printed and published
 *   tell.c       what there is, and what a run would need, without training
 */

/* How a parameter moves with the epoch (util/param.h); NULL: it does not. */
struct train_course {
    const char *schedule;
    double end;
};

struct train_options {
    /* what decides the result, and is remembered */
    const char *objective, *arch, *stem, *norm, *head, *mean, *deviation;
    const char *basis, *rows;
    const char *precision, *conv, *optim, *lars, *schedule, *compat, *sampler;
    struct loss_settings loss;              /* of the objective */
    struct train_course course[PARAM_MOST]; /* of its parameters */
    double lr, lr_end, momentum, weight_decay, warmup;
    long width, hidden, micro, accumulate, seed, threads, keep_features;
    int nesterov;

    /* what does not */
    const char *run, *batches, *negatives, *events, *features, *keys, *allow;
    const char *nonfinite, *policy;
    long steps, every, keep, credit;
    double deadline;
    int resume, dry;
    const char *list;
    struct opt_list override;
};

/* train_options_get() parses the command line; it prints and exits. */
struct train_options *train_options_get(int argc, char **argv);

/* train_options_put() returns what has to be remembered, as an object. */
json_t *train_options_put(void);

/*
 * train_options_take() compares with what a checkpoint remembers: an option
 * that was not given takes its value, one that was given with another is
 * refused, unless --override names it.  The object must stay.
 */
int train_options_take(const json_t *saved, struct err *err);

/* train_overridden() returns 1 when --override names the key. */
int train_overridden(const char *key);

struct train_features {
    struct wire_server *server;
    struct train_history history; /* empty until the encoder is there */
    size_t most;                  /* rows of an answer */
    int64_t *ids;
    float *z;
    uint16_t *half;           /* of z */
    struct wire_plan plan[2]; /* that a selector told of, epoch e at e % 2: this
                                 one's and the next one's; id 0: none */
};

/* Where batches come from. */
struct train_source {
    struct flow_inlet *inlet;
    size_t largest;       /* bytes of a batch, so far */
    double waiting, said; /* since when; when it was said last */
    double over;          /* since when all say that nothing is left; or 0 */
};

struct train {
    struct train_options *options;
    json_t *config; /* of the checkpoint that was resumed; options point here */
    const struct loss_objective *objective;
    struct train_pace pace;
    struct train_shape shape;
    struct train_state state;
    int64_t session;
    struct train_samples samples;

    struct train_encoder encoder;
    struct train_negatives negatives;
    struct train_learner learner;
    float *basis; /* [shape.basis + 1,basis_width], until the net has it */
    size_t basis_width;

    struct wire *wire;
    struct train_source source;
    struct train_features features;
    struct wire_service *service;
    struct wire_weights answer;     /* the last of the service */
    const struct wire_batch *batch; /* at hand */
    float *in_batch;                /* weights of a batch without the service */
    size_t in_batch_room;
    struct train_inside inside; /* instead, with --sampler */
    int service_behind;         /* it has to be given our mirror first */
    char service_met[64];       /* whom we have given it to, or asked since */
    double service_again;       /* --policy in-batch: not asked before then */
    struct wire_feed *feed;
    int stop;

    struct train_journal journal;
    struct train_snapshot snapshot;
    int trained; /* since we started: at least one step */
};

/* batch.c: the first step that is not done, as messages say it. */
struct wire_place train_at(const struct train *t);

/* source.c: 1 with the next batch of the plan, 0 at its end or when asked to
 * stop, -1 when it is given up. */
int train_source_open(struct train *t, struct err *err);
int train_source_next(struct train *t, struct wire_batch *batch,
                      struct err *err);
void train_source_done(struct train *t);
void train_source_close(struct train *t);

/*
 * features.c: all of it does nothing without --keep-features, but publish.
 * train_features_room() makes room once the encoder is there.
 * train_features_take() publishes and keeps the rows t->v of a batch that was
 * good; train_features_serve() answers what was asked meanwhile.
 * train_features_plan() returns 1 with what a selector said of an epoch.
 */
int train_features_open(struct train *t, struct err *err);
void train_features_room(struct train *t);
void train_features_take(struct train *t, const struct train_batch *b,
                         int good);
void train_features_serve(struct train *t);
int train_features_plan(const struct train *t, int64_t epoch,
                        struct train_plan *plan);
void train_features_close(struct train *t);

/*
 * net.c: train_is_table(): no image is looked at.  train_check() says what is
 * wrong with the options, train_spec() what the encoder is to be, in the
 * options' texts.  train_basis() reads --basis, for a run that begins.
 * train_net_open() makes the encoder, with fresh weights, once the shape is
 * known; train_rows() then reads those that --rows has for a table.
 */
int train_is_table(const struct train_options *options);
int train_check(const struct train_options *options, struct err *err);
int train_spec(const struct train_options *options,
               const struct train_shape *shape, struct nn_spec *spec,
               struct err *err);
int train_basis(struct train *t, struct err *err);
int train_net_open(struct train *t, struct err *err);
int train_rows(struct train *t, struct err *err);
void train_net_close(struct train *t);

/*
 * pace.c: train_pace_check() makes the schedules of the options, or says what
 * is wrong with them; pace may be NULL.
 * train_prepare() makes all of t that follows from the options alone.
 * train_pace_fits() refuses a warm-up that is longer than the run that the
 * first batch tells of.
 */
int train_prepare(struct train *t, struct err *err);
int train_pace_check(const struct train_options *options,
                     struct train_pace *pace, struct err *err);
int train_pace_fits(const struct train *t, const struct wire_batch *batch,
                    struct err *err);

/* batch.c: what the library is to know of a batch; lent. */
void train_batch_of(const struct wire_batch *from, struct train_batch *batch);

/* step.c: train_step() trains a batch, or only encodes it, and reports it.
 * Returns 1 when that is over, 0 when asked to stop within it. */
int train_step(struct train *t, const struct wire_batch *batch,
               struct err *err);

/*
 * negatives.c: train_negatives_of() is who the options say weighs negatives:
 * the service, or chains inside.  train_negatives_open() connects to the
 * service if that is not done yet.  train_negatives_meet() hands the mirror to
 * a service that was started again and asks for nothing yet, since a filter
 * lets no item pass without: 0, or -1 when it refuses.
 */
struct train_negatives train_negatives_of(struct train *t);
int train_negatives_open(struct train *t, struct err *err);
int train_negatives_meet(struct train *t, struct err *err);
void train_negatives_close(struct train *t);

/* save.c: what checkpoints are made of.  train_save_open() lists it.
 * train_tidy() says what cannot be done.  train_resume() prepares everything
 * from a checkpoint, too. */
void train_save_open(struct train *t);
void train_tidy(struct train *t);
int train_save(struct train *t, struct err *err);
int train_resume(struct train *t, const char *folder, struct err *err);

/*
 * tell.c: train_tell_list() prints all objectives, a line of JSON each.
 * train_tell_needs() says whether the run of the options can begin, or go on,
 * without a trace of its own: -1 with what is in the way.  It prints what the
 * run needs and where it is, as a line of JSON.
 */
void train_tell_list(void);
int train_tell_needs(struct train *t, struct err *err);

/* report.c: what the journal tells, printed and published.
 * train_report_init() lets sentences be said. */
void train_report_init(struct train *t);
int train_report_open(struct train *t, struct err *err);
void train_report_step(struct train *t, const struct train_batch *batch,
                       const struct train_result *result);
void train_report_event(struct train *t, const char *what, const char *path,
                        const char *reason);
void train_report_say(struct train *t, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
