#ifndef FOIL_TRAIN_OPTIONS_H
#define FOIL_TRAIN_OPTIONS_H

#include "loss/objective.h"
#include "nn/optim.h"
#include "stage/stage.h"
#include "util/json.h"
#include "util/opt.h"

/* How a parameter moves with the epoch (util/param.h); NULL: it does not. */
struct train_schedule {
    const char *schedule;
    double end;
};

struct train_options {
    /* what decides the result, and is remembered */
    const char *encoder; /* the command of its program; NULL: it is ours */
    const char *objective, *arch, *head, *mean, *deviation;
    const char *basis, *rows;
    const char *text, *vocabulary; /* text: NULL, there are only images */
    const char *schedule, *proposals;
    struct loss_settings loss;                        /* of the objective */
    struct train_schedule param_schedule[PARAM_MOST]; /* of its parameters */
    struct nn_optim_spec optimiser;                   /* but its name */
    double lr, lr_end, warmup, average;
    long context, embed;
    long moves, burn;
    long width, hidden, micro, shards, seed, threads;
    long keep_features;
    int quick_gelu, bf16, direct, whole, lars_b;
    enum { TRAIN_NORM_BATCH, TRAIN_NORM_GROUP, TRAIN_NORM_NONE } norm;
    enum { TRAIN_LOCK_NONE, TRAIN_LOCK_IMAGE, TRAIN_LOCK_TEXT } lock;
    enum { TRAIN_STEM_AUTO, TRAIN_STEM_SMALL, TRAIN_STEM_IMAGENET } stem;
    enum { TRAIN_SGD, TRAIN_ADAM, TRAIN_ADAMW, TRAIN_LARS } optim;
    enum { TRAIN_SERVICE, TRAIN_OWN } sampler; /* what weighs negatives */
    int scores, outside; /* of own chains: enum sample_scores; 1: the bank */

    /* what does not */
    int chosen; /* bf16 was, for this processor: --precision auto */
    struct stage_options stage;
    const char *batches, *negatives, *events, *features;
    int nonfinite; /* an enum of train/learner.h */
    int in_batch;  /* --policy: 1, not to wait for the service */
    long steps, every, keep, window;
    const char *labels;
    long max_batch; /* MiB */
    long max_state; /* GiB */
    double deadline;
    double limit; /* seconds that an answer of the program may take */
    int resume, dry;
    int lost; /* with a program that fails: 0 end, 1 resume */
    int list; /* -1: nothing is listed */
    struct opt_list override, init;
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

#endif
