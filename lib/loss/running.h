#ifndef LIB_LOSS_RUNNING_H
#define LIB_LOSS_RUNNING_H

#include "loss/objective.h"
#include "loss/rows.h"

/*
 * The common parts of SogCLR and its variants: a running mean of an image's
 * denominators, in logarithms, and a temperature controlled by the divergence
 * of its negatives.
 */

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

/* loss_running_store() stores the mean of both views' u; one, two are their
 * logarithms. */
void loss_running_store(float *state, double one, double two);

/* The results of a row. */
struct loss_running_row {
    double log_u;  /* new */
    double weight; /* sum_c a_rc */
    double value;  /* sum_c a_rc s_rc - s_r,partner */
    double kl;     /* of its softmax from uniform */
    double slope;  /* G without rho; with OLD_MEAN by the old mean */
};

/* loss_running_row() is row r of loss/sogclr.h: S in, W out. */
struct loss_running_row loss_running_row(const struct loss_batch *batch,
                                         const struct loss_settings *set,
                                         size_t r, double tau,
                                         const float *state, float *row);

/* Sums over rows, for the report. */
struct running_sums {
    double value, weight, kl;
};

void loss_running_add(struct running_sums *sums,
                      const struct loss_running_row *row);
void loss_running_report(const struct loss_batch *batch,
                         const struct running_sums *sums,
                         struct loss_report *report);

/* Row r of an objective with temperatures: S in, W out.
 *   state  [b,RUNNING_ISOGCLR]  of the whole batch, with old temperatures
 */
typedef struct loss_running_row running_fn(const struct loss_batch *batch,
                                           const struct loss_settings *set,
                                           size_t r, const float *state,
                                           float *row);

/* loss_running_temperatures() is loss/isogclr.h with fn() for each row. */
void loss_running_temperatures(const struct loss_batch *batch,
                               const struct loss_settings *set, running_fn *fn,
                               float *state, float *s,
                               struct loss_report *report);

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

#define RUNNING_PARAMS                                                       \
    [TAU] = {PARAM_REAL("tau", 0.7, 1e-4, 1e4, "temperature"),               \
             .schedule = PARAM_LEARNT},                                      \
    RUNNING_PARAM_GAMMA(0.8),                                                \
    [RHO] = {PARAM_REAL(                                                     \
        "rho", 0.3, 0, 100,                                                  \
        "divergence from uniform that temperatures are adjusted to")},       \
    [ETA] = {PARAM_REAL("eta", 0.01, 0, 100,                                 \
                        "learning rate of the temperatures"),                \
             .schedule = PARAM_TO_END, .end = 1e-4},                         \
    [BETA_U] = {PARAM_REAL("beta-u", 0.9, 0, 1,                              \
                           "weight of the new gradient in their momentum")}, \
    [TAU_MIN] = {PARAM_REAL("tau-min", 0.05, 1e-4, 1e4,                      \
                            "smallest temperature")},                        \
    [TAU_MAX] = {PARAM_REAL("tau-max", 1, 1e-4, 1e4, "largest temperature")}

/* loss_running_check_gamma() is the check() of objectives with only a running
 * mean; it ignores b. */
int loss_running_check_gamma(const struct loss_settings *set, size_t b,
                             struct err *err);

/* loss_running_check() also checks temperatures, with softmaxes over the
 * columns of a mask; b = 0: unknown, or no rho. */
int loss_running_check(const struct loss_settings *set, size_t b,
                       enum loss_mask mask, struct err *err);

#endif
