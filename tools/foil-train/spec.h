#ifndef FOIL_TRAIN_SPEC_H
#define FOIL_TRAIN_SPEC_H

#include "options.h"
#include "train/config.h"
#include "train/learner.h"

/* Options as settings of encoder, optimiser and schedules. */

/* train_spec() sets the net of images, with pointers to the options' texts;
 * train_text_spec() the net of texts, for a vocabulary of that size.
 * train_encoder_spec() and train_text_encoder_spec() set all of an encoder for
 * batches of that shape. */
int train_spec(const struct train_options *options,
               const struct train_shape *shape, struct nn_spec *spec,
               struct err *err);
int train_text_spec(const struct train_options *options, size_t vocabulary,
                    struct nn_spec *spec, struct err *err);
int train_encoder_spec(const struct train_options *options,
                       const struct train_shape *shape,
                       struct train_encoder_spec *spec, struct err *err);
int train_text_encoder_spec(const struct train_options *options,
                            const struct train_shape *shape, size_t vocabulary,
                            struct train_encoder_spec *spec, struct err *err);

/* train_schedules_check() sets the schedules, or returns -1 with an error
 * message; schedules may be NULL.  train_warmup_check() refuses a warm-up
 * longer than the run. */
int train_schedules_check(const struct train_options *options,
                          struct train_schedules *schedules, struct err *err);
int train_warmup_check(const struct train_options *options, double epochs,
                       struct err *err);

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

#endif
