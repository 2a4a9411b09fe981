#pragma once

/* The objectives that take any number of views, as their headers state them. */
#include "loss/naive_batch.h"

struct naive_views {
    struct loss_views of;
    const struct naive *k; /* its b is not read */
    naive_matrix s, s0;    /* of z, and of z0 */
};

/* Returns 1 if row c is a positive of row r, by its definition. */
static inline int
naive_is_positive(const struct loss_views *of, size_t r, size_t c)
{
    return c != r && c % of->b == r % of->b && c / of->b < of->targets;
}

/* Returns mean over the positives p of row r of one number of each. */
static inline double
naive_mean(const struct naive_views *v, size_t r,
           double (*number)(const struct naive_views *v, size_t r, size_t p))
{
    double sum = 0, count = 0;

    for (size_t p = 0; p < v->of.v * v->of.b; p++)
        if (naive_is_positive(&v->of, r, p)) {
            sum += number(v, r, p);
            count++;
        }
    return sum / count;
}

static inline double
naive_exp(const struct naive_views *v, size_t r, size_t c)
{
    return exp(v->s[r][c] / v->k->set->value[LOSS_TAU]);
}

/* simclr: -log of the share of p among all other rows. */
static inline double
naive_views_simclr(const struct naive_views *v, size_t r, size_t p)
{
    double sum = 0;

    for (size_t c = 0; c < v->of.v * v->of.b; c++)
        sum += c == r ? 0 : naive_exp(v, r, c);
    return -log(naive_exp(v, r, p) / sum);
}

/* dcl: the same against the rows of other images. */
static inline double
naive_views_dcl(const struct naive_views *v, size_t r, size_t p)
{
    double sum = 0;

    for (size_t c = 0; c < v->of.v * v->of.b; c++)
        sum += c % v->of.b == r % v->of.b ? 0 : naive_exp(v, r, c);
    return -log(naive_exp(v, r, p) / sum);
}

/* infonce: the same among the rows of the view of p; both directions added. */
static inline double
naive_views_infonce(const struct naive_views *v, size_t r, size_t p)
{
    double sum = 0;

    for (size_t i = 0; i < v->of.b; i++)
        sum += naive_exp(v, r, p / v->of.b * v->of.b + i);
    return -2 * log(naive_exp(v, r, p) / sum);
}

/* sogclr and isogclr: the surrogate of log u - s / tau, times 2. */
static inline double
naive_views_running(const struct naive_views *v, size_t r, size_t p)
{
    const size_t b = v->of.b, n = v->of.v * b, m = n - v->of.v;
    const size_t columns = v->k->objective->columns;
    const float *state = v->k->state + r % b * columns;
    const double gamma = naive_param(v->k, "gamma");
    const double tau =
        columns == 4 && state[1] ? state[3] : v->k->set->value[LOSS_TAU];
    double g = 0, u, loss = 0;

    for (size_t c = 0; c < n; c++)
        g += c % b == r % b ? 0 : exp(v->s0[r][c] / tau) / (double)m;
    u = state[1] ? (1 - gamma) * exp(state[0]) + gamma * g : g;
    for (size_t c = 0; c < n; c++)
        if (c % b != r % b)
            loss += exp(v->s0[r][c] / tau) / ((double)m * u) * v->s[r][c];
    return 2 * (loss - v->s[r][p]);
}

static const struct {
    const char *name;
    double (*loss)(const struct naive_views *v, size_t r, size_t p);
    double (*value)(const struct naive_views *v, size_t r, size_t p);
} naive_of_views[] = {
    {"simclr", naive_views_simclr, naive_views_simclr},
    {"dcl", naive_views_dcl, naive_views_dcl},
    {"infonce", naive_views_infonce, naive_views_infonce},
    {"flatclr", naive_views_dcl, naive_views_simclr},
    {"sogclr", naive_views_running, naive_views_running},
    {"isogclr", naive_views_running, naive_views_running},
};

/* The mean over anchors and their positives. */
static inline double
naive_views_value(struct naive_views *v, const double *z,
                  double (*loss)(const struct naive_views *v, size_t r,
                                 size_t p))
{
    const size_t n = v->of.v * v->of.b, d = v->k->d;
    double sum = 0;

    for (size_t r = 0; r < n; r++)
        for (size_t c = 0; c < n; c++) {
            v->s[r][c] = naive_cosine(d, z + r * d, z + c * d);
            v->s0[r][c] = naive_cosine(d, v->k->z0 + r * d, v->k->z0 + c * d);
        }
    for (size_t r = 0; r < n; r++)
        sum += naive_mean(v, r, loss);
    return sum / (double)n;
}
