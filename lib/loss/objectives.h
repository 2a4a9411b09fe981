#ifndef LIB_LOSS_OBJECTIVES_H
#define LIB_LOSS_OBJECTIVES_H

#include "loss/objective.h"

/*
 * The table of objectives.  Row `simclr` is the struct loss_objective
 * loss_simclr; the comment of its file has the equation and the paper.
 */
#define LOSS_OBJECTIVES(ROW) \
    ROW(simclr)              \
    ROW(dcl)                 \
    ROW(infonce)             \
    ROW(flatclr)             \
    ROW(hcl)                 \
    ROW(sogclr)              \
    ROW(isogclr)             \
    ROW(isogclr_sqh)         \
    ROW(simco)               \
    ROW(tau_simclr)          \
    ROW(spectral_cl)         \
    ROW(barlow_twins)        \
    ROW(vicreg)              \
    ROW(clip)                \
    ROW(cyclip)              \
    ROW(siglip)              \
    ROW(sogclr_bimodal)      \
    ROW(isogclr_bimodal)     \
    ROW(emc2_bimodal)        \
    ROW(emc2)                \
    ROW(cache)

#define LOSS_DECLARE(row) extern const struct loss_objective loss_##row;
LOSS_OBJECTIVES(LOSS_DECLARE)
#undef LOSS_DECLARE

/* Why an objective for two kinds, such as images and texts, takes two views. */
extern const char loss_two_kinds[];

/* loss_simclr_value() returns the L of simclr, for the report of every
 * objective. */
double loss_simclr_value(const struct loss_batch *batch, double tau,
                         const float *s);

/* loss_report_spread() reports cosine and deviation of v [n,d]: |sum v|^2 = n +
 * sum of the cosines of different anchors. */
void loss_report_spread(size_t n, size_t d, const float *v,
                        struct loss_report *report);

#endif
