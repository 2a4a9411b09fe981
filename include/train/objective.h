#ifndef TRAIN_OBJECTIVE_H
#define TRAIN_OBJECTIVE_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * An objective with its state of each sample, for a program with a training
 * loop of its own: embeddings in, the loss and its gradient out.
 *
 *     struct train_objective *loss =
 *         train_objective_open("isogclr", "{\"rho\": 0.3}", n, 0, &err);
 *
 *     for each batch:
 *         train_objective_step(loss, &batch, dz, &value, &err);
 *         ... dz goes back through the encoder ...
 *     train_objective_save(loss, folder, &err);
 *
 * All objectives of lib/algorithms.md are there, by loss/objective.h.  Those
 * that want weights of negatives take them from the caller.
 *
 * Whatever values a caller passes, a function returns an error with a sentence,
 * and does not end the process, unless memory runs out; pointers must point to
 * the arrays that are described here.  So ctypes, cffi and foreign interfaces
 * of other languages can call it, and need no struct but those of this header.
 * A handle is for one thread at a time; handles are independent of each other.
 */
struct train_objective;

/*
 * train_objective_open() begins with the objective's initial state.
 *   name      as foil-train --objective, such as "sogclr"
 *   params    a JSON object of its parameters, {"tau": 0.2, "kl": true}, a
 *             choice by its word; NULL or "": all defaults
 *   n         samples, whose ids are 0 .. n - 1; may be 0 where the objective
 *             keeps nothing of them
 *   captions  most captions of a sample where view 1 is a caption; 0: view 1 is
 *             of the sample
 * NULL with a sentence: no such objective or parameter, a value out of range, a
 * missing n.  Memory: a float for each sample and column.
 */
struct train_objective *train_objective_open(const char *name,
                                             const char *params, size_t n,
                                             size_t captions, struct err *err);
void train_objective_close(struct train_objective *objective);

/* A batch of b samples, rows view-major: row r is view r / b of sample r mod b,
 * then `extra` rows that are negatives only. */
struct train_objective_batch {
    size_t b;        /* samples, >= 2 */
    size_t extra;    /* further rows; some objectives take none */
    size_t constant; /* for so many of them, the last, no gradient is wanted */
    size_t dim;      /* d, numbers of a row */
    const int64_t *ids;      /* [b] each once, 0 .. n - 1; may be NULL where
                              * nothing is kept of samples */
    const int32_t *captions; /* [b] which caption view 1 is; NULL without */
    const float *z;          /* [2b + extra,d] raw embeddings */
    const float *weights;    /* [2b,2b + extra] of negatives, or NULL */
    const float *scale;      /* [2b,2] of anchors, or NULL */
    int look;                /* 1: compute only, and leave the state as it is */
};

/*
 * train_objective_step() computes the loss and its gradient, and moves the
 * state of the batch's samples.
 *   dz     [2b + extra - constant,d]  overwritten
 *   value  the loss
 * 0; 1 where loss, gradient or state is not finite: the state has not moved,
 * and dz is not to be used; -1 with a sentence about the batch.  O(b (b +
 * extra) d) time; scratch of about (2b)(2b + extra) floats is kept for the next
 * one.
 */
int train_objective_step(struct train_objective *objective,
                         const struct train_objective_batch *batch, float *dz,
                         double *value, struct err *err);

/*
 * train_objective_set() sets a parameter, as a schedule does between steps, or
 * a scalar that is learnt, by its name ("logit_scale", lib/algorithms.md); a
 * scalar is kept within its bounds.  -1: there is none, or it is out of range.
 */
int train_objective_set(struct train_objective *objective, const char *name,
                        double value, struct err *err);

/*
 * These return 1 with the name of number i = 0, 1 .., and 0 behind the last.
 * Names live as long as the process, those of metrics until the next step.
 *   metric  a number of the last step: infonce, positive, cosine, deviation,
 *           then those of the objective
 *   scalar  a number that the caller's optimiser is to move: its value, and its
 *           slope dL/dx of the last step
 *   column  a column of the state of the samples: its length *count, and its
 *           numbers in out [*count], unless that is NULL; where each view has
 *           columns of its own, those of view 1 come after those of view 0
 */
int train_objective_metric(const struct train_objective *objective, size_t i,
                           const char **name, double *value);
int train_objective_scalar(const struct train_objective *objective, size_t i,
                           const char **name, double *value, double *slope);
int train_objective_column(const struct train_objective *objective, size_t i,
                           const char **name, size_t *count, float *out);

/*
 * The file samples.safetensors of foil-checkpoint(5) in an existing folder:
 * columns, and the steps taken.  Learnt scalars are not in it: the caller sets
 * them again.  load refuses the file of another objective or number of
 * samples or captions; after that the state is undefined.
 */
int train_objective_save(const struct train_objective *objective,
                         const char *folder, struct err *err);
int train_objective_load(struct train_objective *objective, const char *folder,
                         struct err *err);

/* train_objective_name() returns the name of objective i of all, NULL behind
 * the last. */
const char *train_objective_name(size_t i);

#endif
