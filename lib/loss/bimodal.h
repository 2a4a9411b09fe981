#ifndef LIB_LOSS_BIMODAL_H
#define LIB_LOSS_BIMODAL_H

#include "loss/objective.h"

#include "running.h"

/*
 * What SogCLR and iSogCLR for two kinds of rows share: each row of one view
 * against those of the other, measured from its partner, with a running mean
 * of its own.  The state is that of loss/running.h, once for each row.
 */

/* What comes of a row. */
struct loss_bimodal_row {
    double log_u;  /* new */
    double weight; /* sum_c w_rc / (b - 1) */
    double value;  /* sum_c w_rc (s_rc - s_r,partner) / (b - 1) */
    double slope;  /* log_u - sum_c w_rc x_rc / (b - 1): G without rho */
};

/*
 * loss_bimodal_row() takes row r of S to that of W, as loss/sogclr_bimodal.h
 * says.
 *   tau    of the row
 *   state  of the row, [RUNNING_SOGCLR] at least; it is not changed
 *   row    [rows]  S in, W out
 */
struct loss_bimodal_row loss_bimodal_row(const struct loss_batch *batch,
                                         const struct loss_settings *set,
                                         size_t r, double tau,
                                         const float *state, float *row);

/* loss_bimodal_keep() makes the new mean the state of the row. */
void loss_bimodal_keep(const struct loss_bimodal_row *row, float *state);

/* loss_bimodal_report() adds what all rows came to. */
void loss_bimodal_report(size_t n, const struct loss_bimodal_row *sum,
                         struct loss_report *report);

/* loss_bimodal_add() adds a row to a sum. */
void loss_bimodal_add(struct loss_bimodal_row *sum,
                      const struct loss_bimodal_row *row);

#endif
