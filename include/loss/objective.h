#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "loss/rows.h"
#include "util/err.h"
#include "util/param.h"
#include "util/value.h"

/*
 * Objectives: losses of the embeddings of a batch, with their gradients.
 *
 * b images have v views each: the n = v b rows of z are view-major, row r is
 * view r / b of image r mod b.  Its positives P_r are other rows of its image
 * (struct loss_views), of two views its partner, row (r + b) mod n; the rows of
 * all other images are its negatives.  mean_p is over P_r.  `extra` rows may
 * follow: images that are negatives only, not anchors.  With
 * v_r = z_r / |z_r| and S = V V', most objectives compute a value L and a
 * weight matrix
 *
 *     W_rc = dL/dS_rc        n anchors against rows = n + extra columns,
 *     dL/dV = (W + W') V,
 *
 * with the entries of S as independent variables (lib/algorithms.md 2).  Those
 * whose W follows from softmaxes of each row have row() and finish(), and no
 * part of S stays in memory; the others run(), from V to dL/dV, or direct(),
 * from z to dL/dz.
 * lib/README.md 5 says how to add an objective.
 */

/* The input of an objective; rows = n + extra. */
struct loss_batch {
    size_t b;             /* images, >= 2 */
    size_t v;             /* views of each; 0: two */
    size_t targets;       /* the first views, whose rows are positives of the
                             other views and of each other; 0: all v */
    size_t extra;         /* rows after the n anchors: negatives only */
    size_t constant;      /* the last `constant` of these have no gradient, such
                             as features from a bank */
    size_t dim;           /* d, numbers of a row */
    const float *weights; /* [n,rows] weight of each negative, from the
                             service; NULL if the objective needs none.  Rows
                             sum to 1, or less if some were dropped */
    const float *scale;   /* [n,2] factors of the positive and of the negative
                             terms of each anchor, from the service; NULL: 1 */
    float *aux;           /* [n,aux_columns] of z in, their gradient out; set by
                             loss_objective_run() */
    const int64_t *sample, *group; /* [rows - constant] for
                                      loss_share_add(); or NULL */
};

/* The settings of an objective. */
struct loss_settings {
    double value[PARAM_MOST]; /* of its parameters, in the order of its table;
                                 LOSS_TAU is the first of all */
    int reference; /* 1: as in the authors' code where it differs from the
                      paper; 0: the correct form */
};

/* The temperature is the first parameter of every objective; those that do not
 * use it have it for the InfoNCE in the report.  v is the default. */
enum { LOSS_TAU };
#define LOSS_PARAM_TAU(v)                                         \
    [LOSS_TAU] = {PARAM_REAL("tau", v, 1e-4, 1e4, "temperature"), \
                  .schedule = PARAM_INVERSE, .end = NAN}

/*
 * A parameter that the optimiser trains with the weights of the encoder: the
 * scalar x encodes the value y of the parameter,
 *
 *     y = exp(-x)   with `inverse`      y = x   otherwise,
 *
 * and is clipped to [min, max] after each step.
 */
struct loss_scalar {
    const char *name; /* of the tensor in a checkpoint */
    size_t param;     /* number of the parameter */
    size_t fixed;     /* number of the flag that fixes its value, or
                         LOSS_NEVER_FIXED */
    int inverse;
    double min, max; /* of x */
};

enum { LOSS_SCALARS = 2, LOSS_NEVER_FIXED = PARAM_MOST };

/* Statistics of a batch, computed with its loss. */
struct loss_report {
    double value;     /* L */
    double infonce;   /* L of simclr for the same batch: comparable between
                         objectives */
    double positive;  /* mean cosine of positives */
    double cosine;    /* mean cosine of two different anchors; 1: collapsed */
    double deviation; /* mean over dimensions of the deviation of v, times
                         sqrt d; 1: spread out, 0: collapsed */
    double slope[LOSS_SCALARS]; /* dL/dx of the objective's scalars */
    struct loss_share share;    /* with sample and group, unless the objective
                                   has direct() */
    struct values more;         /* of the objective */
};

/* An objective. */
struct loss_objective {
    const char *name, *summary;
    const struct param *params; /* its own: the temperature, then others */
    const char *head;           /* its projection head, as in struct nn_spec */
    const char *needs_weights;  /* method of the negatives service that computes
                                   its weights; NULL: it needs none */
    int needs_outside; /* 1: that method draws from outside of the batch, so
                          the service must also be the filter of items */
    int cross_weights_only; /* 1: weights on rows of the same view are refused
                             */
    int draws_inside;       /* 1: the trainer itself supports that method */
    double scale;       /* length of the gradient, relative to that of simclr
                           (lib/algorithms.md 2); 0: 1 */
    int scale_by_tau;   /* 1: times the temperature */
    const char *pairs;  /* why it takes no more than two views of an image, as
                           half a sentence; NULL: it takes any number */
    int by_encoder;     /* 1: the encoder computes the loss: no function here */
    size_t aux_columns; /* columns at the end of z that are not part of the
                           embedding; finish() replaces batch->aux by its
                           gradient */

    /* State of each sample for the whole run: one float in each of `columns`
     * columns, with names and initial values.  The caller owns the table, by
     * sample id. */
    size_t columns;
    const char *const *column;
    const float *initial;
    int sides; /* 1: view 0 and view 1 have separate columns, such as image and
                  text */

    /* Trained scalars, at most LOSS_SCALARS, then {0}; or NULL. */
    const struct loss_scalar *scalars;

    /* check() is called by loss_objective_check(); or NULL. */
    int (*check)(const struct loss_settings *set,
                 const struct loss_views *views, struct err *err);

    /*
     * An objective of row sums:
     *
     *     W_rc = scale_r p_rc - pull_r [c in P_r] / |P_r|,
     *
     * p_r the softmax of s_rc / tau_r over a mask.  If the mask has positives,
     * scale_r = pull_r.
     *
     * row() computes the term of an anchor; the sums of their values and slopes
     * are L and dL/dx of the first scalar.  Then finish(), or NULL, updates the
     * state and adds to the report.  Both see S by its sums only, so that a
     * device that has z can compute these (struct loss_sums).
     *   tau    the temperature of the row
     *   state  row(): [columns] of the row, old; finish(): [b,columns], with
     *          `sides` [2b,columns], old in, new out
     *   term   [n]
     */
    enum loss_mask mask[2]; /* in the correct form; with --compat reference */
    size_t softmaxes; /* of a row, at most 3: row() has all, finish() is as
                         with one; 0: one */
    double (*beta)(const struct loss_settings *set,
                   size_t k); /* of softmax k of all rows; NULL: 1 / tau */
    const char *weight, *kl; /* names of the means of these numbers of the terms
                                in the report; or NULL */
    size_t own_tau; /* column of the state with the row's temperature, 0 until
                       the first visit; 0: all are the parameter's */
    void (*temper)(const struct loss_batch *batch,
                   const struct loss_settings *set,
                   double *tau); /* returns those of all rows; or NULL */
    struct loss_term (*row)(const struct loss_batch *batch,
                            const struct loss_settings *set, double tau,
                            const float *state, const struct loss_row *q);
    void (*finish)(const struct loss_batch *batch,
                   const struct loss_settings *set,
                   const struct loss_term *term, float *state,
                   struct loss_report *report);

    /* add() adds terms of v [n,d] that are no row sums to value, report and dv;
     * or NULL. */
    void (*add)(const struct loss_batch *batch, const struct loss_settings *set,
                const float *v, float *dv, struct loss_report *report);

    /*
     * run() adds the gradient of rows of unit length to dv, and reports value,
     * `more` and share; NULL with row().
     *   state  old in, new out
     *   v      [rows,d]
     *   dv     [rows - constant,d]
     */
    void (*run)(const struct loss_batch *batch, const struct loss_settings *set,
                float *state, const float *v, float *dv,
                struct loss_report *report);

    /*
     * direct() computes dL/dz from z, of two views, if both are NULL, and
     * reports the same.
     *   z, dz  [n,d]  without extra rows; dz is overwritten
     *   work   [LOSS_DIRECT_SIZE()]
     */
    void (*direct)(const struct loss_batch *batch,
                   const struct loss_settings *set, const float *z, float *dz,
                   float *work, struct loss_report *report);
};

/* The scratch of a direct(), for two copies of z with their lengths, and two
 * products of dimensions. */
#define LOSS_DIRECT_SIZE(n, d) ((n) * (2 * (d) + 1) + 2 * (d) * ((d) + 1))

/* The table of all objectives, terminated by NULL. */
extern const struct loss_objective *const loss_objectives[];

/* loss_objective_find() returns the objective of a name; NULL with the list of
 * names in err. */
const struct loss_objective *loss_objective_find(const char *name,
                                                 struct err *err);

/* loss_settings_of() returns an objective's defaults. */
struct loss_settings loss_settings_of(const struct loss_objective *objective);

/* loss_views_of() returns the views of a batch. */
struct loss_views loss_views_of(const struct loss_batch *batch);

/*
 * loss_objective_check() returns 0, or -1 with the reason for settings that
 * cannot work.
 *   b, d  of the batches; 0: unknown, not checked
 *   v     views of each image
 */
int loss_objective_check(const struct loss_objective *objective,
                         const struct loss_settings *set, size_t b, size_t v,
                         size_t d, struct err *err);

/* loss_objective_scale() returns the length of the objective's gradient
 * relative to that of simclr, in expectation and for large batches. */
double loss_objective_scale(const struct loss_objective *objective,
                            const struct loss_settings *set);

/* loss_objective_states() returns the rows of state of a batch of b images: b,
 * or 2b with sides, view-major like embeddings. */
size_t loss_objective_states(const struct loss_objective *objective, size_t b);

/* loss_scalar_start() returns the x of the parameter's value in the settings;
 * loss_scalar_apply() sets the value by x; loss_scalar_is_trained() returns 0
 * if a flag in the settings fixes the scalar, else 1. */
double loss_scalar_start(const struct loss_scalar *scalar,
                         const struct loss_settings *set);
void loss_scalar_apply(const struct loss_scalar *scalar, double x,
                       struct loss_settings *set);
int loss_scalar_is_trained(const struct loss_scalar *scalar,
                           const struct loss_settings *set);

/* loss_objective_size() returns the floats of scratch for such a batch. */
size_t loss_objective_size(const struct loss_objective *objective,
                           const struct loss_batch *batch);

/*
 * loss_objective_weigh() computes the gradient of rows of unit length, and all
 * of the report but cosine and deviation, for an objective with row().
 *   v, dv  [n,d]  adds to dv
 *   work   as of loss_objective_run(), less (n + extra) (d + 1)
 */
void loss_objective_weigh(const struct loss_objective *objective,
                          const struct loss_settings *set,
                          const struct loss_batch *batch, const float *v,
                          float *state, float *dv, float *work,
                          struct loss_report *report);

/* What a device computes of an anchor r of an objective of row sums. */
struct loss_sums {
    double log_z, mean; /* of p_r, as in struct loss_row */
    double score;       /* of the partner */
    double log_all;    /* log sum_{c != r} exp(s_rc / tau), tau the parameter */
    double same;       /* sum of p_rc over other samples of the group of r */
    double same_count; /* their number in the batch, of any view */
};

/* loss_objective_takes_sums() returns 1 if loss_objective_sums() is for it: it
 * has row(), with one softmax, and no other term. */
int loss_objective_takes_sums(const struct loss_objective *objective);

/* loss_objective_temperatures() returns the temperature of each anchor in tau
 * [n]; it sets those of samples without one in the state. */
void loss_objective_temperatures(const struct loss_objective *objective,
                                 const struct loss_settings *set,
                                 const struct loss_batch *batch, float *state,
                                 double *tau);

/*
 * loss_objective_sums() does what loss_objective_run() does, from the sums of a
 * device, of two views: it equals that but for rounding.
 *   v            [n,d]  rows of unit length, for the report
 *   tau          [n]  those of loss_objective_temperatures()
 *   sums         [n]  same and same_count are read with batch->group only
 *   state        old in, new out
 *   coefficient  [n,2]  out: scale_r and pull_r, with which the device computes
 *                W
 * O(n d) time.
 */
void loss_objective_sums(const struct loss_objective *objective,
                         const struct loss_settings *set,
                         const struct loss_batch *batch, const float *v,
                         const double *tau, const struct loss_sums *sums,
                         float *state, float *coefficient,
                         struct loss_report *report);

/*
 * loss_objective_run() computes loss and gradient of raw embeddings; for an
 * objective without direct() it normalises the rows, and the gradient includes
 * that.
 *   z      [rows,d]
 *   dz     [rows - constant,d]  overwritten with dL/dz
 *   state  [loss_objective_states(), columns]  old in, new out; NULL without
 *          columns
 *   work   [loss_objective_size()]
 * If z is not finite, the value is not finite.  O(n rows d) time.
 */
void loss_objective_run(const struct loss_objective *objective,
                        const struct loss_settings *set,
                        const struct loss_batch *batch, const float *z,
                        float *state, float *dz, float *work,
                        struct loss_report *report);
