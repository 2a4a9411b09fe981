#include <math.h>
#include <stdlib.h>

#include "num/vec.h"
#include "util/mem.h"

#include "objectives.h"
#include "tiles.h"

/* Objectives of row sums: W follows from the softmaxes of each row, whose sums
 * are computed here by tiles of S, or by a device. */

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

    if (objective->temper) {
        objective->temper(batch, set, tau);
        return;
    }
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

/* ---- sums by tiles ------------------------------------------------------- */

/*
 * Returns softmax k of row r over a mask; of more than two views, those across
 * views are one for each view that has a positive, and all is their mean.
 * Sets the weights of its parts, W_rc = scale p_c, and adds those of positives
 * to own [v].
 */
static struct loss_row
sum_row(const struct loss_views *views, const struct loss_softmax *softmax,
        enum loss_mask mask, size_t r, const double *score, double scale,
        double *own)
{
    const int cross = mask == LOSS_CROSS || mask == LOSS_CROSS_NEGATIVES;
    const int inside = mask == LOSS_CROSS || mask == LOSS_BATCH;
    const size_t v = views->v;
    const double beta = softmax->beta[r];
    const double share = cross ? 1 / (double)loss_positives_count(views, r) : 1;
    struct loss_part *part = softmax->part + r * v;
    struct loss_row q = {.view = r / views->b};

    for (size_t w = 0; w < views->targets; w++)
        if (loss_positives_in(views, r, w))
            q.score += score[w] / (double)loss_positives_count(views, r);
    for (size_t from = 0, to; from < v; from = to) {
        struct loss_partial p = {-INFINITY, 0, 0};
        double log_z;

        to = cross ? from + 1 : v;
        if (cross && !loss_positives_in(views, r, from))
            continue;
        for (size_t w = from; w < to; w++) {
            loss_partial_add(&p, beta, &part[w].sum);
            if (inside && w != r / views->b)
                loss_partial_add(&p, beta,
                                 &(struct loss_partial){score[w], 1, score[w]});
        }
        log_z = log(p.sum) + beta * p.max;
        q.log_z += share * log_z;
        q.mean += share * p.moment / p.sum;
        for (size_t w = from; w < to; w++) {
            part[w].weight =
                (float)(scale * share * exp(beta * part[w].sum.max - log_z));
            if (inside && w != r / views->b)
                own[w] += scale * share * exp(beta * score[w] - log_z);
        }
    }
    return q;
}

void
loss_terms_report(const struct loss_objective *objective,
                  const struct loss_settings *set,
                  const struct loss_batch *batch, const struct loss_term *term,
                  float *state, struct loss_report *report)
{
    const size_t n = loss_views_of(batch).v * batch->b;
    struct loss_term sum = {0};

    for (size_t r = 0; r < n; r++) {
        sum.value += term[r].value;
        sum.slope += term[r].slope;
        sum.weight += term[r].weight / (double)n;
        sum.kl += term[r].kl / (double)n;
        sum.infonce += term[r].infonce / (double)n;
        sum.score += term[r].score / (double)n;
    }
    report->value = sum.value;
    report->infonce += sum.infonce;
    report->positive += sum.score;
    report->slope[0] = objective->scalars ? sum.slope : 0;
    if (objective->weight)
        values_add(&report->more, objective->weight, sum.weight);
    if (objective->kl)
        values_add(&report->more, objective->kl, sum.kl);
    if (objective->finish)
        objective->finish(batch, set, term, state, report);
}

/* Adds the shares of groups, from those of the rows. */
static void
sum_shares(const struct loss_tiles *t, struct loss_share *share)
{
    const size_t b = t->b, n = t->v * b;

    for (size_t r = 0; r < n; r++) {
        share->all += t->share[2 * r];
        share->same_group_weight += t->share[2 * r + 1];
        share->negatives += n - t->v;
        for (size_t c = 0; c < n && t->group[r] >= 0; c++)
            share->same_group +=
                (size_t)(t->group[c] == t->group[r] && c % b != r % b);
    }
}

void
loss_report_infonce(const struct loss_batch *batch, double tau, const float *v,
                    struct loss_report *report)
{
    loss_objective_weigh(&loss_simclr,
                         &(struct loss_settings){.value = {[LOSS_TAU] = tau}},
                         batch, v, NULL, NULL, NULL, report);
    report->value = 0;
}

void
loss_objective_weigh(const struct loss_objective *objective,
                     const struct loss_settings *set,
                     const struct loss_batch *batch, const float *v,
                     float *state, float *dv, float *work,
                     struct loss_report *report)
{
    const struct loss_views views = loss_views_of(batch);
    const size_t n = views.v * views.b;
    const size_t own_softmaxes =
        objective->softmaxes ? objective->softmaxes : 1;
    const size_t all =
        objective->own_tau || objective->beta || objective->temper
            ? own_softmaxes
            : 0;
    const enum loss_mask mask = objective->mask[set->reference];
    struct loss_tiles t = {
        .b = views.b, .v = views.v, .d = batch->dim, .rows = v, .stored = work};
    struct loss_term *term = mem_array(n, sizeof *term);
    double *tau = mem_array(n, sizeof *tau), *score;
    double *own = mem_array(n * views.v, sizeof *own);
    double *beta = mem_array((own_softmaxes + 1) * n, sizeof *beta);

    t.cross = mask == LOSS_CROSS || mask == LOSS_CROSS_NEGATIVES;
    loss_objective_temperatures(objective, set, batch, state, tau);
    for (size_t k = 0; k <= own_softmaxes; k++) {
        for (size_t r = 0; r < n; r++)
            beta[k * n + r] = k == own_softmaxes ? 1 / set->value[LOSS_TAU]
                              : objective->beta  ? objective->beta(set, k)
                                                 : 1 / tau[r];
        if (k < own_softmaxes || all)
            loss_tiles_add(&t, beta + k * n);
    }
    score = loss_tiles_sums(&t);
#pragma omp parallel for schedule(static) if (loss_tiles_for_threads(&t))
    for (size_t r = 0; r < n; r++) {
        const double *s = score + r * views.v;
        const size_t count = loss_positives_count(&views, r);
        struct loss_row q[LOSS_SOFTMAXES];
        double *to = own + r * views.v;

        for (size_t k = 0; k < own_softmaxes; k++) {
            q[k] = sum_row(&views, t.softmax + k, mask, r, s, 0, to);
            q[k].first = tau[r % views.b];
        }
        term[r] = term_of(objective, set, batch, r, tau[r], state, q);
        q[0] = sum_row(&views, t.softmax + all, LOSS_BATCH, r, s, 0, to);
        term[r].infonce = q[0].log_z - q[0].score / set->value[LOSS_TAU];
        term[r].score = q[0].score;
        sum_row(&views, t.softmax, mask, r, s, term[r].scale, to);
        if (own_softmaxes > 1)
            sum_row(&views, t.softmax + 1, mask, r, s, term[r].second, to);
        for (size_t w = 0; w < views.targets; w++)
            if (loss_positives_in(&views, r, w))
                to[w] -= term[r].pull / (double)count;
    }
    loss_terms_report(objective, set, batch, term, state, report);
    if (dv) {
        t.group = batch->group;
        t.share = batch->group ? mem_array(2 * n, sizeof *t.share) : NULL;
        t.softmax[0].has_weight = 1;
        for (size_t r = 0; r < n; r++)
            t.softmax[1].has_weight |= term[r].second != 0;
        loss_tiles_gradient(&t, own, dv);
        if (objective->add)
            objective->add(batch, set, v, dv, report);
        if (t.share)
            sum_shares(&t, &report->share);
    }
    loss_tiles_release(&t);
    mem_free(term, tau, score, own, beta, t.share);
}

/* ---- sums by a device ---------------------------------------------------- */

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

int
loss_objective_takes_sums(const struct loss_objective *objective)
{
    return objective->row && !objective->softmaxes && !objective->add &&
           !objective->temper;
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

    REQUIRE(loss_views_of(batch).v == 2);
    *report = (struct loss_report){0};
    loss_report_spread(n, batch->dim, v, report);
    for (size_t r = 0; r < n; r++) {
        const struct loss_sums *own = sums + r;
        const struct loss_row q = {
            .log_z = own->log_z, .mean = own->mean, .score = own->score};

        term[r] = term_of(objective, set, batch, r, tau[r], state, &q);
        coefficient[2 * r] = (float)term[r].scale;
        coefficient[2 * r + 1] = (float)term[r].pull;
        term[r].infonce = own->log_all - own->score / set->value[LOSS_TAU];
        term[r].score = own->score;
        if (batch->group)
            add_share(objective, set, n, tau[r], own, term[r].scale,
                      &report->share);
    }
    loss_terms_report(objective, set, batch, term, state, report);
    free(term);
}
