#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "util/mem.h"

#include "objectives.h"

/* Objectives for pairs of an image and its text, with a temperature that is
 * learnt unless `fixed-tau` is set. */
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

const struct loss_objective loss_clip = {
    .name = "clip",
    .summary = "InfoNCE across the views, temperature learnt",
    .params = clip_params,
    .head = "512-128",
    .scalars = clip_scalars,
    .pairs = loss_two_kinds,
    .mask = {LOSS_CROSS, LOSS_CROSS},
    .row = clip_row,
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

/* With P = V0 - V1, Q = V0 + V1 of [b,d] the sums are of matrices [d,d]:
 * sum D^2 and sum X^2 are half of tr(P'P Q'Q) +- tr(P'Q P'Q). */
static void
cyclip_add(const struct loss_batch *batch, const struct loss_settings *set,
           const float *v, float *dv, struct loss_report *report)
{
    const size_t b = batch->b, d = batch->dim, half = b * d;
    const double within = set->value[WITHIN] / (double)b;
    const double across = set->value[ACROSS] / (double)b;
    const float even = (float)(within + across), odd = (float)(within - across);
    float *p = mem_array(4 * half + 3 * d * d, sizeof *p), *q = p + half;
    float *dp = q + half, *dq = dp + half;
    float *pp = dq + half, *qq = pp + d * d, *pq = qq + d * d;
    double one, two = 0;

    for (size_t i = 0; i < half; i++) {
        p[i] = v[i] - v[half + i];
        q[i] = v[i] + v[half + i];
    }
    num_gemm_tn(d, d, b, 1, p, p, 0, pp);
    num_gemm_tn(d, d, b, 1, q, q, 0, qq);
    num_gemm_tn(d, d, b, 1, p, q, 0, pq);
    num_gemm_nn(b, d, d, even, p, qq, 0, dp);
    num_gemm_nn(b, d, d, odd, q, pq, 1, dp);
    num_gemm_nn(b, d, d, even, q, pp, 0, dq);
    num_gemm_nt(b, d, d, odd, p, pq, 1, dq);
    one = num_dot(d * d, pp, qq);
    for (size_t k = 0; k < d * d; k++)
        two += (double)pq[k] * pq[k % d * d + k / d];
    for (size_t i = 0; i < half; i++) {
        dv[i] += dp[i] + dq[i];
        dv[half + i] += dq[i] - dp[i];
    }
    values_add(&report->more, "within", within * (one + two) / 2);
    values_add(&report->more, "across", across * (one - two) / 2);
    report->value += (within * (one + two) + across * (one - two)) / 2;
    free(p);
}

const struct loss_objective loss_cyclip = {
    .name = "cyclip",
    .summary = "clip, and similarities that agree between the views",
    .params = cyclip_params,
    .head = "512-128",
    .scalars = clip_scalars,
    .pairs = loss_two_kinds,
    .mask = {LOSS_CROSS, LOSS_CROSS},
    .row = clip_row,
    .add = cyclip_add,
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

struct siglip {
    size_t b;
    double beta, bias;
    double (*sums)[3]; /* [b] of each row: value, and slopes */
};

/* Replaces scores of row i with view 1 by their weights. */
static void
siglip_weigh(void *self, size_t i, float *row)
{
    const struct siglip *all = self;
    double *sums = all->sums[i];

    for (size_t j = 0; j < all->b; j++) {
        const double y = j == i ? 1 : -1;
        const double x = -y * (all->beta * row[j] + all->bias);
        const double w = -all->beta / (double)all->b * y / (1 + exp(-x));

        sums[0] += loss_log_add(0, x) / (double)all->b;
        sums[1] += w * row[j];
        sums[2] += w / all->beta;
        row[j] = (float)w;
    }
}

static void
siglip_run(const struct loss_batch *batch, const struct loss_settings *set,
           float *state, const float *v, float *dv, struct loss_report *report)
{
    const size_t b = batch->b;
    struct siglip all = {b, 1 / set->value[TAU], set->value[BIAS],
                         mem_array(b, sizeof *all.sums)};

    (void)state;
    loss_by_stripes(batch,
                    &(struct loss_stripes){b, b, 2 * b, siglip_weigh, &all}, v,
                    dv, &report->share);
    for (size_t i = 0; i < b; i++) {
        report->value += all.sums[i][0];
        report->slope[0] += all.sums[i][1];
        report->slope[1] += all.sums[i][2];
    }
    free(all.sums);
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
