#include <math.h>

#include "loss/rows.h"

#include "isogclr_sqh.h"
#include "running.h"

/* The margin of a row's partner over the others. */
static const double margin = 0.8;

/* One row: its scores, its partner's score, and the temperatures: of the
 * columns (by_column), in state[c mod b], or of the row's image. */
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

static struct loss_running_row
sqh_row(const struct loss_batch *batch, const struct loss_settings *set,
        size_t r, const float *state, float *row)
{
    const size_t b = batch->b, n = 2 * b, partner = loss_partner(b, r);
    const struct hinge h = {b, r, row, state, row[partner], set->reference};
    const struct softmax q = softmax_of(&h);
    const double log_m = log((double)loss_mask_count(b, LOSS_BATCH));
    const double log_g = q.log_z - log_m;
    const double log_u =
        loss_running_mean(set, state + r % b * RUNNING_ISOGCLR, log_g);
    const double weight = exp(log_g - log_u);
    double all = 0;

    for (size_t c = 0; c < n; c++) {
        const double a = exp(exponent_at(&h, c) - log_m - log_u);
        const double w = c == r ? 0 : 2 * a * hinge_at(&h, c) / (double)b;

        all += w;
        row[c] = (float)w;
    }
    row[partner] -= (float)all;
    for (size_t c = n; c < n + batch->extra; c++)
        row[c] = 0;
    return (struct loss_running_row){
        .log_u = log_u,
        .weight = weight,
        .value = weight * q.mean,
        .kl = q.exponent - log_g,
        .slope = log_u - weight * q.exponent,
    };
}

static void
isogclr_sqh_run(const struct loss_batch *batch, const struct loss_settings *set,
                float *state, float *s, struct loss_report *report)
{
    loss_running_temperatures(batch, set, sqh_row, state, s, report);
}

static int
isogclr_sqh_check(const struct loss_settings *set, size_t b, struct err *err)
{
    return loss_running_check(set, b, LOSS_BATCH, err);
}

static const struct param params[] = {RUNNING_PARAMS, {0}};

const struct loss_objective loss_isogclr_sqh = {
    .name = "isogclr_sqh",
    .summary = "isogclr on a squared hinge",
    .params = params,
    .head = "512-128",
    .columns = RUNNING_ISOGCLR,
    .column = loss_running_column,
    .initial = loss_running_initial,
    .check = isogclr_sqh_check,
    .run = isogclr_sqh_run,
};
