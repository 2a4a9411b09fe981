#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"

#include "objectives.h"

/*
 * SimCLR's NT-Xent, InfoNCE over all views: each row classifies its positives,
 * of two views its partner, among the n - 1 other rows.
 *
 *     L    = 1/n sum_r ( log sum_{c != r} exp(beta s_rc) - beta mean_p s_rp )
 *     W_rc = beta/n ( p_rc - [c in P_r] / |P_r| ),   p = softmax over c != r
 *
 * Chen, Kornblith, Norouzi and Hinton 2020, arXiv:2002.05709, eq. 1, with
 * beta = 1/tau; with more than two views L_out of Khosla et al. 2020,
 * arXiv:2004.11362, eq. 2, the image as the class.  Equal rows give log(n - 1).
 * It ignores extra rows.  No state.  The reference code of the
 * iSogCLR paper computes it with SupCon's class, which multiplies value and
 * gradient by tau / 0.07.
 */
static double
simclr_times(const struct loss_settings *set)
{
    return set->reference ? set->value[LOSS_TAU] / 0.07 : 1;
}

static struct loss_term
simclr_row(const struct loss_batch *batch, const struct loss_settings *set,
           double tau, const float *state, const struct loss_row *q)
{
    const struct loss_views views = loss_views_of(batch);
    const double n = (double)(views.v * views.b), beta = 1 / tau;
    const double scale = simclr_times(set) * beta / n;

    (void)state;
    return (struct loss_term){.scale = scale,
                              .pull = (double)(float)scale,
                              .value = q->log_z - beta * q->score};
}

static double
sum_values(const struct loss_batch *batch, const struct loss_term *term)
{
    const struct loss_views views = loss_views_of(batch);
    double sum = 0;

    for (size_t r = 0; r < views.v * views.b; r++)
        sum += term[r].value;
    return sum;
}

static void
simclr_finish(const struct loss_batch *batch, const struct loss_settings *set,
              const struct loss_term *term, float *state,
              struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const double n = (double)(views.v * views.b);

    (void)state;
    report->value = simclr_times(set) / n * sum_values(batch, term);
}

const struct loss_objective loss_simclr = {
    .name = "simclr",
    .summary = "NT-Xent over the batch",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.5), {0}},
    .head = "512-128",
    .row = simclr_row,
    .finish = simclr_finish,
};

double
loss_simclr_value(const struct loss_batch *batch, double tau, const float *s)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * views.b;

    return loss_partition(&views, n + batch->extra, 1 / tau, LOSS_BATCH, s,
                          NULL) /
           (double)n;
}

/*
 * InfoNCE across the views: each row classifies its positive in another view,
 * of two views its partner, among the b rows of that view.
 *
 *     L    = 2/n sum_r mean_p ( log sum_{c of the view of p} exp(beta s_rc)
 *                               - beta s_rp )
 *     W_rc = 2 beta/(n |P_r|) ( p_rc - [c in P_r] ),
 *
 * p_rc the softmax over the rows of a view that has a positive; 0 elsewhere.
 * The full graph of Tian, Krishnan and Isola 2019, arXiv:1906.05849: the mean
 * over all pairs of views.  Of two views both directions are
 * added, so L is twice that of CLIP.  The theory of batches of Cho et al. 2023,
 * arXiv:2307.05906, is about these at beta = 1: with d >= b - 1 the minimum is
 * 2 log(1 + (b - 1) exp(-b / (b - 1))), if the views of an image agree and all
 * cosines of different images are -1 / (b - 1).  Equal rows give 2 log b.  It
 * ignores extra rows.  No state.
 */

/* Replaces row r of S by that of W; returns mean_p. */
static double
weigh_views(const struct loss_views *views, size_t r, size_t rows, double beta,
            float *row)
{
    const size_t b = views->b, own = r % b, view = r / b;
    const double n = (double)views->v * (double)b;
    const double count = (double)(views->targets - (view < views->targets));
    const float scale = (float)(2 * beta / (n * count));
    double value = 0;

    for (size_t w = 0; w < views->targets; w++) {
        float *part = row + w * b;
        const double score = part[own];

        if (w == view) {
            memset(part, 0, b * sizeof *part);
            continue;
        }
        value += loss_view_partition(b, beta, part, part).log_z - beta * score;
        num_scale(b, scale, part);
        part[own] -= scale;
    }
    memset(row + views->targets * b, 0,
           (rows - views->targets * b) * sizeof *row);
    return value / count;
}

static void
infonce_run(const struct loss_batch *batch, const struct loss_settings *set,
            float *state, float *s, struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * views.b, rows = n + batch->extra;
    double *each = mem_array(n, sizeof *each), sum = 0;

    (void)state;
#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++)
        each[r] = weigh_views(&views, r, rows, 1 / set->value[LOSS_TAU],
                              s + r * rows);
    for (size_t r = 0; r < n; r++)
        sum += each[r];
    free(each);
    report->value = 2 * sum / (double)n;
}

/* Of two views. */
static struct loss_term
infonce_row(const struct loss_batch *batch, const struct loss_settings *set,
            double tau, const float *state, const struct loss_row *q)
{
    const double beta = 1 / tau, scale = beta / (double)batch->b;

    (void)set;
    (void)state;
    return (struct loss_term){
        .scale = scale, .pull = scale, .value = q->log_z - beta * q->score};
}

static void
infonce_finish(const struct loss_batch *batch, const struct loss_settings *set,
               const struct loss_term *term, float *state,
               struct loss_report *report)
{
    (void)set;
    (void)state;
    report->value = sum_values(batch, term) / (double)batch->b;
}

const struct loss_objective loss_infonce = {
    .name = "infonce",
    .summary = "InfoNCE across the views, both directions",
    .params = (const struct param[]){LOSS_PARAM_TAU(0.1), {0}},
    .head = "512-128",
    .scale = 2,
    .run = infonce_run,
    .mask = {LOSS_CROSS, LOSS_CROSS},
    .row = infonce_row,
    .finish = infonce_finish,
};
