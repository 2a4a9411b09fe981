#include <string.h>

#include "eval/anchors.h"
#include "naive_rows.h"
#include "t.h"

enum { SAMPLES = 60, VIEWS = 2, D = 8, N = SAMPLES * VIEWS, NEAREST = 5 };

static float v[N * D];
static int64_t group[SAMPLES];

/* A softmax in double, by definition. */
struct naive {
    size_t m;
    double kl, p[N], s[N];
};

static struct naive
naive_softmax(const struct eval_views *rows, size_t r, double tau)
{
    struct naive out = {0};
    double z = 0;

    for (size_t c = 0; c < N; c++) {
        out.s[c] = naive_dot(rows, r, c);
        if (!naive_negative(rows, r, c))
            continue;
        out.m++;
        out.p[c] = exp((out.s[c] - 1) / tau);
        z += out.p[c];
    }
    for (size_t c = 0; c < N; c++) {
        out.p[c] /= z;
        if (out.p[c] > 0)
            out.kl += out.p[c] * log(out.p[c] * (double)out.m);
    }
    return out;
}

/* Computes the mean of the largest cosines of negatives, with a search for
 * each. */
static double
naive_density(const struct eval_views *rows, size_t r, const double *s)
{
    int taken[N] = {0};
    double sum = 0;

    for (int k = 0; k < NEAREST; k++) {
        size_t best = N;

        for (size_t c = 0; c < N; c++)
            if (naive_negative(rows, r, c) && !taken[c] &&
                (best == N || s[c] > s[best]))
                best = c;
        taken[best] = 1;
        sum += s[best] / NEAREST;
    }
    return sum;
}

static double
naive_own(const struct eval_views *rows, size_t r, const double *p)
{
    double sum = 0;

    for (size_t c = 0; c < N; c++)
        if (rows->group[c % SAMPLES] >= 0 &&
            rows->group[c % SAMPLES] == rows->group[r % SAMPLES])
            sum += p[c];
    return sum;
}

/* Returns the largest cosine of the negatives minus their mean. */
static double
naive_bound(const struct eval_views *rows, size_t r, const struct naive *at)
{
    double most = -1, sum = 0;

    for (size_t c = 0; c < N; c++)
        if (naive_negative(rows, r, c)) {
            most = fmax(most, at->s[c]);
            sum += at->s[c];
        }
    return most - sum / (double)at->m;
}

static double
larger(double a, double b)
{
    return fabs(a) > fabs(b) ? fabs(a) : fabs(b);
}

static void
agree_with_the_definition(struct eval_views *rows, int cross)
{
    const struct eval_anchors_settings how = {.rho = .4, .nearest = NEAREST};
    double tau[N], kl = 0, own = 0, density = 0, largest = 0, exact = 0,
                   bound = 0;
    struct eval_anchor out[N];
    size_t row[N], within = 0;

    rows->cross = cross;
    for (size_t r = 0; r < N; r++) {
        row[r] = r;
        tau[r] = .05 + .01 * (double)(r % 7);
    }
    eval_anchors(rows, &how, N, row, tau, out);
    for (size_t r = 0; r < N; r++) {
        const struct naive at = naive_softmax(rows, r, tau[r]);
        double most = 0;

        for (size_t c = 0; c < N; c++)
            most = fmax(most, at.p[c]);
        kl = larger(kl, out[r].kl - at.kl);
        kl = larger(kl, out[r].effective / ((double)at.m * exp(-at.kl)) - 1);
        own = larger(own, out[r].own - naive_own(rows, r, at.p));
        density =
            larger(density, out[r].density - naive_density(rows, r, at.s));
        largest = larger(largest, out[r].largest - most);
        exact = larger(exact, naive_softmax(rows, r, out[r].exact).kl - .4);
        bound = larger(bound, out[r].bound - naive_bound(rows, r, &at) / .4);
        within += out[r].exact <= out[r].bound;
    }
    T_NEAR(kl, 0, 1e-5, "KL and the effective number, cross %d", cross);
    T_NEAR(own, 0, 1e-5, "the share of the anchor's group");
    T_NEAR(density, 0, 1e-6, "the mean of the nearest");
    T_NEAR(largest, 0, 1e-5, "the largest share");
    T_NEAR(exact, 0, 1e-5, "the exact temperature has KL = rho");
    T_NEAR(bound, 0, 1e-5, "its bound");
    T(within == N, "the exact temperature is not above its bound");
}

static void
temperatures_have_ends(void)
{
    const float few[] = {.5f, .5f, -INFINITY, .1f};
    const float wide[] = {1, -1, .9f, 0, .2f, .3f, -.4f, .1f};
    float p[4];

    T(eval_softmax_exact(4, few, 1) == 0,
      "two of three alike: KL stays below log 1.5");
    T(eval_softmax_exact(4, few, .4) > 0, "two of three alike: KL reaches .4");
    T(eval_softmax_exact(8, wide, 1e-7) > 100, "a small rho: a high one");
    T_NEAR(eval_softmax(4, few, 1e-4, p), log(1.5), 1e-6, "the coldest");
    T(p[0] == .5f && p[1] == .5f && p[2] == 0 && p[3] < 1e-30f,
      "is shared by the largest");
    T_NEAR(eval_softmax(4, few, 1e4, p), 0, 1e-6, "the hottest is uniform");
    T_NEAR(p[3], 1 / 3., 1e-4, "over negatives only");
}

int
main(void)
{
    struct eval_views rows = naive_rows(SAMPLES, VIEWS, D, 1, v);

    for (size_t i = 0; i < SAMPLES; i++)
        group[i] = (int64_t)(i % 5) - 1;
    rows.group = group;
    T(eval_views_negatives(&rows) == 118, "negatives of a row");
    agree_with_the_definition(&rows, 0);
    agree_with_the_definition(&rows, 1);
    T(eval_views_negatives(&rows) == 59, "only of the other view");
    temperatures_have_ends();
    return t_done();
}
