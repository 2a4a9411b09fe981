#include <math.h>
#include <stdlib.h>

#include "util/mem.h"

#include "sogclr.h"

/* ---- rows of a batch ----------------------------------------------------- */

/* Bound of |G|, the gradient of a temperature (isogclr, below). */
static const double steepest = 3;

const char *const loss_running_column[] = {"log_u", "seen", "momentum", "tau"};
const float loss_running_initial[] = {0, 0, 0, 0};

double
loss_running_mean(const struct loss_settings *set, const float *state,
                  double log_g)
{
    const double gamma = set->value[GAMMA];

    if (!state[RUNNING_SEEN])
        return set->reference ? log(gamma) + log_g : log_g;
    return loss_log_add(log1p(-gamma) + state[RUNNING_LOG_U],
                        log(gamma) + log_g);
}

/* The term of a row of SogCLR; its slope is G without rho, with OLD_MEAN by the
 * old mean. */
static struct loss_term
running_row(const struct loss_batch *batch, const struct loss_settings *set,
            double tau, const float *state, const struct loss_row *q)
{
    const struct loss_views views = loss_views_of(batch);
    const double scale = 2 / (double)(views.v * views.b);
    const double log_g =
        q->log_z - log((double)loss_mask_count(&views, LOSS_NEGATIVES));
    const double log_u = loss_running_mean(set, state, log_g);
    const double weight = exp(log_g - log_u);
    const double by = set->value[OLD_MEAN] && state[RUNNING_SEEN]
                          ? (double)state[RUNNING_LOG_U]
                          : log_u;

    return (struct loss_term){
        .scale = scale * weight,
        .pull = scale,
        .log_u = log_u,
        .weight = weight,
        .value = scale * (weight * q->mean - q->score),
        .kl = q->mean / tau - log_g,
        .slope = by - exp(log_g - by) * (q->mean / tau),
    };
}

/* Updates an image's momentum by the mean G of its views, and its temperature
 * by the momentum. */
static void
update_temperature(const struct loss_settings *set, double mean, float *state)
{
    const double bound = set->value[OLD_MEAN] ? INFINITY : steepest;
    const double slope = fmin(fmax(mean + set->value[RHO], -bound), bound);
    double tau;

    state[RUNNING_MOMENTUM] =
        (float)((1 - set->value[BETA_U]) * state[RUNNING_MOMENTUM] +
                set->value[BETA_U] * slope);
    tau = state[RUNNING_TAU] - set->value[ETA] * state[RUNNING_MOMENTUM];
    state[RUNNING_TAU] =
        (float)fmin(fmax(tau, set->value[TAU_MIN]), set->value[TAU_MAX]);
}

static int
compare_floats(const void *one, const void *two)
{
    const float x = *(const float *)one, y = *(const float *)two;

    return (x > y) - (x < y);
}

void
loss_running_temperatures_report(size_t b, const float *state,
                                 struct loss_report *report)
{
    float *tau = mem_array(b, sizeof *tau);
    double sum = 0;

    for (size_t k = 0; k < b; k++) {
        tau[k] = state[k * RUNNING_ISOGCLR + RUNNING_TAU];
        sum += tau[k];
    }
    qsort(tau, b, sizeof *tau, compare_floats);
    values_add(&report->more, "tau_mean", sum / (double)b);
    values_add(&report->more, "tau_min", tau[0]);
    values_add(&report->more, "tau_25", tau[(b - 1) / 4]);
    values_add(&report->more, "tau_50", tau[(b - 1) / 2]);
    values_add(&report->more, "tau_75", tau[3 * (b - 1) / 4]);
    values_add(&report->more, "tau_max", tau[b - 1]);
    free(tau);
}

/* Updates the state by the terms of all rows. */
static void
finish_running(const struct loss_batch *batch, const struct loss_settings *set,
               size_t columns, const struct loss_term *term, float *state,
               struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t b = views.b;

    for (size_t k = 0; k < b; k++) {
        float *own = state + k * columns;
        double log_u = term[k].log_u, slope = term[k].slope;

        for (size_t w = 1; w < views.v; w++) {
            log_u = loss_log_add(log_u, term[w * b + k].log_u);
            slope += term[w * b + k].slope;
        }
        // the mean of the views
        own[RUNNING_LOG_U] = (float)(log_u - log((double)views.v));
        own[RUNNING_SEEN] = 1;
        if (columns == RUNNING_ISOGCLR)
            update_temperature(set, slope / (double)views.v, own);
    }
    if (columns == RUNNING_ISOGCLR)
        loss_running_temperatures_report(b, state, report);
}

int
loss_running_check_gamma(const struct loss_settings *set,
                         const struct loss_views *views, struct err *err)
{
    (void)views;
    if (!(set->value[GAMMA] > 0))
        return err_set(err, "gamma 0 never updates the running mean: want more "
                            "than 0");
    return 0;
}

int
loss_running_check(const struct loss_settings *set,
                   const struct loss_views *views, enum loss_mask mask,
                   struct err *err)
{
    const size_t m = views->b ? loss_mask_count(views, mask) : 0;

    if (loss_running_check_gamma(set, views, err))
        return -1;
    if (!(set->value[TAU_MIN] <= set->value[TAU] &&
          set->value[TAU] <= set->value[TAU_MAX]))
        return err_set(err, "tau %g is not within tau-min %g and tau-max %g",
                       set->value[TAU], set->value[TAU_MIN],
                       set->value[TAU_MAX]);
    if (m && !(set->value[RHO] < log((double)m)))
        return err_set(err,
                       "rho %g: no softmax over %zu negatives is further than "
                       "%.3f from uniform, so every temperature would fall to "
                       "tau-min: want less",
                       set->value[RHO], m, log((double)m));
    return 0;
}

/* ---- the objectives ------------------------------------------------------ */

/*
 * SogCLR: the global contrastive loss, with a running mean over an image's
 * visits as the estimate of its denominator.
 *
 *     g_r  = 1/m sum_c exp(s_rc / tau)          m = n - v rows of other images
 *     u_r  = (1 - gamma) u_image + gamma g_r    u_image: mean of its views
 *     a_rc = exp(s_rc / tau) / (m u_r)          a constant
 *     L    = 2/n sum_r ( sum_c a_rc s_rc - mean_p s_rp )
 *     W_rc = 2/n ( a_rc - [c in P_r] / |P_r| )
 *
 * Yuan et al. 2022, arXiv:2202.12387, algorithm 1, for two views; the loss of
 * more is that of loss/global.h, with gamma 1 that of dcl.  The scale is the
 * authors', 2 tau times that of dcl; with gamma 1 the gradients are otherwise
 * the same.  The first visit of an image has gamma 1.
 *
 * State: log u, and whether the image was seen.  With logarithms no tau
 * overflows.  The reference code (of the iSogCLR paper) does not treat the
 * first visit separately, and stores the sum of the views, which grows without
 * bound for gamma <= .5: that is refused.
 *
 * Reports `row_weight`, the mean of sum_c a_rc, near 1 if u is near g, and
 * `kl`, the divergence of the softmax of a row from uniform, mean over rows.
 */

static const struct param sogclr_params[] = {
    LOSS_PARAM_TAU(0.1),
    RUNNING_PARAM_GAMMA(0.9),
    {0},
};

static void
sogclr_finish(const struct loss_batch *batch, const struct loss_settings *set,
              const struct loss_term *term, float *state,
              struct loss_report *report)
{
    finish_running(batch, set, RUNNING_SOGCLR, term, state, report);
    for (size_t k = 0; k < batch->b && set->reference; k++) // the sum of views
        state[k * RUNNING_SOGCLR + RUNNING_LOG_U] += (float)log(2);
}

static int
sogclr_check(const struct loss_settings *set, const struct loss_views *views,
             struct err *err)
{
    if (loss_running_check_gamma(set, views, err))
        return -1;
    if (set->reference && set->value[GAMMA] <= 0.5)
        return err_set(err,
                       "gamma %g: the reference stores the sum of both views, "
                       "which grows without bound: want more than 0.5",
                       set->value[GAMMA]);
    return 0;
}

const struct loss_objective loss_sogclr = {
    .name = "sogclr",
    .summary = "global loss, denominators by running means",
    .params = sogclr_params,
    .head = "512-128",
    .scale = 2,
    .scale_by_tau = 1,
    .columns = RUNNING_SOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = sogclr_check,
    .mask = {LOSS_NEGATIVES, LOSS_NEGATIVES},
    .row = running_row,
    .weight = "row_weight",
    .kl = "kl",
    .finish = sogclr_finish,
};

/*
 * iSogCLR: SogCLR with a learned temperature for each image, such that
 * negatives are equally hard for all images: the Kullback-Leibler divergence of
 * their softmax from uniform is rho.
 *
 *     a, u, L, W as in sogclr with tau_image (old) for tau
 *     G_r     = log u_r + rho - sum_c a_rc s_rc / tau_image
 *     G_image = mean of its views, within [-3,3]
 *     mom'    = (1 - beta_u) mom + beta_u G_image
 *     tau'    = tau_image - eta mom', within [tau_min,tau_max]
 *
 * Qiu et al. 2023, arXiv:2305.11965, algorithm 1, with the new u in G as in the
 * authors' code.  With old-mean G has the old u if the image was seen, and no
 * bound, as in algorithm 1; fold its factor 1 / N into eta.  If u equals g,
 * G = rho - KL(softmax || uniform): rho >= log m would lower every temperature
 * to tau_min, and is refused.  tau is the initial temperature.
 *
 * State: log u, seen, momentum, temperature (0 until seen).  The reference code
 * does not treat the first visit separately.
 *
 * Reports row_weight and kl as SogCLR, and mean, least and largest temperature
 * of the batch's images (tau_mean, tau_min, tau_max).
 */

static void
isogclr_finish(const struct loss_batch *batch, const struct loss_settings *set,
               const struct loss_term *term, float *state,
               struct loss_report *report)
{
    finish_running(batch, set, RUNNING_ISOGCLR, term, state, report);
}

static int
isogclr_check(const struct loss_settings *set, const struct loss_views *views,
              struct err *err)
{
    return loss_running_check(set, views, LOSS_NEGATIVES, err);
}

#define RUNNING_PARAMS                                                       \
    [TAU] = {PARAM_REAL("tau", 0.7, 1e-4, 1e4, "temperature"),               \
             .schedule = PARAM_LEARNT},                                      \
    RUNNING_PARAM_GAMMA(0.8),                                                \
    [RHO] = {PARAM_REAL(                                                     \
        "rho", 0.3, 0, 100,                                                  \
        "divergence from uniform that temperatures are adjusted to")},       \
    [ETA] = {PARAM_REAL("eta", 0.01, 0, 100,                                 \
                        "learning rate of the temperatures"),                \
             .schedule = PARAM_TO_END, .end = 1e-4},                         \
    [BETA_U] = {PARAM_REAL("beta-u", 0.9, 0, 1,                              \
                           "weight of the new gradient in their momentum")}, \
    [TAU_MIN] = {PARAM_REAL("tau-min", 0.05, 1e-4, 1e4,                      \
                            "smallest temperature")},                        \
    [TAU_MAX] = {PARAM_REAL("tau-max", 1, 1e-4, 1e4, "largest temperature")}

static const struct param isogclr_params[] = {
    RUNNING_PARAMS,
    [OLD_MEAN] = {PARAM_FLAG("old-mean",
                             "temperatures as in the paper: by the old mean, "
                             "without a bound")},
    {0},
};

const struct loss_objective loss_isogclr = {
    .name = "isogclr",
    .summary = "sogclr with a temperature learnt for each image",
    .params = isogclr_params,
    .head = "512-128",
    .scale = 2,
    .scale_by_tau = 1,
    .columns = RUNNING_ISOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = isogclr_check,
    .mask = {LOSS_NEGATIVES, LOSS_NEGATIVES},
    .own_tau = RUNNING_TAU,
    .row = running_row,
    .weight = "row_weight",
    .kl = "kl",
    .finish = isogclr_finish,
};

/*
 * iSogCLR on a squared hinge, the second form in the authors' code:
 *
 *     l_rc = max( 0, s_rc - s_r,partner + 0.8 )^2     over all c except r
 *     g_r  = 1/m sum_c exp(l_rc / tau),  m = 2b - 1
 *     L    = 1/b sum_rc a_rc l_rc,       a_rc = exp(l_rc / tau) / (m u_r)
 *
 * with u, temperatures, state and report as in isogclr, l_rc for s_rc.
 * Not in the paper (arXiv:2305.11965).  tau is that of the row's image; the
 * reference code uses that of the column's image.
 */

/* The margin of a row's partner over the others. */
static const double margin = 0.8;

/* One row: its scores and its partner's.  With by_column a column has the
 * temperature of its own image, state[c mod b], else of the row's. */
struct hinge {
    size_t b, r;
    const float *row, *state;
    double score;
    int by_column;
};

static double
hinge_at(const struct hinge *h, size_t c)
{
    const double x = h->row[c] - h->score + margin;

    return x < 0 ? 0 : x; // preserves NaN
}

/* l / tau */
static double
exponent_at(const struct hinge *h, size_t c)
{
    const size_t image = (h->by_column ? c : h->r) % h->b;
    const double x = hinge_at(h, c);

    return x * x / h->state[image * RUNNING_ISOGCLR + RUNNING_TAU];
}

/* The softmax of the exponents: log_z, sum_c p l, sum_c p l / tau. */
struct softmax {
    double log_z, mean, exponent;
};

static struct softmax
softmax_of(const struct hinge *h)
{
    const size_t n = 2 * h->b;
    double max = 0, sum = 0, mean = 0, moment = 0;

    for (size_t c = 0; c < n; c++)
        if (c != h->r)
            max = fmax(max, exponent_at(h, c));
    for (size_t c = 0; c < n; c++) {
        const double x = exponent_at(h, c), l = hinge_at(h, c);
        const double e = c == h->r ? 0 : exp(x - max);

        sum += e;
        mean += e * l * l;
        moment += e * x;
    }
    return (struct softmax){log(sum) + max, mean / sum, moment / sum};
}

struct sqh {
    const struct loss_batch *batch;
    const struct loss_settings *set;
    const float *state;
    struct loss_term *term; /* [n] */
};

static void
sqh_weigh(void *self, size_t r, float *row)
{
    const struct sqh *all = self;
    const struct loss_views views = loss_views_of(all->batch);
    const size_t b = views.b, n = 2 * b, partner = loss_partner(b, r);
    const struct hinge h = {
        b, r, row, all->state, row[partner], all->set->reference};
    const struct softmax q = softmax_of(&h);
    const double log_m = log((double)loss_mask_count(&views, LOSS_BATCH));
    const double log_g = q.log_z - log_m;
    const double log_u = loss_running_mean(
        all->set, all->state + r % b * RUNNING_ISOGCLR, log_g);
    const double weight = exp(log_g - log_u);
    double sum = 0;

    for (size_t c = 0; c < n; c++) {
        const double a = exp(exponent_at(&h, c) - log_m - log_u);
        const double w = c == r ? 0 : 2 * a * hinge_at(&h, c) / (double)b;

        sum += w;
        row[c] = (float)w;
    }
    row[partner] -= (float)sum;
    all->term[r] = (struct loss_term){
        .log_u = log_u,
        .weight = weight,
        .value = weight * q.mean / (double)b,
        .kl = q.exponent - log_g,
        .slope = log_u - weight * q.exponent,
    };
}

static void
isogclr_sqh_run(const struct loss_batch *batch, const struct loss_settings *set,
                float *state, const float *v, float *dv,
                struct loss_report *report)
{
    const size_t n = 2 * batch->b;
    struct sqh all = {batch, set, state, mem_array(n, sizeof *all.term)};

    for (size_t k = 0; k < batch->b; k++)
        if (!state[k * RUNNING_ISOGCLR + RUNNING_SEEN])
            state[k * RUNNING_ISOGCLR + RUNNING_TAU] = (float)set->value[TAU];
    loss_by_stripes(batch, &(struct loss_stripes){n, 0, n, sqh_weigh, &all}, v,
                    dv, &report->share);
    loss_terms_report(&loss_isogclr_sqh, set, batch, all.term, state, report);
    free(all.term);
}

static int
isogclr_sqh_check(const struct loss_settings *set,
                  const struct loss_views *views, struct err *err)
{
    return loss_running_check(set, views, LOSS_BATCH, err);
}

const struct loss_objective loss_isogclr_sqh = {
    .name = "isogclr_sqh",
    .summary = "isogclr on a squared hinge",
    .params = (const struct param[]){RUNNING_PARAMS, {0}},
    .head = "512-128",
    .columns = RUNNING_ISOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = isogclr_sqh_check,
    .pairs = "its margin is over the score of one partner",
    .weight = "row_weight",
    .kl = "kl",
    .finish = isogclr_finish,
    .run = isogclr_sqh_run,
};
