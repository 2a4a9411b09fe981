#include <math.h>
#include <stdlib.h>

#include "num/vec.h"
#include "util/mem.h"

#include "objectives.h"

/*
 * Objectives of row sums: W follows from the softmax of each row, computed here
 * from S, or its sums by a device.
 */

size_t
loss_objective_states(const struct loss_objective *objective, size_t b)
{
    return objective->sides ? 2 * b : b;
}

void
loss_report_spread(size_t n, size_t d, const float *v,
                   struct loss_report *report)
{
    double squares = 0, deviation = 0;

    for (size_t k = 0; k < d; k++) {
        double sum = 0, square = 0;

        for (size_t r = 0; r < n; r++) {
            sum += v[r * d + k];
            square += (double)v[r * d + k] * v[r * d + k];
        }
        squares += sum * sum;
        deviation += sqrt(fmax(0, square - sum * sum / (double)n) / (double)n);
    }
    report->cosine = (squares - (double)n) / ((double)n * (double)(n - 1));
    report->deviation = deviation / sqrt((double)d);
}

void
loss_objective_temperatures(const struct loss_objective *objective,
                            const struct loss_settings *set,
                            const struct loss_batch *batch, float *state,
                            double *tau)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t states = loss_objective_states(objective, views.b);

    for (size_t r = 0; r < views.v * views.b; r++) {
        float *own =
            objective->own_tau
                ? state + r % states * objective->columns + objective->own_tau
                : NULL;

        if (own && *own == 0)
            *own = (float)set->value[LOSS_TAU];
        tau[r] = own ? (double)*own : set->value[LOSS_TAU];
    }
}

static struct loss_term
term_of(const struct loss_objective *objective, const struct loss_settings *set,
        const struct loss_batch *batch, size_t r, double tau,
        const float *state, const struct loss_row *q)
{
    const size_t states = loss_objective_states(objective, batch->b);
    const float *own = state ? state + r % states * objective->columns : NULL;

    return objective->row(batch, set, tau, own, q);
}

void
loss_objective_weigh(const struct loss_objective *objective,
                     const struct loss_settings *set,
                     const struct loss_batch *batch, float *state, float *s,
                     struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * views.b, rows = n + batch->extra;
    const enum loss_mask mask = objective->mask[set->reference];
    struct loss_term *term;
    double *tau;

    if (objective->run) {
        objective->run(batch, set, state, s, report);
        return;
    }
    term = mem_array(n, sizeof *term);
    tau = mem_array(n, sizeof *tau);
    loss_objective_temperatures(objective, set, batch, state, tau);
#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        float *row = s + r * rows;
        const struct loss_row q =
            loss_row_partition(&views, rows, r, 1 / tau[r], mask, row, row);

        term[r] = term_of(objective, set, batch, r, tau[r], state, &q);
        num_scale(rows, (float)term[r].scale, row);
        if (objective->balanced)
            loss_partner_balance(rows, loss_partner(views.b, r), row);
        else
            loss_positives_add(&views, r, -term[r].pull, row);
    }
    objective->finish(batch, set, term, state, report);
    mem_free(term, tau);
}

/* Adds the negatives of an anchor. */
static void
add_share(const struct loss_objective *objective,
          const struct loss_settings *set, size_t n, double tau,
          const struct loss_sums *sums, double scale, struct loss_share *share)
{
    const enum loss_mask mask = objective->mask[set->reference];
    const int has_partner = mask == LOSS_BATCH || mask == LOSS_CROSS;
    const double partner =
        has_partner ? exp(sums->score / tau - sums->log_z) : 0;

    share->same_group_weight += scale * sums->same;
    share->all += scale * (1 - partner);
    share->same_group += (size_t)fmin(fmax(sums->same_count, 0), (double)n);
    share->negatives += n - 2;
}

void
loss_objective_sums(const struct loss_objective *objective,
                    const struct loss_settings *set,
                    const struct loss_batch *batch, const float *v,
                    const double *tau, const struct loss_sums *sums,
                    float *state, float *coefficient,
                    struct loss_report *report)
{
    const size_t n = 2 * batch->b;
    struct loss_term *term = mem_array(n, sizeof *term);
    double infonce = 0, positive = 0;

    REQUIRE(loss_views_of(batch).v == 2);
    *report = (struct loss_report){0};
    loss_report_spread(n, batch->dim, v, report);
    for (size_t r = 0; r < n; r++) {
        const struct loss_sums *own = sums + r;
        const struct loss_row q = {own->log_z, own->mean, own->score};

        term[r] = term_of(objective, set, batch, r, tau[r], state, &q);
        coefficient[2 * r] = (float)term[r].scale;
        coefficient[2 * r + 1] = (float)term[r].pull;
        infonce += own->log_all - own->score / set->value[LOSS_TAU];
        positive += own->score;
        if (batch->group)
            add_share(objective, set, n, tau[r], own, term[r].scale,
                      &report->share);
    }
    report->infonce = infonce / (double)n;
    report->positive = positive / (double)n;
    objective->finish(batch, set, term, state, report);
    free(term);
}
