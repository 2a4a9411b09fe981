#include <stdlib.h>

#include "loss/naive.h"
#include "loss/objectives.h"
#include "loss/rows.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "t.h"

enum { B = NAIVE_B, N = NAIVE_N, D = NAIVE_D };

/* The loss by its definition, in double. */
static double
by_definition(double tau, const float *s)
{
    double sum = 0;

    for (size_t r = 0; r < N; r++) {
        double others = 0;

        for (size_t c = 0; c < N; c++)
            others += c == r ? 0 : exp(s[r * N + c] / tau);
        sum += log(others) - s[r * N + (r + B) % N] / tau;
    }
    return sum / N;
}

/* tau 0.1, gradient at the rows that are already normalised. */
static void
agrees_with_the_reference(void)
{
    const struct loss_batch batch = {.b = B, .dim = D};
    const struct loss_settings set = {{0.1}, 0};
    float z[N * D], v[N * D], s[N * N], dv[N * D];
    struct loss_report report = {0};
    double sum = 0, alone, want;

    naive_rows(z);
    num_unit_rows(N, D, z, v, NULL);
    num_gemm_nt(N, N, D, 1, v, v, 0, s);
    alone = loss_simclr_value(&batch, 0.1, s);
    want = by_definition(0.1, s);
    loss_objective_weigh(&loss_simclr, &set, &batch, NULL, s, &report);
    loss_similarity_backward(N, N, N, D, s, v, dv);
    for (size_t i = 0; i < N * D; i++)
        sum += fabs(dv[i]);
    T_NEAR(report.value, 0.650472417, 2e-6, "value");
    T_NEAR(alone, want, 2e-6,
           "loss_simclr_value() is the mean of the definition");
    T_NEAR(sum, 12.227761403, 2e-6, "gradient");
    T_NEAR(dv[0], -0.067549886, 2e-6, "its first element");
    T_NEAR(dv[N * D - 1], 0.173889896, 2e-6, "its last element");
}

int
main(void)
{
    agrees_with_the_reference();
    return t_done();
}
