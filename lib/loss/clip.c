#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"

#include "objectives.h"

/*
 * Objectives for pairs of an image and its text, with a temperature that is
 * learnt unless `fixed-tau` is set.
 */
enum { TAU = LOSS_TAU, FIXED, OWN };

const char loss_two_kinds[] =
    "it compares two kinds, such as an image and its text";

#define LEARNT_TAU(v)                                        \
    [TAU] = {PARAM_REAL("tau", v, 1e-4, 1e4, "temperature"), \
             .schedule = PARAM_LEARNT},                      \
    [FIXED] = {                                              \
        PARAM_FLAG("fixed-tau", "the temperature stays, it is not learnt")}

/* log(1/tau), from 0 to log 100. */
#define LOG_BETA                                           \
    {                                                      \
        "logit_scale", TAU, FIXED, 1, 0, 4.605170185988092 \
    }

/*
 * CLIP: each row of one view picks its partner among the rows of the other,
 *
 *     L    = 1/n sum_r [ log sum_c exp(beta s_rc) - beta s_r,partner ]
 *     W_rc = beta/n ( p_rc - [c = partner] ),
 *
 * c over the b rows of the other view, including the partner, p the softmax;
 * beta = 1/tau.  If the views are an image and its text this is the mean of
 * both directions.  It is half of infonce at the same tau.
 *
 * log beta is learned unless fixed-tau: dL/d(log beta) = sum_rc W_rc s_rc, with
 * beta clipped to 1 .. 100.  Radford and others 2021, "Learning Transferable
 * Visual Models From Natural Language Supervision", figure 3;
 * lib/algorithms.md 3.8.
 */

static const struct param clip_params[] = {LEARNT_TAU(0.07), {0}};
static const struct loss_scalar clip_scalars[] = {LOG_BETA, {0}};

struct clip_row {
    double value, slope;
};

/* Replaces S by W and returns L; *slope is dL/d(log beta). */
static double
weigh_clip(const struct loss_batch *batch, double tau, float *s, double *slope)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t b = batch->b, n = 2 * b, rows = n + batch->extra;
    const double beta = 1 / tau, scale = beta / (double)n;
    struct clip_row *each = mem_array(n, sizeof *each);
    double value = 0;

#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        float *row = s + r * rows;
        const size_t partner = loss_partner(b, r);
        const double score = row[partner];
        const struct loss_row q =
            loss_row_partition(&views, rows, r, beta, LOSS_CROSS, row, row);

        num_scale(rows, (float)scale, row);
        loss_partner_balance(rows, partner, row);
        each[r] = (struct clip_row){(q.log_z - beta * score) / (double)n,
                                    scale * (q.mean - score)};
    }
    *slope = 0;
    for (size_t r = 0; r < n; r++) {
        value += each[r].value;
        *slope += each[r].slope;
    }
    free(each);
    return value;
}

static void
clip_run(const struct loss_batch *batch, const struct loss_settings *set,
         float *state, float *s, struct loss_report *report)
{
    (void)state;
    report->value = weigh_clip(batch, set->value[TAU], s, report->slope);
}

const struct loss_objective loss_clip = {
    .name = "clip",
    .summary = "InfoNCE across the views, temperature learnt",
    .params = clip_params,
    .head = "512-128",
    .scalars = clip_scalars,
    .pairs = loss_two_kinds,
    .run = clip_run,
};

/*
 * CyCLIP: CLIP, and similarities that agree within the views and across them,
 *
 *     L = CLIP + l1/b sum_ij D_ij^2 + l2/b sum_ij X_ij^2
 *     D_ij = v_i.v_j - v_(b+i).v_(b+j)        within view 0 and within view 1
 *     X_ij = v_i.v_(b+j) - v_j.v_(b+i)        across, both ways
 *
 *     W_i,j   += 2 l1/b D_ij      W_(b+i),(b+j) -= 2 l1/b D_ij
 *     W_i,b+j += 4 l2/b X_ij,
 *
 * i, j < b; l1 is `within`, l2 is `across`.  Goel and others 2022,
 * "CyCLIP: Cyclic Contrastive Language-Image Pretraining", equations 3 and 4;
 * lib/algorithms.md 3.8.  Reports the sums as `within` and `across`.
 */

enum { WITHIN = OWN, ACROSS };

static const struct param cyclip_params[] = {
    LEARNT_TAU(0.07),
    [WITHIN] = {PARAM_REAL("within", 0.25, 0, 1e6,
                           "weight of similarities within the views")},
    [ACROSS] = {PARAM_REAL("across", 0.25, 0, 1e6,
                           "weight of similarities across the views")},
    {0},
};

/* Adds the two terms to W, and sets sums to their values.  s is a copy of S. */
static void
weigh_cycles(const struct loss_batch *batch, const struct loss_settings *set,
             const float *s, float *w, double sums[2])
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const double within = set->value[WITHIN] / (double)b;
    const double across = set->value[ACROSS] / (double)b;

    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            const double d =
                (double)s[i * rows + j] - s[(b + i) * rows + b + j];
            const double x = (double)s[i * rows + b + j] - s[j * rows + b + i];

            w[i * rows + j] += (float)(2 * within * d);
            w[(b + i) * rows + b + j] -= (float)(2 * within * d);
            w[i * rows + b + j] += (float)(4 * across * x);
            sums[0] += within * d * d;
            sums[1] += across * x * x;
        }
}

static void
cyclip_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t count = 2 * batch->b * (2 * batch->b + batch->extra);
    float *copy = mem_array(count, sizeof *copy);
    double sums[2] = {0};

    (void)state;
    memcpy(copy, s, count * sizeof *copy);
    report->value = weigh_clip(batch, set->value[TAU], s, report->slope);
    weigh_cycles(batch, set, copy, s, sums);
    report->value += sums[0] + sums[1];
    values_add(&report->more, "within", sums[0]);
    values_add(&report->more, "across", sums[1]);
    free(copy);
}

const struct loss_objective loss_cyclip = {
    .name = "cyclip",
    .summary = "clip, and similarities that agree between the views",
    .params = cyclip_params,
    .head = "512-128",
    .scalars = clip_scalars,
    .pairs = loss_two_kinds,
    .run = cyclip_run,
};

/*
 * SigLIP: a sigmoid classifies each row of view 0 with each row of view 1 as a
 * pair or not,
 *
 *     x_ij = beta s_i,b+j + c        y_ij = 1 for i = j, else -1
 *     L = 1/b sum_ij log(1 + exp(-y_ij x_ij))        i, j < b
 *     W_i,b+j = -beta/b y_ij sigmoid(-y_ij x_ij),
 *
 * beta = 1/tau and c are learned, with dL/d(log beta) = sum W s and dL/dc =
 * sum W / beta; c starts at bias, and beta is clipped to 1 .. 100.  With
 * fixed-tau only c is learned.  Zhai and others 2023, "Sigmoid Loss for
 * Language Image Pre-Training", equation 1 and algorithm 1;
 * lib/algorithms.md 3.8.
 */

enum { BIAS = OWN };

static const struct param siglip_params[] = {
    LEARNT_TAU(0.1),
    [BIAS] = {PARAM_REAL("bias", -10, -1000, 1000,
                         "what is added to scores at the start"),
              .schedule = PARAM_LEARNT},
    {0},
};

static const struct loss_scalar siglip_scalars[] = {
    LOG_BETA,
    {"logit_bias", BIAS, LOSS_NEVER_FIXED, 0, -INFINITY, INFINITY},
    {0},
};

static void
siglip_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const double beta = 1 / set->value[TAU], scale = beta / (double)b;

    (void)state;
    for (size_t i = 0; i < b; i++)
        for (size_t c = 0; c < rows; c++) {
            float *at = s + i * rows + c;
            const double y = c == b + i ? 1 : -1;
            const double x = -y * (beta * *at + set->value[BIAS]);
            const double w = -scale * y / (1 + exp(-x));

            if (c >= b && c < 2 * b) {
                report->value += loss_log_add(0, x) / (double)b;
                report->slope[0] += w * *at;
                report->slope[1] += w / beta;
            }
            *at = c >= b && c < 2 * b ? (float)w : 0;
        }
    memset(s + b * rows, 0, b * rows * sizeof *s);
}

const struct loss_objective loss_siglip = {
    .name = "siglip",
    .summary = "each pair of views by a sigmoid of its own",
    .params = siglip_params,
    .head = "512-128",
    .scalars = siglip_scalars,
    .pairs = loss_two_kinds,
    .run = siglip_run,
};
