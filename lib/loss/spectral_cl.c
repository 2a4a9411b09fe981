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
 * HaoChen, Wei, Gaidon and Ma 2021, arXiv:2106.04156.  T is not
 * computed: sum T^2 = tr(Z1'Z1 Z2'Z2), T Z2 = Z1 Z2'Z2.  No state.  Reports
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
    float *x = work, *y = x + b * d, *length = y + b * d;
    float *xx = length + n, *yy = xx + d * d;
    const double pairs = (double)b * (double)(b - 1);
    const float scale = (float)(2 / (set->value[MU] * pairs));
    double diagonal = 0, squares;
    size_t capped;

    memcpy(x, z, n * d * sizeof *z);
    capped = cap_rows(n, d, most, x, length);
    num_gemm_tn(d, d, b, 1, x, x, 0, xx);
    num_gemm_tn(d, d, b, 1, y, y, 0, yy);
    squares = num_dot(d * d, xx, yy); // of all T
    num_gemm_nn(b, d, d, scale, x, yy, 0, dz);
    num_gemm_nn(b, d, d, scale, y, xx, 0, dz + b * d);
    for (size_t i = 0; i < b; i++) {
        const double s = num_dot(d, x + i * d, y + i * d);
        const float w = (float)-(scale * s + 2 / (set->value[MU] * (double)b));

        diagonal += s;
        squares -= s * s;
        num_axpy(d, w, y + i * d, dz + i * d);
        num_axpy(d, w, x + i * d, dz + (b + i) * d);
    }
    report->value =
        (squares / pairs - 2 * diagonal / (double)b) / set->value[MU];
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
