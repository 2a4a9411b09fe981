#include <math.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"

#include "objectives.h"

/*
 * Spectral contrastive loss, with rows shortened to at most sqrt(mu):
 *
 *     z_r -> z_r min(1, sqrt(mu) / |z_r|),   T = Z1 Z2'
 *     L = 1/mu ( -2/b sum_i T_ii + 1/(b (b - 1)) sum_i!=j T_ij^2 )
 *     dL/dZ1 = D Z2,  dL/dZ2 = D' Z1,
 *     D = 2/mu ( -I/b + offdiag(T) / (b (b - 1)) )
 *
 * HaoChen, Wei, Gaidon and Ma 2021, arXiv:2106.04156.  No state.  Reports
 * `capped`, the share of shortened rows.
 */

enum { TAU = LOSS_TAU, MU };

static const struct param params[] = {
    LOSS_PARAM_TAU(0.5),
    [MU] = {PARAM_REAL("mu", 1, 1e-6, 1e6, "largest squared length of a row")},
    {0},
};

/* Shortens rows to length `most`; length [n] gets the old length, or 0 for rows
 * not changed.  Returns the number of shortened rows. */
static size_t
cap_rows(size_t n, size_t d, double most, float *x, float *length)
{
    size_t capped = 0;

    for (size_t r = 0; r < n; r++, x += d) {
        const double own = sqrt(num_dot(d, x, x));

        length[r] = 0;
        if (own < most)
            continue;
        length[r] = (float)own;
        num_scale(d, (float)(most / own), x);
        capped++;
    }
    return capped;
}

static void
spectral_cl_direct(const struct loss_batch *batch,
                   const struct loss_settings *set, const float *z, float *dz,
                   float *work, struct loss_report *report)
{
    const size_t b = batch->b, n = 2 * b, d = batch->dim;
    const double most = sqrt(set->value[MU]);
    float *x = work, *y = x + b * d, *length = y + b * d, *t = length + n;
    size_t capped;
    const double pairs = (double)b * (double)(b - 1);
    double diagonal = 0, squares = 0;

    memcpy(x, z, n * d * sizeof *z);
    capped = cap_rows(n, d, most, x, length);
    num_gemm_nt(b, b, d, 1, x, y, 0, t);
    // replaces T by D
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            const double s = t[i * b + j];

            diagonal += i == j ? s : 0;
            squares += i == j ? 0 : s * s;
            t[i * b + j] = (float)(2 / set->value[MU] *
                                   (i == j ? -1 / (double)b : s / pairs));
        }
    report->value =
        (squares / pairs - 2 * diagonal / (double)b) / set->value[MU];
    num_gemm_nn(b, d, b, 1, t, y, 0, dz);
    num_gemm_tn(b, d, b, 1, t, x, 0, dz + b * d);
    // replaces dL/dx by dL/dz: the gradient of cap_rows()
    for (size_t r = 0; r < n; r++, x += d, dz += d) {
        if (!length[r])
            continue;
        num_axpy(d, (float)(-num_dot(d, dz, x) / (most * most)), x, dz);
        num_scale(d, (float)(most / length[r]), dz);
    }
    values_add(&report->more, "capped", (double)capped / (double)n);
}

const struct loss_objective loss_spectral_cl = {
    .name = "spectral_cl",
    .summary = "spectral contrastive loss of rows of bounded length",
    .params = params,
    .head = "1000-1000-bn",
    .pairs = "it compares the rows of one view with those of the other",
    .direct = spectral_cl_direct,
};
