#include "running.h"

#include <math.h>
#include <stdlib.h>

#include "loss/rows.h"
#include "util/mem.h"

/* The bound of |G|. */
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

void
loss_running_store(float *state, double one, double two)
{
    state[RUNNING_LOG_U] = (float)(loss_log_add(one, two) - log(2));
    state[RUNNING_SEEN] = 1;
}

/* G of a row without rho: the gradient of its temperature. */
static double
find_slope(const struct loss_settings *set, const float *state, double log_g,
           double log_u, double mean)
{
    const double by = set->value[OLD_MEAN] && state[RUNNING_SEEN]
                          ? (double)state[RUNNING_LOG_U]
                          : log_u;

    return by - exp(log_g - by) * mean;
}

struct loss_running_row
loss_running_row(const struct loss_batch *batch,
                 const struct loss_settings *set, size_t r, double tau,
                 const float *state, float *row)
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const size_t partner = loss_partner(b, r);
    const double score = row[partner], scale = 1 / (double)b;
    const struct loss_row q =
        loss_row_partition(b, rows, r, 1 / tau, LOSS_NEGATIVES, row, row);
    const double log_g =
        q.log_z - log((double)loss_mask_count(b, LOSS_NEGATIVES));
    const double log_u = loss_running_mean(set, state, log_g);
    const double weight = exp(log_g - log_u);
    const float times = (float)(scale * weight);

    for (size_t c = 0; c < 2 * b; c++)
        row[c] *= times;
    row[partner] -= (float)scale;
    return (struct loss_running_row){
        .log_u = log_u,
        .weight = weight,
        .value = weight * q.mean - score,
        .kl = q.mean / tau - log_g,
        .slope = find_slope(set, state, log_g, log_u, q.mean / tau),
    };
}

void
loss_running_add(struct running_sums *sums, const struct loss_running_row *row)
{
    sums->value += row->value;
    sums->weight += row->weight;
    sums->kl += row->kl;
}

void
loss_running_report(const struct loss_batch *batch,
                    const struct running_sums *sums, struct loss_report *report)
{
    const double n = 2 * (double)batch->b;

    report->value = 2 * sums->value / n;
    values_add(&report->more, "row_weight", sums->weight / n);
    values_add(&report->more, "kl", sums->kl / n);
}

/* Sets the initial temperature of images not seen before. */
static void
init_temperatures(const struct loss_settings *set, size_t b, float *state)
{
    for (size_t k = 0; k < b; k++, state += RUNNING_ISOGCLR)
        if (!state[RUNNING_SEEN])
            state[RUNNING_TAU] = (float)set->value[TAU];
}

/* Updates an image's momentum by G of both views, and its temperature by the
 * momentum. */
static void
update_temperature(const struct loss_settings *set, double one, double two,
                   float *state)
{
    const double bound = set->value[OLD_MEAN] ? INFINITY : steepest;
    const double slope =
        fmin(fmax((one + two) / 2 + set->value[RHO], -bound), bound);
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

void
loss_running_temperatures(const struct loss_batch *batch,
                          const struct loss_settings *set, running_fn *fn,
                          float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    struct loss_running_row *each = mem_array(2 * b, sizeof *each);
    struct running_sums sums = {0};

    init_temperatures(set, b, state);
#pragma omp parallel for schedule(static) if (2 * b * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < 2 * b; r++)
        each[r] = fn(batch, set, r, state, s + r * rows);
    for (size_t k = 0; k < b; k++) {
        float *own = state + k * RUNNING_ISOGCLR;
        const struct loss_running_row *one = each + k, *two = each + b + k;

        loss_running_add(&sums, one);
        loss_running_add(&sums, two);
        loss_running_store(own, one->log_u, two->log_u);
        update_temperature(set, one->slope, two->slope, own);
    }
    loss_running_report(batch, &sums, report);
    free(each);
    loss_running_temperatures_report(b, state, report);
}

int
loss_running_check_gamma(const struct loss_settings *set, size_t b,
                         struct err *err)
{
    (void)b;
    if (!(set->value[GAMMA] > 0))
        return err_set(err, "gamma 0 never updates the running mean: want more "
                            "than 0");
    return 0;
}

int
loss_running_check(const struct loss_settings *set, size_t b,
                   enum loss_mask mask, struct err *err)
{
    const size_t m = b ? loss_mask_count(b, mask) : 0;

    if (loss_running_check_gamma(set, b, err))
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
