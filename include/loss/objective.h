#ifndef LOSS_OBJECTIVE_H
#define LOSS_OBJECTIVE_H

#include <stddef.h>

#include "util/err.h"

/*
 * Objectives: what the embeddings of a batch are pulled and pushed towards.
 *
 * b images were seen twice each: the n = 2b rows of z are view-major, row r is
 * view r / b of image r mod b, and its partner is row (r + b) mod n.  `extra`
 * further rows may follow: images that are nobody's anchor, only negatives.
 * With v_r = z_r / |z_r| and S = V V', every objective is a value L and a
 * weight matrix
 *
 *     W_rc = dL/dS_rc        n anchors against rows = n + extra columns,
 *     dL/dV = (W + W') V,
 *
 * entries of S taken as independent (design/algorithms.md, 1.3).  So adding
 * one is writing a function that turns S into W and adding its row to the
 * table in lib/loss/objective.c.
 */
struct loss_batch {
    size_t b;     /* images, >= 2 */
    size_t extra; /* rows behind the 2b anchors */
    size_t d;     /* width of a row */
    const float
        *weights; /* [n,rows] what a service says of each negative, or
                     NULL where the objective wants none; rows sum to 1 */
};

/* What a user may set; each objective reads the fields that it names. */
struct loss_param {
    double tau; /* temperature > 0 */
};

struct loss_report {
    double value;     /* L */
    double infonce;   /* InfoNCE of the same batch, loss/simclr.h: the number
                         that can be compared between objectives */
    double positive;  /* mean cosine of partners */
    double cosine;    /* mean cosine of two different anchors; 1: collapsed */
    double deviation; /* mean over dimensions of the deviation of v, times
                         sqrt d; 1: spread out, 0: collapsed */
};

struct loss_objective {
    const char *name, *summary;
    int wants_weights; /* from the negatives service */

    /* Per-sample state that lives as long as the run: one float per column,
     * what it starts from.  The caller keeps the table, by sample id. */
    size_t columns;
    const char *const *column;
    const float *initial;

    /*
     * run() turns S into W and reports value and infonce.
     *   state  [b,columns]  old state of the batch's images in, new out
     *   s      [n,rows]     S in, W out
     */
    void (*run)(const struct loss_batch *batch, const struct loss_param *param,
                float *state, float *s, struct loss_report *report);
};

/* The table, ended by a row without a name. */
extern const struct loss_objective loss_objectives[];

/* loss_objective_find() returns a row; NULL with the list of names. */
const struct loss_objective *loss_objective_find(const char *name,
                                                 struct err *err);

/* loss_objective_size() returns the floats of scratch for such a batch. */
size_t loss_objective_size(const struct loss_batch *batch);

/*
 * loss_objective_run() takes raw embeddings to their gradient, through the
 * normalisation of rows.
 *   z, dz  [rows,d]     dz is overwritten with dL/dz
 *   state  [b,columns]  old in, new out; NULL without columns
 *   work   [loss_objective_size()]
 * A z that is not finite gives a value that is not finite, nothing worse.
 * O(n rows d) time.
 */
void loss_objective_run(const struct loss_objective *objective,
                        const struct loss_param *param,
                        const struct loss_batch *batch, const float *z,
                        float *state, float *dz, float *work,
                        struct loss_report *report);

#endif
