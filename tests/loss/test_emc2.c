#include <stdlib.h>

#include "loss/naive.h"
#include "loss/objectives.h"
#include "loss/rows.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "t.h"
#include "util/err.h"

enum { B = NAIVE_B, N = NAIVE_N, D = NAIVE_D };

/* Mixed chains stay on each negative in proportion to its softmax: the gradient
 * is that of the denominator without the partner, as in naive.h with beta 10.
 */
static void
mixed_chains_are_the_softmax(void)
{
    float z[N * D], v[N * D], w[N * N], dv[N * D] = {0};
    const struct loss_batch batch = {.b = B, .dim = D, .weights = w};
    const struct loss_settings set = {{0.1}, 0};
    struct loss_report report = {0};
    double sum = 0;

    naive_rows(z);
    num_unit_rows(N, D, z, v, NULL);
    num_gemm_nt(N, N, D, 1, v, v, 0, w);
    loss_report_infonce(&batch, 0.1, v, &report);
    naive_softmax(B, 10, w);
    loss_emc2.run(&batch, &set, NULL, v, dv, &report);
    for (size_t i = 0; i < N * D; i++)
        sum += fabs(dv[i]);
    T_NEAR(sum, 33.254410154, 2e-6, "gradient");
    T_NEAR(dv[0], -0.113033264, 2e-6, "its first element");
    T_NEAR(dv[N * D - 1], 0.962717085, 2e-6, "its last element");
    T_NEAR(report.infonce, 0.650472417, 2e-6, "InfoNCE of the same rows");
    T_NEAR(report.more.value[0].value, 0, 0, "nothing from outside");
}

/* Of twelfths, as floats, no row sums to 1 exactly. */
static void
rounded_shares_are_not_dropped(void)
{
    enum { M = 12 };
    float v[2 * M * 2] = {0}, dv[2 * M * 2] = {0}, w[2 * M * 2 * M];
    const struct loss_batch batch = {.b = M, .dim = 2, .weights = w};
    const struct loss_settings set = {{0.5}, 0};
    struct loss_report report = {0};
    double sum = 0;

    for (size_t i = 0; i < 2 * M * 2 * M; i++) {
        w[i] = i % 2 ? 1.f / 12 : 0;
        sum += w[i];
    }
    loss_emc2.run(&batch, &set, NULL, v, dv, &report);
    T(sum / (2 * M) != 1, "shares are rounded: the sum lacks %.3g",
      1 - sum / (2 * M));
    T_NEAR(report.more.value[1].value, 0, 0, "nothing is dropped");
    report = (struct loss_report){0};
    w[1] = 0;
    loss_emc2.run(&batch, &set, NULL, v, dv, &report);
    T_NEAR(report.more.value[1].value, 1. / 12 / (2 * M), 1e-7,
           "one of many steps is");
}

/* Rows of a bank get no gradient, and change that of no row. */
static void
a_bank_gets_no_gradient(void)
{
    enum { EXTRA = 3, ROWS = N + EXTRA, MOVED = ROWS - 2 };
    double x[ROWS * D], off = 0;
    float z[ROWS * D], w[N * ROWS] = {0}, dz[2][ROWS * D];
    float work[2 * ROWS * (ROWS + D + 1)];
    const struct loss_settings set = {{0.1}, 0};
    struct loss_batch batch = {.b = B, .extra = EXTRA, .dim = D, .weights = w};
    struct loss_report report;

    naive_lcg(ROWS * D, 3, x);
    for (size_t i = 0; i < ROWS * D; i++)
        z[i] = (float)x[i];
    for (size_t r = 0; r < N; r++)
        w[r * ROWS + N + r % EXTRA] = 1;
    loss_objective_run(&loss_emc2, &set, &batch, z, NULL, dz[0], work, &report);
    batch.constant = ROWS - MOVED;
    REQUIRE(loss_objective_size(&loss_emc2, &batch) <=
            sizeof work / sizeof *work);
    dz[1][MOVED * D] = 7;
    loss_objective_run(&loss_emc2, &set, &batch, z, NULL, dz[1], work, &report);
    for (size_t i = 0; i < MOVED * D; i++)
        off = fmax(off, fabs(dz[0][i] - dz[1][i]));
    T(off < 1e-6 && dz[1][MOVED * D] == 7,
      "rows of a bank get no gradient, error %g", off);
}

int
main(void)
{
    a_bank_gets_no_gradient();
    rounded_shares_are_not_dropped();
    mixed_chains_are_the_softmax();
    return t_done();
}
