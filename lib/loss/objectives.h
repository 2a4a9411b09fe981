#pragma once

#include "loss/objective.h"

/* The table of objectives.  Row `simclr` is the struct loss_objective
 * loss_simclr; the comment of its file has the equation and the paper. */
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

/* loss_report_infonce() reports the L of simclr and the mean cosine of
 * positives, of v [n,d]. */
void loss_report_infonce(const struct loss_batch *batch, double tau,
                         const float *v, struct loss_report *report);

/* loss_by_stripes() adds the gradient of W = dL/dS to dv, and shares of groups,
 * for a W that is no function of row sums: 64 rows of S at a time are replaced
 * by those of W. */
struct loss_stripes {
    size_t anchors, from,
        to; /* rows 0 .. anchors - 1, columns from .. to - 1 */
    void (*weigh)(void *self, size_t r, float *row); /* by many threads */
    void *self;
};
void loss_by_stripes(const struct loss_batch *batch,
                     const struct loss_stripes *all, const float *v, float *dv,
                     struct loss_share *share);

/* loss_terms_report() reports the sums of terms [n], and calls finish(). */
void loss_terms_report(const struct loss_objective *objective,
                       const struct loss_settings *set,
                       const struct loss_batch *batch,
                       const struct loss_term *term, float *state,
                       struct loss_report *report);

/* loss_report_spread() reports cosine and deviation of v [n,d]: |sum v|^2 = n +
 * sum of the cosines of different anchors. */
void loss_report_spread(size_t n, size_t d, const float *v,
                        struct loss_report *report);
