#include <math.h>
#include <stdlib.h>

#include "eval/anchors.h"
#include "num/exp.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

enum { LANES = 16, CHUNK = 4096, STEPS = 200 };

static const double least_tau = 1e-4, most_tau = 1e4;

/* Sums over cosines, x = s - max: of e^(beta x), x e^(beta x), x^2 e^(beta x).
 * Rows that are not negatives have an s far below any cosine. */
struct moments {
    double zero, one, two;
};

/* Sets x = s - max and p = e^(beta x), 0 for rows that are not negatives. */
static UTIL_CLONES(void, exp_cosines,
                   (size_t n, float beta, float max, const float *s, float *x,
                    float *p),
                   (n, beta, max, s, x, p))
{
    for (size_t i = 0; i < n; i++) {
        const int counts = s[i] >= -2;

        x[i] = num_choose(counts, s[i] - max, 0);
        p[i] = num_choose(counts, num_exp(beta * x[i]), 0);
    }
}

static UTIL_CLONES(void, sum_moments,
                   (size_t n, const float *x, const float *p, float *sum),
                   (n, x, p, sum))
{
    for (size_t i = 0; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            const float px = p[i + k] * x[i + k];

            sum[k] += p[i + k];
            sum[LANES + k] += px;
            sum[2 * LANES + k] += px * x[i + k];
        }
    for (size_t i = n / LANES * LANES; i < n; i++) {
        sum[0] += p[i];
        sum[LANES] += p[i] * x[i];
        sum[2 * LANES] += p[i] * x[i] * x[i];
    }
}

static struct moments
measure_moments(size_t n, double beta, float max, const float *s)
{
    struct moments all = {0};

    for (size_t from = 0; from < n; from += CHUNK) {
        const size_t m = n - from < CHUNK ? n - from : CHUNK;
        float x[CHUNK], p[CHUNK], sum[3 * LANES] = {0};

        exp_cosines(m, (float)beta, max, s + from, x, p);
        sum_moments(m, x, p, sum);
        all.zero += num_sum(LANES, sum);
        all.one += num_sum(LANES, sum + LANES);
        all.two += num_sum(LANES, sum + 2 * LANES);
    }
    return all;
}

static size_t
count_negatives(size_t n, const float *s)
{
    size_t m = 0;

    for (size_t i = 0; i < n; i++)
        m += s[i] >= -2;
    return m;
}

/* Returns KL(p | uniform) for m negatives. */
static double
distance_of(const struct moments *sum, double beta, size_t m)
{
    return beta * sum->one / sum->zero - log(sum->zero) + log((double)m);
}

double
eval_softmax_exact(size_t n, const float *s, double rho)
{
    const size_t m = count_negatives(n, s);
    const float max = num_max(n, s);
    double low = 1 / most_tau, high = 1 / least_tau, beta = 10;
    struct moments sum;

    REQUIRE(m && rho > 0);
    sum = measure_moments(n, high, max, s);
    if (distance_of(&sum, high, m) < rho)
        return 0;
    // Newton in log beta, or bisection if that leaves the bracket
    for (int step = 0; step < STEPS && high > low * (1 + 1e-7); step++) {
        double off, mean, slope, next;

        sum = measure_moments(n, beta, max, s);
        off = distance_of(&sum, beta, m) - rho;
        mean = sum.one / sum.zero;
        slope = beta * beta * (sum.two / sum.zero - mean * mean);
        *(off > 0 ? &high : &low) = beta;
        next = beta * exp(-off / slope);
        if (fabs(next / beta - 1) < 1e-7)
            return 1 / next;
        beta = next > low && next < high ? next : sqrt(low * high);
    }
    return 1 / beta;
}

double
eval_softmax(size_t n, const float *s, double tau, float *p)
{
    const float max = num_max(n, s);
    const struct moments sum = measure_moments(n, 1 / tau, max, s);

    REQUIRE(tau >= least_tau && tau <= most_tau);
    for (size_t from = 0; p && from < n; from += CHUNK) {
        const size_t m = n - from < CHUNK ? n - from : CHUNK;
        float x[CHUNK];

        exp_cosines(m, (float)(1 / tau), max, s + from, x, p + from);
    }
    if (p)
        num_scale(n, (float)(1 / sum.zero), p);
    return distance_of(&sum, 1 / tau, count_negatives(n, s));
}

static void
measure_anchor(const struct eval_views *rows,
               const struct eval_anchors_settings *how, size_t r, double tau,
               const float *s, float *p, struct eval_anchor *out)
{
    const size_t n = eval_views_count(rows), m = eval_views_negatives(rows);
    const struct moments sum = measure_moments(n, 0, num_max(n, s), s);
    size_t near[EVAL_NEAREST_MAX];
    const size_t have = eval_views_nearest(n, s, how->nearest, near);
    double density = 0;

    out->exact = eval_softmax_exact(n, s, how->rho);
    out->bound = -sum.one / sum.zero / how->rho;
    out->tau = tau > 0 ? tau : fmax(out->exact, least_tau);
    out->kl = eval_softmax(n, s, out->tau, p);
    out->effective = (double)m * exp(-out->kl);
    out->largest = num_max(n, p);
    out->own = 0;
    for (size_t c = 0; rows->group && c < n; c++)
        if (eval_views_same_group(rows, r, c))
            out->own += p[c];
    for (size_t i = 0; i < have; i++)
        density += (double)s[near[i]];
    out->density = density / (double)have;
}

void
eval_anchors(const struct eval_views *rows,
             const struct eval_anchors_settings *how, size_t m,
             const size_t *row, const double *tau, struct eval_anchor *out)
{
    const size_t n = eval_views_count(rows);
    float *s = mem_array(m * n, sizeof *s);

    REQUIRE(how->nearest >= 1 && how->nearest <= EVAL_NEAREST_MAX &&
            how->nearest <= eval_views_negatives(rows));
    eval_views_cosines(rows, m, row, s);
#pragma omp parallel
    {
        float *p = mem_array(n, sizeof *p);

#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < m; i++)
            measure_anchor(rows, how, row[i], tau[i], s + i * n, p, &out[i]);
        free(p);
    }
    free(s);
}
