#ifndef TRAIN_NEGATIVES_H
#define TRAIN_NEGATIVES_H

#include "sample/source.h"
#include "train/samples.h"
#include "util/err.h"

/*
 * The source of weights of negatives, for objectives that want them
 * (loss/objective.h): a service, or chains in this process.  A learner asks
 * once in each step.  train_samples keeps the sampler's state after the steps
 * that were applied: a sampler gets it back when it was started again, or when
 * a step that it weighed was not applied.
 */
struct train_negatives {
    void *self; /* first argument of each */

    /*
     * draw() is asked before the batch is encoded which samples from outside
     * are to be encoded with it; its arrays last until weigh().  0 or -1.
     * NULL: only those that the batch brings.
     */
    int (*draw)(void *self, const struct batch *step,
                struct batch_extra *extras, struct err *err);

    /*
     * weigh() answers: 1 with weights that last until the next call, and whose
     * tables the store of train_samples can keep; 0 when asked to stop
     * meanwhile, -1 on error.
     *   without_service  1: there was no service: the weights are of the batch
     *                    alone, without numbers for the journal
     */
    int (*weigh)(void *self, const struct batch *step, struct weights *weights,
                 int *without_service, struct err *err);

    /* refused() follows when the step was not applied. */
    void (*refused)(void *self);
};

/*
 * Chains in this process: the sampler of EMC2 without its service.  The same as
 * a service with the same seed and horizon=1, to the bit.
 */
struct train_local_sampler {
    struct sample_source source;
    struct train_samples *samples; /* with what was kept */
    int draws_outside;             /* 1: it draws from outside of the batch */
    int behind;                    /* 1: source has to load what was kept */
};

/*
 * train_local_sampler_init() begins with the sampler's tables in
 * samples->store, such as were loaded from a checkpoint.
 *   samples  must stay
 *   how      copied; a horizon counts as 1
 *   draws_outside  1: the samples that the source draws come along, which only
 * an encoder that looks samples up by their ids can take; 0: none do
 */
void train_local_sampler_init(struct train_local_sampler *sampler,
                              struct train_samples *samples,
                              const struct sample_settings *how,
                              int draws_outside);
void train_local_sampler_release(struct train_local_sampler *sampler);

/* train_local_sampler_negatives() returns it as the functions that a learner
 * calls; `sampler` must stay. */
struct train_negatives
train_local_sampler_negatives(struct train_local_sampler *sampler);

#endif
