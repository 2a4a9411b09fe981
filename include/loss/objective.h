#ifndef LOSS_OBJECTIVE_H
#define LOSS_OBJECTIVE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "loss/share.h"
#include "util/err.h"
#include "util/param.h"
#include "util/value.h"

/*
 * Objectives: losses of the embeddings of a batch, with their gradients.
 *
 * b images have two views each: the n = 2b rows of z are view-major, row r is
 * view r / b of image r mod b, and its partner is row (r + b) mod n.  `extra`
 * further rows may follow: images that are no anchors, only negatives.
 * With v_r = z_r / |z_r| and S = V V', most objectives are a value L and a
 * weight matrix
 *
 *     W_rc = dL/dS_rc        n anchors against rows = n + extra columns,
 *     dL/dV = (W + W') V,
 *
 * entries of S taken as independent (lib/algorithms.md 2): they have a function
 * run() that turns S into W.  The others have direct(), from z to dL/dz.  To
 * add an objective, write a file that describes it and put its name into the
 * table in lib/loss/objective.c.
 */

/* The batch that an objective is computed on; rows = n + extra. */
struct loss_batch {
    size_t b;             /* images, >= 2 */
    size_t extra;         /* rows after the 2b anchors: negatives only */
    size_t constant;      /* how many of these, the last ones, want no gradient,
                             such as features that a bank has kept */
    size_t dim;           /* d, numbers of a row */
    const float *weights; /* [n,rows] weight of each negative, from the
                             service; NULL if the objective wants none.  Rows
                             sum to 1, or less where some were dropped */
    const float *scale;   /* [n,2] factors of the positive and of the negative
                             terms of each anchor, from the service; NULL: 1 */
    const float *s;       /* [n,rows] S where it was computed with the
                             weights, for an objective without auxiliary
                             columns; NULL: it is computed here */
    float *w;             /* [rows,rows] out: W + W' in place of dz, of which
                             the caller makes dV = (W + W') V; only without
                             constants and for an objective with run().
                             NULL: dz is made here */
    const int64_t *sample, *group; /* [rows - constant] of loss/share.h, for
                                      the share of false negatives; NULL: it is
                                      not wanted */
};

/* The settings of an objective. */
struct loss_settings {
    double value[PARAM_MOST]; /* of its parameters, in the order of its table;
                                 LOSS_TAU is the first of all */
    int reference; /* 1: as in the program that the authors published, where it
                      differs from the paper; 0: the correct form */
};

/* The temperature, which every objective has as its first parameter; one that
 * does not use it has it for the InfoNCE in the report.  v is the default. */
enum { LOSS_TAU };
#define LOSS_PARAM_TAU(v)                                         \
    [LOSS_TAU] = {PARAM_REAL("tau", v, 1e-4, 1e4, "temperature"), \
                  .schedule = PARAM_INVERSE, .end = NAN}
#define LOSS_PARAM_TAU_LEARNT(v)                                  \
    [LOSS_TAU] = {PARAM_REAL("tau", v, 1e-4, 1e4, "temperature"), \
                  .schedule = PARAM_LEARNT}

/*
 * A parameter that the optimiser moves with the weights of the encoder: the
 * scalar x stands for the value y of the parameter,
 *
 *     y = exp(-x)   where inverse      y = x   otherwise,
 *
 * and is kept within [min, max] after each step.
 */
struct loss_scalar {
    const char *name; /* of the tensor in a checkpoint */
    size_t param;     /* the number of the parameter that it stands for */
    size_t fixed;     /* the number of the flag that keeps it as it is, or
                         LOSS_NEVER_FIXED */
    int inverse;
    double min, max; /* of x */
};

enum { LOSS_SCALARS = 2, LOSS_NEVER_FIXED = PARAM_MOST };

/* log(1/tau), from 0 to log 100. */
#define LOSS_SCALAR_TAU(flag)                                  \
    {                                                          \
        "logit_scale", LOSS_TAU, flag, 1, 0, 4.605170185988092 \
    }

/* What is known of a batch when its loss was computed. */
struct loss_report {
    double value;     /* L */
    double infonce;   /* InfoNCE of the same batch, loss/simclr.h: the number
                         that can be compared between objectives */
    double positive;  /* mean cosine of partners */
    double cosine;    /* mean cosine of two different anchors; 1: collapsed */
    double deviation; /* mean over dimensions of the deviation of v, times
                         sqrt d; 1: spread out, 0: collapsed */
    double slope[LOSS_SCALARS]; /* dL/dx of the objective's scalars */
    struct loss_share share;    /* if sample and group are given and there is a
                                   W */
    struct values more;         /* those of the objective */
};

/* An objective. */
struct loss_objective {
    const char *name, *summary;
    const struct param *params; /* its own: the temperature, then others */
    const char *head;           /* its projection head, as in struct nn_spec */
    const char *wants_weights;  /* the method by which the negatives service has
                                   to make weights; NULL: none are wanted */
    int wants_outside;  /* that method draws from outside of the batch, so the
                           service has to be the filter of items, too */
    int wants_cross;    /* weights on rows of the own view are refused */
    int draws_inside;   /* the trainer can draw by that method itself */
    int by_encoder;     /* the encoder computes the loss: there is neither run()
                           nor direct() */
    size_t aux_columns; /* columns at the end of z that are not of the
                           embedding: direct() interprets them */

    /* State of each sample that lives as long as the run: one float in each of
     * `columns` columns, with their names and initial values.  The caller keeps
     * the table, by sample id. */
    size_t columns;
    const char *const *column;
    const float *initial;
    int sides; /* 1: view 0 and view 1 have columns each, as image and text */

    /* The scalars that the optimiser moves, at most LOSS_SCALARS, then {0}; or
     * NULL. */
    const struct loss_scalar *scalars;

    /* check() refuses settings that cannot work, as loss_objective_check(); or
     * NULL. */
    int (*check)(const struct loss_settings *set, size_t b, struct err *err);

    /*
     * run() turns S into W and reports value and `more`.
     *   state  [b,columns]  old state of the batch's images in, new out;
     *          [2b,columns] with `sides`: of each row
     *   s      [n + 1,rows] S in, W out; the last row is scratch
     */
    void (*run)(const struct loss_batch *batch, const struct loss_settings *set,
                float *state, float *s, struct loss_report *report);

    /*
     * direct() takes z to dL/dz where run is NULL, and reports the same.
     *   z, dz  [n,d]  no further rows; dz is overwritten
     *   work   [direct_size(batch)]
     */
    void (*direct)(const struct loss_batch *batch,
                   const struct loss_settings *set, const float *z, float *dz,
                   float *work, struct loss_report *report);
    size_t (*direct_size)(const struct loss_batch *batch);
};

/* The table of all objectives, ended by NULL. */
extern const struct loss_objective *const loss_objectives[];

/* loss_objective_find() returns the objective of a name; NULL with the list of
 * names. */
const struct loss_objective *loss_objective_find(const char *name,
                                                 struct err *err);

/* loss_settings_of() returns an objective's defaults. */
struct loss_settings loss_settings_of(const struct loss_objective *objective);

/*
 * loss_objective_check() returns 0, or -1 with the reason where settings cannot
 * work.
 *   b, d  of the batches, 0: not known yet, so not checked
 */
int loss_objective_check(const struct loss_objective *objective,
                         const struct loss_settings *set, size_t b, size_t d,
                         struct err *err);

/* loss_objective_states() returns how many rows of state a batch of b images
 * has: b, or 2b with sides, view-major as embeddings are. */
size_t loss_objective_states(const struct loss_objective *objective, size_t b);

/*
 * loss_scalar_start() returns the x of the parameter's value in the settings;
 * loss_scalar_apply() writes the value of an x into them; loss_scalar_moves()
 * returns 0 where a flag of them keeps the scalar as it is, else 1.
 */
double loss_scalar_start(const struct loss_scalar *scalar,
                         const struct loss_settings *set);
void loss_scalar_apply(const struct loss_scalar *scalar, double x,
                       struct loss_settings *set);
int loss_scalar_moves(const struct loss_scalar *scalar,
                      const struct loss_settings *set);

/* loss_objective_size() returns the floats of scratch for such a batch. */
size_t loss_objective_size(const struct loss_objective *objective,
                           const struct loss_batch *batch);

/*
 * loss_objective_run() computes loss and gradient of raw embeddings; for an
 * objective with run() it normalises the rows, and takes the gradient back
 * through that.
 *   z      [rows,d]
 *   dz     [rows - constant,d]  overwritten with dL/dz, unless batch->w is
 *          there
 *   state  [loss_objective_states(), columns]  old in, new out; NULL without
 *          columns
 *   work   [loss_objective_size()]
 * A z that is not finite gives a value that is not finite, nothing worse.
 * O(n rows d) time.
 */
void loss_objective_run(const struct loss_objective *objective,
                        const struct loss_settings *set,
                        const struct loss_batch *batch, const float *z,
                        float *state, float *dz, float *work,
                        struct loss_report *report);

#endif
