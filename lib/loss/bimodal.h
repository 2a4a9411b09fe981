#ifndef LIB_LOSS_BIMODAL_H
#define LIB_LOSS_BIMODAL_H

#include "loss/objective.h"

#include "running.h"

/*
 * The common part of SogCLR and iSogCLR for two kinds of rows: each row of one
 * view against those of the other, relative to its partner, with its own
 * running mean.  The state is that of loss/running.h, for each row.
 */

/*
 * Updates the temperature of a row.
 *   slope  log_u - sum_c w_rc x_rc / (b - 1): G without rho
 *   state  of the row, [RUNNING_ISOGCLR], its mean the new one
 */
typedef void loss_bimodal_move(const struct loss_batch *batch,
                               const struct loss_settings *set, double slope,
                               float *state);

/*
 * loss_bimodal_run() replaces S by W, as in loss/sogclr_bimodal.h.
 *   move   updates learned temperatures; NULL: all are tau
 *   state  [2 b,RUNNING_ISOGCLR], without move [2 b,RUNNING_SOGCLR]
 */
void loss_bimodal_run(const struct loss_batch *batch,
                      const struct loss_settings *set, loss_bimodal_move *move,
                      float *state, float *s, struct loss_report *report);

#endif
