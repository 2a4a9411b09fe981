#pragma once

#include "sample/source.h"
#include "train/samples.h"
#include "util/err.h"

/*
 * The source of weights of negatives, for objectives that need them
 * (loss/objective.h): a service, or chains in this process.  A learner calls it
 * once in each step.  train_samples stores the sampler's state after each
 * applied step; a sampler loads it after a restart, or after a step that was
 * weighed but not applied.
 */
struct train_negatives {
    void *self; /* first argument of each */

    /*
     * draw(), called before a batch is encoded, returns the samples from
     * outside to encode with it; its arrays are valid until weigh().  Returns 0
     * or -1. NULL: only the batch's own extra samples.
     */
    int (*draw)(void *self, const struct batch *step,
                struct batch_extra *extras, struct err *err);

    /*
     * weigh() returns 1 with weights that are valid until the next call, with
     * tables for the store of train_samples; 0 if the wait was stopped, -1 on
     * error.
     *   without_service  1: there was no service: the weights cover only the
     *                    batch, without numbers for the journal
     */
    int (*weigh)(void *self, const struct batch *step, struct weights *weights,
                 int *without_service, struct err *err);

    /* undo() is called if the step was not applied. */
    void (*undo)(void *self);
};

/* Chains in this process: the sampler of EMC2 without its service.  The same as
 * a service with the same seed and horizon=1, to the bit. */
struct train_local_sampler {
    struct sample_source source;
    struct train_samples *samples; /* with the stored state */
    int draws_outside;             /* 1: it draws from outside the batch */
    int needs_load;                /* 1: source must load the stored state */
};

/*
 * train_local_sampler_init() starts with the sampler's tables in
 * samples->store, for example from a checkpoint.
 *   samples  must outlive the sampler
 *   how      copied; the horizon is set to 1
 *   draws_outside  1: the samples that the source draws are encoded with the
 *                  batch, by an encoder that looks samples up by id; 0: not
 */
void train_local_sampler_init(struct train_local_sampler *sampler,
                              struct train_samples *samples,
                              const struct sample_settings *how,
                              int draws_outside);
void train_local_sampler_release(struct train_local_sampler *sampler);

/* train_local_sampler_negatives() returns the sampler as the functions that a
 * learner calls; `sampler` must outlive them. */
struct train_negatives
train_local_sampler_negatives(struct train_local_sampler *sampler);
