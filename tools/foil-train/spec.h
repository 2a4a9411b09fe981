#ifndef FOIL_TRAIN_SPEC_H
#define FOIL_TRAIN_SPEC_H

#include "options.h"
#include "train/config.h"
#include "train/learner.h"

/* What the options make of encoder, optimiser and schedules. */

/* train_spec() says what the net is to be, in the options' texts;
 * train_text_spec() what that of texts, with so many tokens.
 * train_encoder_spec() and train_text_encoder_spec() are all of an encoder, for
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

/* train_pace_check() makes the schedules, or says what is wrong with them;
 * pace may be NULL.  train_pace_fits() refuses a warm-up that is longer than a
 * run of so many epochs. */
int train_pace_check(const struct train_options *options,
                     struct train_pace *pace, struct err *err);
int train_pace_fits(const struct train_options *options, double epochs,
                    struct err *err);

/* train_sample_settings() says what own chains are to do; -1 where the objective has
 * no such proposals.  train_brings() returns 1 where their states come along,
 * which takes an encoder of ids. */
int train_sample_settings(const struct train_options *options,
                     const struct loss_objective *objective,
                     struct sample_settings *how, struct err *err);
int train_brings(const struct train_options *options);

/* train_gains_bf16() says whether a run is known to be faster in bf16 here. */
int train_gains_bf16(const struct train_options *options);

/* train_check() says what is wrong with the options. */
int train_check(const struct train_options *options, struct err *err);

#endif
