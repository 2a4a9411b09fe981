/* Running means of denominators and temperatures: sogclr and its kin. */
#include "loss/device.h"
#include "loss/objectives.h"
#include "loss/sogclr.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "t.h"

enum { B = 4, N = 2 * B, D = 5, MOST = 16 };

/* S of four images whose second view is near the first. */
static void
scores(float s[N * N])
{
    double x[N * D];
    float z[N * D];

    naive_lcg(N * D, 11, x);
    for (size_t i = 0; i < N * D; i++)
        z[i] = (float)(i < B * D ? x[i] : 0.6 * x[i - B * D] + 0.4 * x[i]);
    num_unit_rows(N, D, z, z, NULL);
    num_gemm_nt(N, N, D, 1, z, z, 0, s);
}

static double
report_find(const struct loss_report *report, const char *name)
{
    for (size_t i = 0; i < report->more.n; i++)
        if (!strcmp(report->more.value[i].name, name))
            return report->more.value[i].value;
    return NAN;
}

/* A step by the sums of S.  coefficient [2b,2] is scale and pull of its rows.
 */
static void
weigh(const struct loss_objective *o, const struct loss_settings *set, size_t b,
      float *state, const float *s, float *coefficient,
      struct loss_report *report)
{
    static const float v[2 * MOST];
    const struct loss_batch batch = {.b = b, .dim = 1};
    struct loss_sums sums[2 * MOST];
    double tau[2 * MOST], row[2 * MOST], p[2 * MOST];
    float unused[4 * MOST];

    loss_objective_temperatures(o, set, &batch, state, tau);
    for (size_t r = 0; r < 2 * b; r++) {
        for (size_t c = 0; c < 2 * b; c++)
            row[c] = s[r * 2 * b + c];
        sums[r] = device_row(b, r, o->mask[set->reference], tau[r],
                             set->value[TAU], NULL, row, p);
    }
    loss_objective_sums(o, set, &batch, v, tau, sums, state,
                        coefficient ? coefficient : unused, report);
}

/* mean of exp(s / tau) over the negatives of both rows of an image */
static double
mean_of(const float *s, size_t k, double tau)
{
    double row[N], sum = 0;

    for (size_t v = 0; v < 2; v++) {
        for (size_t c = 0; c < N; c++)
            row[c] = s[(k + v * B) * N + c];
        sum += exp(naive_log_sum(B, k + v * B, 1 / tau, LOSS_NEGATIVES, row));
    }
    return sum / 2 /
           (double)loss_mask_count(&(struct loss_views){B, 2, 2},
                                   LOSS_NEGATIVES);
}

/* The first visit has weight 1, later ones gamma. */
static void
means_follow_their_images(void)
{
    struct loss_settings set = loss_settings_of(&loss_sogclr);
    float s[N * N], half[N * N], state[B * 2] = {0};
    struct loss_report report = {0};
    double off = 0, first[B], g;

    scores(s);
    for (size_t i = 0; i < N * N; i++)
        half[i] = s[i] / 2;
    for (size_t k = 0; k < B; k++)
        first[k] = mean_of(s, k, set.value[TAU]);
    weigh(&loss_sogclr, &set, B, state, s, NULL, &report);
    for (size_t k = 0; k < B; k++)
        off = fmax(off, fabs(exp(state[2 * k]) / first[k] - 1));
    T(off < 1e-5, "a first visit has weight 1: error %.1e", off);
    off = 0;
    for (size_t k = 0; k < B; k++)
        first[k] = 0.1 * first[k] + 0.9 * mean_of(half, k, set.value[TAU]);
    weigh(&loss_sogclr, &set, B, state, half, NULL, &report);
    for (size_t k = 0; k < B; k++) {
        g = exp(state[2 * k]) / first[k];
        off = fmax(off, fabs(g - 1));
    }
    T(off < 1e-5, "a second one has weight gamma: error %.1e", off);
}

/* Without memory, sogclr is dcl times 2 tau, and the slope in a temperature is
 * rho - KL. */
static void
without_memory(void)
{
    struct loss_settings set = loss_settings_of(&loss_isogclr);
    float s[N * N], first[2 * N], same[2 * N], third[2 * N];
    float state[B * RUNNING_ISOGCLR] = {0}, global[B * RUNNING_SOGCLR] = {0};
    struct loss_report report = {0}, other = {0}, global_report = {0};
    double off = 0, momentum = 0;

    scores(s);
    set.value[GAMMA] = set.value[BETA_U] = 1;
    weigh(&loss_isogclr, &set, B, state, s, first, &report);
    weigh(&loss_dcl, &set, B, NULL, s, same, &other);
    weigh(&loss_sogclr, &set, B, global, s, third, &global_report);
    for (size_t i = 0; i < 2 * N; i++)
        off = fmax(off, fmax(fabs(first[i] - 2 * set.value[TAU] * same[i]),
                             fabs(first[i] - third[i])));
    T(off < 1e-6,
      "gamma 1, with and without temperatures: 2 tau times dcl, error %.1e",
      off);
    T_NEAR(report_find(&report, "row_weight"), 1, 1e-6, "weights sum to 1");
    T_NEAR(report_find(&report, "kl"), report_find(&other, "kl"), 1e-6,
           "isogclr reports the divergence that dcl reports");
    for (size_t k = 0; k < B; k++)
        momentum += state[k * RUNNING_ISOGCLR + RUNNING_MOMENTUM] / B;
    T_NEAR(momentum, set.value[RHO] - report_find(&report, "kl"), 1e-6,
           "slope: rho - KL");
}

/* G by the previous mean, as in the paper's algorithm 1: where that was e^-8 of
 * g, nothing bounds G. */
static void
old_mean(void)
{
    struct loss_settings set = loss_settings_of(&loss_isogclr);
    float s[N * N], state[B * RUNNING_ISOGCLR] = {0}, before[B];
    struct loss_report report = {0};
    double off = 0;

    set.value[GAMMA] = set.value[BETA_U] = set.value[OLD_MEAN] = 1;
    set.value[ETA] = 0;
    scores(s);
    weigh(&loss_isogclr, &set, B, state, s, NULL, &report);
    for (size_t k = 0; k < B; k++) {
        float *mine = state + k * RUNNING_ISOGCLR;

        before[k] = mine[RUNNING_LOG_U];
        mine[RUNNING_LOG_U] -= 8;
    }
    report.more.n = 0;
    weigh(&loss_isogclr, &set, B, state, s, NULL, &report);
    for (size_t k = 0; k < B; k++) {
        double slope = set.value[RHO] + before[k] - 8;

        for (size_t r = k; r < N; r += B) {
            double moment = 0;

            for (size_t c = 0; c < N; c++)
                if (c % B != k)
                    moment += exp(s[r * N + c] / set.value[TAU]) *
                              s[r * N + c] / set.value[TAU] / (N - 2);
            slope -= moment * exp(8 - before[k]) / 2;
        }
        off = fmax(
            off,
            fabs(state[k * RUNNING_ISOGCLR + RUNNING_MOMENTUM] / slope - 1));
    }
    T(off < 1e-5, "old-mean: G by the previous mean, error %.1e", off);
}

/* Temperatures of a batch that never changes: S symmetric, of deviation .3. */
static void
temperatures_settle(double rho, double least, double most)
{
    enum { MANY = MOST, ROWS = 2 * MANY };
    struct loss_settings set = loss_settings_of(&loss_isogclr);
    struct loss_report report = {0};
    float state[MANY * RUNNING_ISOGCLR] = {0}, fixed[ROWS * ROWS];
    double x[12 * ROWS * ROWS], lowest = 1, highest = 0, kl;

    naive_lcg(12 * ROWS * ROWS, 9, x);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c <= r; c++) {
            double sum = 0;

            for (size_t i = 0; i < 12; i++)
                sum += x[(r * ROWS + c) * 12 + i];
            fixed[r * ROWS + c] = fixed[c * ROWS + r] = (float)(0.3 * sum);
        }
    set.value[ETA] = 0.03;
    set.value[RHO] = rho;
    for (int visit = 0; visit < 4000; visit++) {
        report.more.n = 0;
        weigh(&loss_isogclr, &set, MANY, state, fixed, NULL, &report);
    }
    kl = report_find(&report, "kl");
    for (size_t k = 0; k < MANY; k++) {
        lowest = fmin(lowest, state[k * RUNNING_ISOGCLR + RUNNING_TAU]);
        highest = fmax(highest, state[k * RUNNING_ISOGCLR + RUNNING_TAU]);
    }
    T(lowest >= least - 1e-6 && highest <= most + 1e-6,
      "rho %g: temperatures settle in %.3f-%.3f", rho, lowest, highest);
    if (rho == 0.3)
        T(kl > 0.29 && kl < 0.31, "KL %.3f is rho, nearly", kl);
}

/* The reference's sum after so many visits of a constant g = 1. */
static double
sum_after(int visits, double gamma)
{
    const struct loss_settings set = {{1, gamma}, 1};
    float state[4] = {0};

    for (int visit = 0; visit < visits; visit++) {
        struct loss_report report = {0};
        float s[16] = {0};

        weigh(&loss_sogclr, &set, 2, state, s, NULL, &report);
    }
    return exp(state[0]);
}

/* Its fixed point, and no fixed point. */
static void
sums_of_views(void)
{
    struct loss_settings set = {{1, 0.9}, 1};
    struct err err;

    T_NEAR(sum_after(200, 0.9), 2.25, 1e-5, "gamma .9: 2.25 g");
    T_NEAR(sum_after(200, 0.8), 8.0 / 3, 1e-5, "gamma .8: 2.667 g");
    T_NEAR(sum_after(10, 0.5), 10, 1e-4, "gamma .5: g is added each visit");
    T_NEAR(sum_after(20, 0.5), 20, 1e-4, "gamma .5: without end");
    T(sum_after(20, 0.4) > 2 * sum_after(10, 0.4), "gamma .4: faster still");
    T(!loss_objective_check(&loss_sogclr, &set, 2, 2, 2, &err),
      "gamma .9 is allowed");
    set.value[GAMMA] = 0.5;
    T(loss_objective_check(&loss_sogclr, &set, 2, 2, 2, &err) &&
          strstr(err.msg, "without bound"),
      "gamma .5 is refused");
    set.reference = 0;
    T(!loss_objective_check(&loss_sogclr, &set, 2, 2, 2, &err),
      "gamma .5 is allowed in the right form");
}

static void
impossible_settings(void)
{
    struct loss_settings set = loss_settings_of(&loss_isogclr);
    struct err err;

    set.value[RHO] = 1.8; // log 6 = 1.79
    T(loss_objective_check(&loss_isogclr, &set, 4, 2, 5, &err) &&
          strstr(err.msg, "6 negatives"),
      "rho beyond log m");
    T(!loss_objective_check(&loss_isogclr, &set, 5, 2, 5, &err),
      "rho below log m");
    T(!loss_objective_check(&loss_isogclr, &set, 0, 2, 0, &err),
      "rho, without m");
    set.value[TAU] = 2;
    T(loss_objective_check(&loss_isogclr, &set, 5, 2, 5, &err) &&
          strstr(err.msg, "tau-max"),
      "tau beyond its bounds");
    set.value[GAMMA] = 0;
    T(loss_objective_check(&loss_isogclr, &set, 5, 2, 5, &err) &&
          loss_objective_check(&loss_sogclr, &set, 5, 2, 5, &err),
      "gamma 0");
}

int
main(void)
{
    means_follow_their_images();
    without_memory();
    old_mean();
    temperatures_settle(0.3, 0.26, 0.46);
    temperatures_settle(0.01, 1, 1);
    // log 30 is 3.4; up to about 4.2 lagging running means leave some above
    temperatures_settle(5, 0.05, 0.05);
    sums_of_views();
    impossible_settings();
    return t_done();
}
