#pragma once

#include "loss/objective.h"
#include "nn/optim.h"
#include "train/checkpoints.h"
#include "util/err.h"

/*
 * The scalars of an objective in training (struct loss_scalar): numbers such as
 * log(1/tau) that the optimiser updates with the encoder's weights, by the same
 * rule and rate, without weight decay.  Scalars that a flag fixes are not
 * included.  Not for two threads at once.
 */
struct train_scalars {
    size_t n;
    const struct loss_scalar *of[LOSS_SCALARS];
    size_t slope[LOSS_SCALARS]; /* index of its slope in struct loss_report */
    float x[LOSS_SCALARS];
    struct nn_tensor tensor[LOSS_SCALARS];
    struct nn_optim *optim; /* NULL: there are none */
};

/* train_scalars_open() starts with the values of the settings; it returns -1,
 * with nothing to close, if the optimiser's settings are invalid. */
int train_scalars_open(struct train_scalars *scalars,
                       const struct loss_objective *objective,
                       const struct loss_settings *settings,
                       const struct nn_optim_spec *optim, struct err *err);
void train_scalars_close(struct train_scalars *scalars);

/* train_scalars_apply() writes the parameters that follow from the scalars,
 * such as tau, into settings. */
void train_scalars_apply(const struct train_scalars *scalars,
                         struct loss_settings *settings);

/* train_scalars_finite() returns 1 if all slopes are finite. */
int train_scalars_finite(const struct train_scalars *scalars,
                         const struct loss_report *report);

/* train_scalars_update() takes the optimiser's step along the slopes and clamps
 * each scalar to its bounds. */
void train_scalars_update(struct train_scalars *scalars,
                          const struct loss_report *report, double rate);

/* train_scalars_part() returns the scalars as a part of a checkpoint: the file
 * objective.safetensors, with each scalar by name, f32 of rank 0, followed by
 * its moments as NAME.MOMENT.  Without scalars there is no file. */
struct train_part train_scalars_part(struct train_scalars *scalars);
