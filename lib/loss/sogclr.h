#pragma once

#include "objectives.h"

/* What SogCLR and its variants share: a running mean of denominators, in
 * logarithms, and temperatures that follow the divergence of the negatives. */

/* The columns of the state, those of SogCLR first. */
enum {
    RUNNING_LOG_U,
    RUNNING_SEEN,
    RUNNING_SOGCLR,
    RUNNING_MOMENTUM = RUNNING_SOGCLR,
    RUNNING_TAU,
    RUNNING_ISOGCLR
};

extern const char *const loss_running_column[RUNNING_ISOGCLR];
extern const float loss_running_initial[RUNNING_ISOGCLR];

/*
 * loss_running_mean() returns log( (1 - gamma) u + gamma g ); at the first
 * visit gamma is 1, or with set->reference u is 0.
 *   state  of the image
 */
double loss_running_mean(const struct loss_settings *set, const float *state,
                         double log_g);

/* loss_running_temperatures_report() adds mean, least, largest and quartiles of
 * the temperatures:  state [n,RUNNING_ISOGCLR]. */
void loss_running_temperatures_report(size_t n, const float *state,
                                      struct loss_report *report);

/* The parameters of SogCLR, then those of the objectives with temperatures. */
enum { TAU = LOSS_TAU, GAMMA, RHO, ETA, BETA_U, TAU_MIN, TAU_MAX, OLD_MEAN };

#define RUNNING_PARAM_GAMMA(v)                                          \
    [GAMMA] = {PARAM_REAL("gamma", v, 0, 1,                             \
                          "weight of the new value in a running mean"), \
               .schedule = PARAM_FROM_ONE}

/* loss_running_check_gamma() is the check() of objectives with only a running
 * mean; it ignores views. */
int loss_running_check_gamma(const struct loss_settings *set,
                             const struct loss_views *views, struct err *err);

/* loss_running_check() also checks temperatures, with softmaxes over the
 * columns of a mask; views->b = 0: unknown, or no rho. */
int loss_running_check(const struct loss_settings *set,
                       const struct loss_views *views, enum loss_mask mask,
                       struct err *err);
