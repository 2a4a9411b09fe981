#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * An objective with its state of each sample, for a program with its own
 * training loop: embeddings in, the loss and its gradient out.
 *
 *     struct train_objective *loss =
 *         train_objective_open("isogclr", "{\"rho\": 0.3}", n, 0, &err);
 *
 *     for each batch:
 *         train_objective_step(loss, &batch, dz, &value, &err);
 *         ... backpropagate dz through the encoder ...
 *     train_objective_save(loss, folder, &err);
 *
 * It has all objectives of lib/algorithms.md (loss/objective.h).  Those that
 * need weights of negatives get them from the caller.
 *
 * For wrong values a function returns an error and a message; it ends
 * the process only if memory runs out.  Pointers must point to the arrays that
 * are described here.  So ctypes, cffi and foreign interfaces of other
 * languages can call it with only the structs of this header.  A handle is for
 * one thread at a time; handles are independent of each other.
 */
struct train_objective;

/*
 * train_objective_open() starts with the objective's initial state.
 *   name      as foil-train --objective, such as "sogclr"
 *   params    a JSON object of its parameters, {"tau": 0.2, "kl": true}, a
 *             choice by its name; NULL or "": all defaults
 *   n         samples, whose ids are 0 .. n - 1; may be 0 if the objective has
 *             no state of samples
 *   captions  largest number of captions of a sample if view 1 is a caption; 0:
 *             view 1 is a view of the sample
 * Returns NULL with an error message for an unknown objective or parameter, a
 * value out of range or a missing n.  Memory: a float for each sample and
 * column.
 */
struct train_objective *train_objective_open(const char *name,
                                             const char *params, size_t n,
                                             size_t captions, struct err *err);
void train_objective_close(struct train_objective *objective);

/* A batch of b samples, rows view-major: row r is view r / b of sample r mod b,
 * then `extra` rows that are only negatives. */
struct train_objective_batch {
    size_t b;           /* samples, >= 2 */
    size_t extra;       /* more rows; some objectives take none */
    size_t constant;    /* that many of them, the last ones, need no gradient */
    size_t dim;         /* d, numbers of a row */
    const int64_t *ids; /* [b] all different, 0 .. n - 1; may be NULL if
                         * there is no state of samples */
    const int32_t *captions; /* [b] which caption view 1 is; NULL without */
    const float *z;          /* [v b + extra,d] raw embeddings */
    const float *weights;    /* [2b,2b + extra] of negatives, or NULL */
    const float *scale;      /* [2b,2] of anchors, or NULL */
    int look;                /* 1: compute only, do not update the state */
    size_t views;            /* of each sample, v; 0: two */
    size_t positive_views;   /* only the first so many are positives of the
                              * others, 2 .. v; 0: all */
};

/*
 * train_objective_step() computes the loss and its gradient, and updates the
 * state of the batch's samples.
 *   dz     [v b + extra - constant,d]  overwritten
 *   value  the loss
 * Returns 0; 1 if loss, gradient or state is not finite: the state is
 * unchanged, do not use dz; -1 with an error message about the batch.  O(b (b +
 * extra) d) time; scratch of about (2b)(2b + extra) floats is reused by the
 * next step.
 */
int train_objective_step(struct train_objective *objective,
                         const struct train_objective_batch *batch, float *dz,
                         double *value, struct err *err);

/*
 * train_objective_set() sets a parameter, as a schedule does between steps, or
 * a learnt scalar, by its name ("logit_scale", lib/algorithms.md).  A scalar is
 * clamped to its bounds.  Returns -1 if the name is unknown or the value is out
 * of range.
 */
int train_objective_set(struct train_objective *objective, const char *name,
                        double value, struct err *err);

/*
 * These return 1 with the name of number i = 0, 1 .., and 0 after the last.
 * Names are valid until the process ends, those of metrics until the next step.
 *   metric  a number of the last step: infonce, positive, cosine, deviation,
 *           then those of the objective
 *   scalar  a number for the caller's optimiser: its value, and its slope dL/dx
 *           of the last step
 *   column  a column of the state of the samples: its length *count, and its
 *           numbers in out [*count], unless that is NULL; if each view has its
 *           own columns, those of view 1 come after those of view 0
 */
int train_objective_metric(const struct train_objective *objective, size_t i,
                           const char **name, double *value);
int train_objective_scalar(const struct train_objective *objective, size_t i,
                           const char **name, double *value, double *slope);
int train_objective_column(const struct train_objective *objective, size_t i,
                           const char **name, size_t *count, float *out);

/*
 * The file samples.safetensors of foil-checkpoint(5) in an existing folder:
 * columns, and the steps taken.  Learnt scalars are not in it: the caller must
 * set them.  load fails for a file of another objective or number of samples or
 * captions; after that the state is undefined.
 */
int train_objective_save(const struct train_objective *objective,
                         const char *folder, struct err *err);
int train_objective_load(struct train_objective *objective, const char *folder,
                         struct err *err);

/* train_objective_name() returns the name of objective i, or NULL. */
const char *train_objective_name(size_t i);
