/* The rows of design/algorithms.md, appendix A, that are ours; and what its
 * appendix C says of running means and temperatures. */
#include <stdlib.h>

#include "loss/barlow_twins.h"
#include "loss/book.h"
#include "loss/dcl.h"
#include "loss/flatclr.h"
#include "loss/infonce.h"
#include "loss/isogclr.h"
#include "loss/rows.h"
#include "loss/simclr.h"
#include "loss/simco.h"
#include "loss/sogclr.h"
#include "loss/spectral_cl.h"
#include "loss/tau_simclr.h"
#include "loss/vicreg.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"

enum { B = BOOK_B, N = BOOK_N, D = BOOK_D, TAU = 3, MOMENTUM = 2 };

struct row {
    double loss, sum, first, last;
};

static struct row
row_of(double loss, size_t d, const float *dz)
{
    struct row row = {loss, 0, dz[0], dz[(N - 1) * d + D - 1]};

    for (size_t i = 0; i < N * d; i++)
        row.sum += fabs(dz[i]);
    return row;
}

static void
agree(const struct row *got, const struct row *want, const char *what)
{
    T_NEAR(got->loss, want->loss, 2e-5, "%s: value", what);
    T_NEAR(got->sum, want->sum, 2e-5, "%s: sum of |gradient|", what);
    T_NEAR(got->first, want->first, 2e-5, "%s: its first element", what);
    T_NEAR(got->last, want->last, 2e-5, "%s: its last element", what);
}

/* "unit": the gradient at rows that are normalised already. */
static struct row
at_unit_rows(const struct loss_objective *o, const struct loss_param *param,
             float *state)
{
    const struct loss_batch batch = {.b = B, .d = D};
    float z[N * D], v[N * D], s[N * N], dv[N * D];
    struct loss_report report = {0};

    book_rows(z);
    num_unit_rows(N, D, z, v, NULL);
    num_gemm_nt(N, N, D, 1, v, v, 0, s);
    o->run(&batch, param, state, s, &report);
    loss_spread(N, N, D, s, v, dv);
    return row_of(report.value, D, dv);
}

/* "raw": with respect to z, of d columns. */
static struct row
at_raw_rows(const struct loss_objective *o, const struct loss_param *param,
            size_t d, const float *z, float *dz)
{
    const struct loss_batch batch = {.b = B, .d = d};
    float *work = mem_array(loss_objective_size(o, &batch), sizeof *work);
    struct loss_report report;

    loss_objective_run(o, param, &batch, z, NULL, dz, work, &report);
    free(work);
    return row_of(report.value, d, dz);
}

static void
without_state(void)
{
    static const struct {
        const char *what;
        const struct loss_objective *objective;
        struct loss_param param;
        struct row want;
    } raw[] = {
        {"flatclr",
         &loss_flatclr,
         {.tau = 0.1},
         {0.650472417, 67.110641457, 0.515494715, 2.380791746}},
        {"simco, the reference",
         &loss_simco,
         {.tau = 0.1, .tau_inter = 1, .reference = 1},
         {75.775606712, 568.948242606, 0.725116305, 42.149378657}},
        {"spectral_cl, mu 1",
         &loss_spectral_cl,
         {.tau = 1, .mu = 1},
         {-0.356669929, 3.703414996, -0.002422990, 0.150695671}},
        {"spectral_cl, mu .25",
         &loss_spectral_cl,
         {.tau = 1, .mu = 0.25},
         {-1.093020082, 10.979098770, -0.009691960, 0.392923528}},
        {"barlow_twins",
         &loss_barlow_twins,
         {.tau = 1, .lambda = 0.0051},
         {0.332553037, 13.794973714, 0.627754642, 1.551723677}},
        {"vicreg",
         &loss_vicreg,
         {.tau = 1, .invariance = 25, .variance = 25, .covariance = 1},
         {20.642544425, 24.606711852, 0.300286096, 0.649212351}},
    };
    static const struct loss_param ten = {.tau = 0.1, .tau_inter = 1};
    float z[N * D], dz[N * D];
    struct row got;

    book_rows(z);
    for (size_t i = 0; i < sizeof raw / sizeof *raw; i++) {
        got = at_raw_rows(raw[i].objective, &raw[i].param, D, z, dz);
        agree(&got, &raw[i].want, raw[i].what);
    }
    got = at_unit_rows(&loss_dcl, &ten, NULL);
    agree(&got,
          &(struct row){-0.695097025, 33.254410154, -0.113033264, 0.962717085},
          "dcl");
    got = at_unit_rows(&loss_infonce_objective,
                       &(struct loss_param){.tau = 0.5}, NULL);
    agree(&got,
          &(struct row){1.529527959, 6.743835579, 0.228520815, 0.197596442},
          "infonce");
    got = at_unit_rows(&loss_infonce_objective,
                       &(struct loss_param){.tau = 0.07}, NULL);
    agree(&got,
          &(struct row){2 * 0.379777388, 2 * 13.128381123, 2 * -0.029939077,
                        2 * 0.028030531},
          "infonce, twice CLIP");
    got = at_unit_rows(&loss_simco, &ten, NULL);
    agree(&got,
          &(struct row){0.766803946, 20.584012731, 0.428662920, 0.703774318},
          "simco");
    got = at_unit_rows(&loss_simclr,
                       &(struct loss_param){.tau = 0.1, .reference = 1}, NULL);
    T_NEAR(got.sum, 12.227761403 / 0.7, 2e-5, "simclr, SupCon's scale");
}

/* Temperature as uncertainty: a column more. */
static void
with_certainty(void)
{
    enum { WIDE = D + 1 };
    const struct loss_param param = {.tau = 0.07, .reference = 1};
    float rows[N * D], z[N * WIDE], dz[N * WIDE];
    double e[N];
    struct row got;

    book_rows(rows);
    book_lcg(B, 5, e);
    book_lcg(B, 6, e + B);
    for (size_t r = 0; r < N; r++) {
        memcpy(z + r * WIDE, rows + r * D, D * sizeof *z);
        z[r * WIDE + D] = (float)(4 * e[r]);
    }
    got = at_raw_rows(&loss_tau_simclr, &param, WIDE, z, dz);
    T_NEAR(dz[D], -0.459651109, 2e-5, "tau_simclr: dL/de of the first row");
    T_NEAR(dz[N * WIDE - 1], 0.158501993, 2e-5, "tau_simclr: of the last");
    for (size_t r = 0; r < N; r++)
        got.sum -= fabs(dz[r * WIDE + D]);
    agree(&got,
          &(struct row){-0.630556593, 54.334718205, 0.433270514, 2.903419505},
          "tau_simclr");
}

/* What the reference adds to a sum drowns that of negatives this far off, and
 * their pull on t, which is all there is at the second views. */
static void
negatives_far_off(void)
{
    const float z[] = {1, 0.1f,  6, -1, 0.1f,  6, //
                       1, -0.1f, 6, -1, -0.1f, 6};
    const struct loss_batch batch = {.b = 2, .d = 3};
    float dz[12], work[256];
    struct loss_report report;
    struct loss_param param = {.tau = 0.05};

    REQUIRE(loss_objective_size(&loss_tau_simclr, &batch) <= 256);
    for (param.reference = 0; param.reference < 2; param.reference++) {
        loss_objective_run(&loss_tau_simclr, &param, &batch, z, NULL, dz, work,
                           &report);
        T(param.reference ? fabsf(dz[11]) < 1e-4 : fabsf(dz[11]) > 1e-2,
          "tau_simclr: negatives far off, reference %d: %.1e", param.reference,
          dz[11]);
    }
}

static void
sogclr_visits(void)
{
    static const struct row right[] = {
        {-0.271524608, 6.650882031, -0.022606653, 0.192543417},
        {-0.348159773, 6.469398720, -0.014331432, 0.191705737}};
    static const struct row reference[] = {
        {-0.132487040, 7.004379075, -0.022830704, 0.191563595},
        {-0.450719493, 6.374915890, -0.011797848, 0.192900319}};
    static const double u[B] = {1141.102639, 38.101262, 1123.018976, 93.005738};
    struct loss_param param = loss_sogclr.param;
    float state[B * 2] = {0}, same[B * 2] = {0};

    for (size_t visit = 0; visit < 2; visit++) {
        struct row got = at_unit_rows(&loss_sogclr, &param, state);

        agree(&got, right + visit, visit ? "sogclr, again" : "sogclr");
        for (size_t k = 0; k < B; k++)
            T_NEAR(exp(state[k * 2]), u[k], 2e-5, "its mean %zu", k);
    }
    param.reference = 1;
    for (size_t visit = 0; visit < 2; visit++) {
        struct row got = at_unit_rows(&loss_sogclr, &param, same);

        agree(&got, reference + visit,
              visit ? "reference, again" : "sogclr, the reference");
        T_NEAR(exp(same[0]), visit ? 2464.781701 : 2053.984751, 2e-5,
               "its sum");
    }
}

static void
isogclr_visits(void)
{
    static const struct row want[] = {
        {-0.242100741, 6.699829637, 0.075508400, 0.193022229},
        {-0.487101869, 6.231962172, 0.061580289, 0.188520980},
        {-0.530566365, 6.175278786, 0.061053666, 0.187657227}};
    static const double tau[][B] = {{0.313692, 0.311548, 0.318843, 0.307485},
                                    {0.323318, 0.321766, 0.33489, 0.31096},
                                    {0.329288, 0.330038, 0.347437, 0.311248}};
    static const double s[][B] = {{4.694286, 1.301381, 4.206226, 2.669447},
                                  {5.186978, 1.505406, 4.498647, 3.110608}};
    struct loss_param param = loss_isogclr.param;
    float state[B * 4] = {0};

    param.tau = 0.3;
    param.eta = 0.03;
    param.beta_u = 0.5;
    param.reference = 1;
    for (size_t visit = 0; visit < 3; visit++) {
        struct row got = at_unit_rows(&loss_isogclr, &param, state);

        agree(&got, want + visit, "isogclr, the reference");
        for (size_t k = 0; k < B; k++) {
            T_NEAR(state[k * 4 + TAU], tau[visit][k], 2e-6, "temperature %zu",
                   k);
            if (visit < 2)
                T_NEAR(exp(state[k * 4]), s[visit][k], 2e-6, "mean %zu", k);
        }
        if (visit == 0)
            T_NEAR(state[2 * 4 + MOMENTUM], -0.628085, 2e-6, "momentum");
    }
}

static double
report_find(const struct loss_report *report, const char *name)
{
    for (size_t i = 0; i < report->n_more; i++)
        if (!strcmp(report->more[i].name, name))
            return report->more[i].value;
    return NAN;
}

/* Without memory, sogclr is dcl times 2 tau, and the slope in a temperature is
 * rho - KL. */
static void
without_memory(void)
{
    const struct loss_batch batch = {.b = B, .d = D};
    struct loss_param param = loss_isogclr.param;
    float z[N * D], s[N * N], same[N * N], third[N * N];
    float state[B * 4] = {0}, global[B * 2] = {0};
    struct loss_report report = {0}, other = {0}, global_report = {0};
    double off = 0, momentum = 0;

    book_rows(z);
    num_unit_rows(N, D, z, z, NULL);
    num_gemm_nt(N, N, D, 1, z, z, 0, s);
    memcpy(same, s, sizeof s);
    memcpy(third, s, sizeof s);
    param.gamma = param.beta_u = 1;
    loss_isogclr.run(&batch, &param, state, s, &report);
    loss_dcl.run(&batch, &param, NULL, same, &other);
    loss_sogclr.run(&batch, &param, global, third, &global_report);
    for (size_t i = 0; i < N * N; i++)
        off = fmax(off, fmax(fabs(s[i] - 2 * param.tau * same[i]),
                             fabs(s[i] - third[i])));
    T(off < 1e-6,
      "gamma 1, with and without temperatures: 2 tau times dcl, off by %.1e",
      off);
    T_NEAR(report_find(&report, "weight"), 1, 1e-6, "weights sum to 1");
    T_NEAR(report_find(&report, "kl"), report_find(&other, "kl"), 1e-6,
           "and the same divergence");
    for (size_t k = 0; k < B; k++)
        momentum += state[k * 4 + MOMENTUM] / B;
    T_NEAR(momentum, param.rho - report_find(&report, "kl"), 1e-6,
           "slope: rho - KL");
}

/* Temperatures of a batch that never changes: S symmetric, of deviation .3. */
static void
temperatures_settle(double rho, double least, double most)
{
    enum { MANY = 16, ROWS = 2 * MANY };
    const struct loss_batch batch = {.b = MANY, .d = 1};
    struct loss_param param = loss_isogclr.param;
    struct loss_report report = {0};
    float state[MANY * 4] = {0}, fixed[ROWS * ROWS], s[ROWS * ROWS];
    double x[12 * ROWS * ROWS], lowest = 1, highest = 0, kl;

    book_lcg(12 * ROWS * ROWS, 9, x);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c <= r; c++) {
            double sum = 0;

            for (size_t i = 0; i < 12; i++)
                sum += x[(r * ROWS + c) * 12 + i];
            fixed[r * ROWS + c] = fixed[c * ROWS + r] = (float)(0.3 * sum);
        }
    param.eta = 0.03;
    param.rho = rho;
    for (int visit = 0; visit < 4000; visit++) {
        memcpy(s, fixed, sizeof s);
        report.n_more = 0;
        loss_isogclr.run(&batch, &param, state, s, &report);
    }
    kl = report_find(&report, "kl");
    for (size_t k = 0; k < MANY; k++) {
        lowest = fmin(lowest, state[k * 4 + TAU]);
        highest = fmax(highest, state[k * 4 + TAU]);
    }
    T(lowest >= least - 1e-6 && highest <= most + 1e-6,
      "rho %g: temperatures settle in %.3f-%.3f", rho, lowest, highest);
    if (rho == 0.3)
        T(kl > 0.29 && kl < 0.31, "KL %.3f is rho, nearly", kl);
}

/* FlatNCE's gradient is that of dcl, by its definition. */
static void
flat_is_decoupled(void)
{
    const struct loss_batch batch = {.b = B, .d = D};
    const struct loss_param param = {.tau = 0.1};
    float z[N * D], s[N * N], same[N * N];
    struct loss_report report = {0}, other = {0};

    book_rows(z);
    num_unit_rows(N, D, z, z, NULL);
    num_gemm_nt(N, N, D, 1, z, z, 0, s);
    memcpy(same, s, sizeof s);
    loss_flatclr.run(&batch, &param, NULL, s, &report);
    loss_dcl.run(&batch, &param, NULL, same, &other);
    T(!memcmp(s, same, sizeof s), "flatclr has the weights of dcl");
}

/* What the reference keeps after so many visits of a constant g = 1. */
static double
sum_after(int visits, double gamma)
{
    const struct loss_batch batch = {.b = 2, .d = 1};
    const struct loss_param param = {.tau = 1, .gamma = gamma, .reference = 1};
    float state[4] = {0};

    for (int visit = 0; visit < visits; visit++) {
        struct loss_report report = {0};
        float s[16] = {0};

        loss_sogclr.run(&batch, &param, state, s, &report);
    }
    return exp(state[0]);
}

/* Its fixed point, and none. */
static void
sums_of_views(void)
{
    struct loss_param param = {.tau = 1, .gamma = 0.9, .reference = 1};
    struct err err;

    T_NEAR(sum_after(200, 0.9), 2.25, 1e-5, "gamma .9: 2.25 g");
    T_NEAR(sum_after(200, 0.8), 8.0 / 3, 1e-5, "gamma .8: 2.667 g");
    T_NEAR(sum_after(10, 0.5), 10, 1e-4, "gamma .5: g more each visit");
    T_NEAR(sum_after(20, 0.5), 20, 1e-4, "and for ever");
    T(sum_after(20, 0.4) > 2 * sum_after(10, 0.4), "gamma .4: faster still");
    T(!loss_objective_check(&loss_sogclr, &param, 2, 2, &err), "is allowed");
    param.gamma = 0.5;
    T(loss_objective_check(&loss_sogclr, &param, 2, 2, &err) &&
          strstr(err.msg, "without bound"),
      "gamma .5 is not");
    param.reference = 0;
    T(!loss_objective_check(&loss_sogclr, &param, 2, 2, &err),
      "but for the right form");
}

static void
hopeless_settings(void)
{
    struct loss_param param = loss_isogclr.param;
    struct err err;

    param.rho = 1.8; // log 6 = 1.79
    T(loss_objective_check(&loss_isogclr, &param, 4, 5, &err) &&
          strstr(err.msg, "6 negatives"),
      "rho beyond log m");
    T(!loss_objective_check(&loss_isogclr, &param, 5, 5, &err), "within");
    T(!loss_objective_check(&loss_isogclr, &param, 0, 0, &err), "not known");
    param.tau = 2;
    T(loss_objective_check(&loss_isogclr, &param, 5, 5, &err) &&
          strstr(err.msg, "tau-max"),
      "tau beyond its bounds");
    param.gamma = 0;
    T(loss_objective_check(&loss_isogclr, &param, 5, 5, &err) &&
          loss_objective_check(&loss_sogclr, &param, 5, 5, &err),
      "gamma 0");
    T(loss_objective_check(&loss_tau_simclr, &param, 5, 1, &err) &&
          strstr(err.msg, "more than 1 columns"),
      "no column beside the certainty");
}

int
main(void)
{
    without_state();
    with_certainty();
    negatives_far_off();
    sogclr_visits();
    isogclr_visits();
    without_memory();
    temperatures_settle(0.3, 0.26, 0.46);
    temperatures_settle(0.01, 1, 1);
    // log 30 is 3.4; up to about 4.2 running means that lag keep some above
    temperatures_settle(5, 0.05, 0.05);
    flat_is_decoupled();
    sums_of_views();
    hopeless_settings();
    return t_done();
}
