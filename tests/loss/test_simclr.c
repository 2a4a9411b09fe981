#include "loss/naive.h"
#include "loss/objectives.h"
#include "num/vec.h"
#include "t.h"

enum { B = NAIVE_B, N = NAIVE_N, D = NAIVE_D };

/* tau 0.1, gradient at the rows that are already normalised. */
static void
agrees_with_the_reference(void)
{
    const struct loss_batch batch = {.b = B, .dim = D};
    const struct loss_settings set = {{0.1}, 0};
    float z[N * D], v[N * D], dv[N * D] = {0}, work[N * N];
    struct loss_report report = {0}, other = {0};
    double sum = 0;

    naive_rows(z);
    num_unit_rows(N, D, z, v, NULL);
    REQUIRE(loss_objective_size(&loss_simclr, &batch) <=
            N * (D + 1) + sizeof work / sizeof *work);
    loss_report_infonce(&batch, 0.1, v, &other);
    loss_objective_weigh(&loss_simclr, &set, &batch, v, NULL, dv, work,
                         &report);
    for (size_t i = 0; i < N * D; i++)
        sum += fabs(dv[i]);
    T_NEAR(report.value, 0.650472417, 2e-6, "value");
    T(other.infonce == report.infonce && other.positive == report.positive,
      "the value alone is the same");
    T_NEAR(report.infonce, report.value, 1e-12, "it is InfoNCE");
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
