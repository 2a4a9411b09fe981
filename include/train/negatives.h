#ifndef TRAIN_NEGATIVES_H
#define TRAIN_NEGATIVES_H

#include "sample/source.h"
#include "train/samples.h"
#include "util/err.h"

/*
 * The source of weights of negatives, for objectives that want them
 * (loss/objective.h): a service, or chains in this process.  A learner asks
 * once in each step.  The state that a sampler wants kept of the steps that
 * were applied is in train_samples: a sampler gets it back when it is new, or
 * when a step that it weighed was not applied.
 */
struct train_negatives {
    void *self; /* first argument of each */

    /*
     * draw() answers which samples from outside of the batch shall be encoded
     * with it, before it is; they last until weigh().  NULL: none, but for
     * those that the batch brings.
     */
    int (*draw)(void *self, const struct sample_step *step,
                struct sample_extras *extras, struct err *err);

    /*
     * weigh() answers: 1 with weights that last until the next call, and whose
     * tables the store of train_samples can keep; 0 when asked to stop
     * meanwhile, -1 on error.
     *   alone  1: there was no service, and the weights are of the batch
     *          alone, without numbers for the journal
     */
    int (*weigh)(void *self, const struct sample_step *step,
                 struct sample_weights *weights, int *alone, struct err *err);

    /* refused() follows when the step was not applied. */
    void (*refused)(void *self);
};

/*
 * Chains in this process: the sampler of EMC2 without its service.  The same as
 * a service with the same seed and --horizon 1, to the bit.
 */
struct train_inside {
    struct sample_source source;
    struct train_samples *samples; /* with what was kept */
    int brings;                    /* it draws from outside of the batch */
    int behind;                    /* the source has to be given it first */
};

/* train_inside_init() begins with the tables that were kept, which may have
 * been loaded.
 *   samples  must stay
 *   how      its horizon is 1, whatever it says
 *   brings   1: the samples that the source draws come along, which only an
 *            encoder that looks samples up by their ids can take; 0: none do */
void train_inside_init(struct train_inside *inside,
                       struct train_samples *samples,
                       const struct sample_how *how, int brings);
void train_inside_release(struct train_inside *inside);

/* train_inside_negatives() returns it as a learner knows it. */
struct train_negatives train_inside_negatives(struct train_inside *inside);

#endif
