/* Temperature as uncertainty: one more column. */
#include "loss/objectives.h"
#include "t.h"

/* The constant that the reference adds to a sum exceeds that of such distant
 * negatives, and their gradient in t, the only one of the second views. */
static void
negatives_far_off(int reference)
{
    const float z[] = {1, 0.1f,  6, -1, 0.1f,  6, //
                       1, -0.1f, 6, -1, -0.1f, 6};
    const struct loss_batch batch = {.b = 2, .dim = 3};
    const struct loss_settings set = {{0.05}, reference};
    float dz[12], work[256];
    struct loss_report report;

    REQUIRE(loss_objective_size(&loss_tau_simclr, &batch) <= 256);
    loss_objective_run(&loss_tau_simclr, &set, &batch, z, NULL, dz, work,
                       &report);
    T(reference ? fabsf(dz[11]) < 1e-4 : fabsf(dz[11]) > 1e-2,
      "%s: distant negatives, gradient in the certainty %.1e",
      reference ? "reference" : "paper", dz[11]);
}

int
main(void)
{
    negatives_far_off(0);
    negatives_far_off(1);
    return t_done();
}
