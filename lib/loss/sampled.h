#ifndef LIB_LOSS_SAMPLED_H
#define LIB_LOSS_SAMPLED_H

#include "loss/objective.h"

/*
 * loss_sampled_weigh() replaces S by W for objectives with negatives from a
 * service,
 *
 *     W_rc = beta/n ( scale_r1 w_rc - scale_r0 [c = partner] ),
 *
 * beta = 1/tau, scale 1 without batch->scale, and returns sum_rc W_rc s_rc.
 *   s  [n,rows]
 */
double loss_sampled_weigh(const struct loss_batch *batch,
                          const struct loss_settings *set, float *s);

#endif
