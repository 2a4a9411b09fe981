#include "loss/naive.h"
#include "loss/objectives.h"
#include "loss/rows.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "t.h"

enum { B = NAIVE_B, N = NAIVE_N, D = NAIVE_D };

/* Where the bank is the batch, and w the mean over all draws, the gradient is
 * that of -log p_+: SimCLR's, with beta 10. */
static void
mean_draw_is_simclr(void)
{
    float z[N * D], v[N * D], w[N * N], scale[N * 2], dv[N * D] = {0};
    const struct loss_batch batch = {
        .b = B, .dim = D, .weights = w, .scale = scale};
    const struct loss_settings set = {{0.1}, 0};
    struct loss_report report = {0};
    double sum = 0, mass = 0;

    naive_rows(z);
    num_unit_rows(N, D, z, v, NULL);
    num_gemm_nt(N, N, D, 1, v, v, 0, w);
    for (size_t r = 0; r < N; r++) {
        const double own = exp(10 * w[r * N + loss_partner(B, r)]);
        double z_r = 0;

        for (size_t c = 0; c < N; c++)
            z_r += c % B == r % B ? 0 : exp(10 * w[r * N + c]);
        scale[2 * r] = scale[2 * r + 1] = (float)(z_r / (z_r + own));
        mass += z_r / (z_r + own) / N;
    }
    naive_softmax(B, 10, w);
    loss_cache.run(&batch, &set, NULL, v, dv, &report);
    for (size_t i = 0; i < N * D; i++)
        sum += fabs(dv[i]);
    T_NEAR(sum, 12.227761403, 2e-6, "gradient");
    T_NEAR(dv[0], -0.067549886, 2e-6, "its first element");
    T_NEAR(dv[N * D - 1], 0.173889896, 2e-6, "its last element");
    T_NEAR(report.more.value[0].value, mass, 1e-6, "mean of 1 - p_+");
    T_NEAR(report.more.value[1].value, 1, 1e-6, "draws as good as fresh ones");
}

/* Rows with a draw: three of importance 1, 2, 3; the fourth has none. */
static void
reports_the_importance(void)
{
    float w[16] = {0}, dv[8] = {0};
    const float v[] = {0, 1, 0, 0, 0, 0, 1, 0};
    const float scale[] = {.5f, .5f, .25f, .5f, .1f, .3f, 0, 0};
    const struct loss_batch batch = {
        .b = 2, .dim = 2, .weights = w, .scale = scale};
    const struct loss_settings set = {{1}, 0};
    struct loss_report report = {0};

    loss_cache.run(&batch, &set, NULL, v, dv, &report);
    T_NEAR(report.more.value[0].value, .85 / 4, 1e-6, "mass of the negatives");
    T_NEAR(report.more.value[1].value, 36.0 / 14 / 3, 1e-6, "importance_ess");
    T(dv[2] == -.0625f && report.value == 0,
      "a row without a negative has no gradient, nor a value");
}

int
main(void)
{
    mean_draw_is_simclr();
    reports_the_importance();
    return t_done();
}
