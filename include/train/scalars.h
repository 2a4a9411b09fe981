#ifndef TRAIN_SCALARS_H
#define TRAIN_SCALARS_H

#include "loss/objective.h"
#include "nn/optim.h"
#include "train/part.h"
#include "util/err.h"

/*
 * The scalars of an objective in training (struct loss_scalar): numbers such as
 * log(1/tau) that the optimiser moves with the weights of the encoder, by the
 * same rule and rate, without weight decay.  Those that a flag keeps fixed are
 * not among them.  Not for two threads at once.
 */
struct train_scalars {
    size_t n;
    const struct loss_scalar *of[LOSS_SCALARS];
    size_t slope[LOSS_SCALARS]; /* index of its slope in struct loss_report */
    float x[LOSS_SCALARS];
    struct nn_tensor tensor[LOSS_SCALARS];
    struct nn_optim *optim; /* NULL: there are none */
};

/*
 * train_scalars_open() begins with the values of the settings; -1 where the
 * optimiser makes no sense, with nothing to close.
 */
int train_scalars_open(struct train_scalars *scalars,
                       const struct loss_objective *objective,
                       const struct loss_settings *settings,
                       const struct nn_optim_spec *optim, struct err *err);
void train_scalars_close(struct train_scalars *scalars);

/* train_scalars_apply() writes into settings the parameters that the scalars
 * stand for, such as tau. */
void train_scalars_apply(const struct train_scalars *scalars,
                         struct loss_settings *settings);

/* train_scalars_finite() returns 1 when all their slopes are finite. */
int train_scalars_finite(const struct train_scalars *scalars,
                         const struct loss_report *report);

/* train_scalars_update() takes the optimiser's step along the slopes, and keeps
 * each scalar within its bounds. */
void train_scalars_update(struct train_scalars *scalars,
                          const struct loss_report *report, double rate);

/*
 * train_scalars_part() returns them as a part of a checkpoint: the file
 * objective.safetensors, with each scalar under its name, f32 of rank 0, and
 * its moments behind it as NAME.MOMENT.  There is no file where there are none.
 */
struct train_part train_scalars_part(struct train_scalars *scalars);

#endif
