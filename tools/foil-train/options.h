#pragma once

#include "image/view.h"
#include "stage/stage.h"
#include "train/config.h"
#include "train/learner.h"

/* The schedule of a parameter by epoch (util/param.h); NULL: constant. */
struct train_schedule {
    const char *schedule;
    double end;
};

struct train_options {
    /* options that decide the result, stored in checkpoints */
    const char *encoder; /* command of its program; NULL: foil computes it */
    const char *objective, *arch, *head, *mean, *deviation;
    const char *basis, *rows;
    const char *text, *vocabulary; /* text: NULL: there are only images */
    const char *schedule, *proposals;
    struct loss_settings loss;                        /* of the objective */
    struct train_schedule param_schedule[PARAM_MOST]; /* of its parameters */
    struct nn_optim_spec optimiser;                   /* without its name */
    double lr, lr_end, warmup, average;
    long context, embed;
    long moves, burn;
    long width, hidden, feature_size, micro, shards, seed, threads;
    long keep_features, targets;
    int quick_gelu, bf16, direct, whole, lars_b;
    enum { TRAIN_NORM_BATCH, TRAIN_NORM_GROUP, TRAIN_NORM_NONE } norm;
    enum { TRAIN_FREEZE_NONE, TRAIN_FREEZE_IMAGE, TRAIN_FREEZE_TEXT } freeze;
    enum { TRAIN_STEM_AUTO, TRAIN_STEM_SMALL, TRAIN_STEM_IMAGENET } stem;
    enum { TRAIN_SGD, TRAIN_ADAM, TRAIN_ADAMW, TRAIN_LARS, TRAIN_MUON } optim;
    enum { TRAIN_SERVICE, TRAIN_OWN } sampler; /* what weighs negatives */
    int scores, outside; /* of the trainer's chains: enum sample_scores; 1: the
                            bank */

    /* options that do not */
    int chosen; /* 1: --precision auto has chosen f32 or bf16 */
    struct stage_options stage;
    const char *batches, *negatives, *events, *features;
    int nonfinite; /* an enum of train/learner.h */
    int in_batch;  /* --policy: 1: do not wait for the service */
    long steps, every, every_epochs, keep, window;
    const char *labels;
    long max_batch; /* MiB */
    long max_state; /* GiB */
    double deadline;
    double limit; /* seconds for an answer of the program */
    int resume, dry;
    int lost; /* after a failure of the program: 0 end, 1 resume */
    int list; /* -1: list nothing */
    struct opt_list override, init;
};

/* train_options_get() parses the command line; it prints and exits. */
struct train_options *train_options_get(int argc, char **argv);

/* train_options_put() returns the options to store, as an object. */
json_t *train_options_put(void);

/*
 * train_options_take() compares with the options of a checkpoint.  An option
 * that is not on the command line takes the stored value; one with another
 * value is refused, unless --override names it.  The object must outlive the
 * options.
 */
int train_options_take(const json_t *saved, struct err *err);

/* train_overridden() returns 1 if --override names the key. */
int train_overridden(const char *key);

/*
 * spec.c: train_spec() sets the net of images, or with `texts` that of texts,
 * with pointers to the options' texts; train_encoder_spec() all of that
 * encoder, for batches of that shape.  train_has_captions() returns 1 if texts
 * are captions, 0 if there are none or if they are rows of numbers.
 */
int train_has_captions(const struct train_options *options);
int train_spec(const struct train_options *options,
               const struct train_shape *shape, int texts, struct nn_spec *spec,
               struct err *err);
int train_encoder_spec(const struct train_options *options,
                       const struct train_shape *shape, int texts,
                       struct train_encoder_spec *spec, struct err *err);

/* train_stem_varies() returns 1 if --arch stem=auto would choose the small stem
 * for some of these sizes of images and the stem imagenet for others. */
int train_stem_varies(const struct train_options *options,
                      const struct image_sizes *sizes);

/* train_schedules_check() sets the schedules, or returns -1 with an error
 * message; schedules may be NULL. */
int train_schedules_check(const struct train_options *options,
                          struct train_schedules *schedules, struct err *err);

/* train_sample_settings() sets the sampler of the trainer's chains; -1 if the
 * objective has no such proposals.  train_draws_outside() returns 1 if the
 * states of these chains are encoded with a batch, which needs an encoder of
 * ids. */
int train_sample_settings(const struct train_options *options,
                          const struct loss_objective *objective,
                          struct sample_settings *settings, struct err *err);
int train_draws_outside(const struct train_options *options);

/* train_bf16_faster() returns 1 if a run is known to be faster in bf16 here. */
int train_bf16_faster(const struct train_options *options);

/* train_check() returns -1 with an error message if options are wrong. */
int train_check(const struct train_options *options, struct err *err);
