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

static struct loss_term
clip_row(const struct loss_batch *batch, const struct loss_settings *set,
         double tau, const float *state, const struct loss_row *q)
{
    const double n = 2 * (double)batch->b, beta = 1 / tau, scale = beta / n;

    (void)set;
    (void)state;
    return (struct loss_term){.scale = scale,
                              .pull = scale,
                              .value = (q->log_z - beta * q->score) / n,
                              .slope = scale * (q->mean - q->score)};
}

static void
clip_finish(const struct loss_batch *batch, const struct loss_settings *set,
            const struct loss_term *term, float *state,
            struct loss_report *report)
{
    (void)set;
    (void)state;
    report->value = report->slope[0] = 0;
    for (size_t r = 0; r < 2 * batch->b; r++) {
        report->value += term[r].value;
        report->slope[0] += term[r].slope;
    }
}

const struct loss_objective loss_clip = {
    .name = "clip",
    .summary = "InfoNCE across the views, temperature learnt",
    .params = clip_params,
    .head = "512-128",
    .scalars = clip_scalars,
    .pairs = loss_two_kinds,
    .mask = {LOSS_CROSS, LOSS_CROSS},
    .balanced = 1,
    .row = clip_row,
    .finish = clip_finish,
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

static void
cyclip_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, float *s, struct loss_report *report)
{
    const size_t count = 2 * batch->b * (2 * batch->b + batch->extra);
    float *copy = mem_array(count, sizeof *copy);
    double sums[2] = {0};
    const size_t b = batch->b, rows = 2 * b + batch->extra;
    const double within = set->value[WITHIN] / (double)b;
    const double across = set->value[ACROSS] / (double)b;

    memcpy(copy, s, count * sizeof *copy);
    loss_objective_weigh(&loss_clip, set, batch, state, s, report);
    // adds the two terms, of the copy of S, to W
    for (size_t i = 0; i < b; i++)
        for (size_t j = 0; j < b; j++) {
            const double d =
                (double)copy[i * rows + j] - copy[(b + i) * rows + b + j];
            const double x =
                (double)copy[i * rows + b + j] - copy[j * rows + b + i];

            s[i * rows + j] += (float)(2 * within * d);
            s[(b + i) * rows + b + j] -= (float)(2 * within * d);
            s[i * rows + b + j] += (float)(4 * across * x);
            sums[0] += within * d * d;
            sums[1] += across * x * x;
        }
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
