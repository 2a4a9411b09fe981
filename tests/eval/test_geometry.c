#include "eval/geometry.h"
#include "t.h"
#include "util/rng.h"

enum { N = 700, D = 6 };

static float x[N * D], y[N * D];

static void
draw(uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (int i = 0; i < N * D; i++) {
        x[i] = (float)(rng_normal(&rng) * (1 + i % D) + 0.5);
        y[i] = x[i] + (float)rng_normal(&rng);
    }
}

static void
collapse_shows(void)
{
    struct eval_geometry g;

    for (int i = 0; i < N * D; i++)
        x[i] = (float)(1 + i / D); // one direction, many lengths
    eval_geometry(N, D, x, &g);
    T_NEAR(g.cosine, 1, 1e-6, "all rows equal: cosine 1");
    T_NEAR(g.uniformity, 0, 1e-6, "uniformity 0");
    T_NEAR(g.deviation, 0, 1e-6, "deviation 0");
    T(g.dimensions == 0, "no direction in use");
    T_NEAR(g.rankme, 1, 1e-3, "all rows are multiples of one: RankMe 1");
}

static void
zero_rows_are_collapsed_too(void)
{
    struct eval_geometry g;

    for (int i = 0; i < N * D; i++)
        x[i] = 0;
    eval_geometry(N, D, x, &g);
    T(g.uniformity == 0, "rows that are all zero have uniformity 0");
    T(g.cosine == 0 && g.deviation == 0 && g.dimensions == 0 && g.rankme == 0,
      "their cosine, deviation, dimensions and RankMe are 0");
    T(g.zero_rows == N, "each of them is counted");
    x[0] = 3;
    eval_geometry(N, D, x, &g);
    // N - 1 of the pairs are 1 apart, the others 0
    T_NEAR(g.uniformity, log(1 - (1 - exp(-2)) * 2 / N), 1e-9,
           "a row of length 1 has distance 1 from zero");
    T(g.zero_rows == N - 1, "one row less is zero");
}

static void
equal_rows_never_exceed_zero(void)
{
    struct eval_geometry g;

    for (int i = 0; i < N * D; i++)
        x[i] = (float)(i % D) * 0.37f - 0.5f;
    eval_geometry(N, D, x, &g);
    T(g.uniformity <= 0 && g.uniformity > -1e-5,
      "rounding does not lift uniformity above 0: %g", g.uniformity);
    T_NEAR(g.cosine, 1, 1e-6, "the cosine of equal rows is 1");
    T(g.zero_rows == 0, "no row is zero");
}

static void
axes_are_spread_evenly(void)
{
    struct eval_geometry g;
    float axes[2 * D * D] = {0};

    for (int k = 0; k < D; k++) {
        axes[2 * k * D + k] = 2;
        axes[(2 * k + 1) * D + k] = -3;
    }
    eval_geometry(2 * D, D, axes, &g);
    // of the 2D - 1 others one is opposite, the rest are at right angles
    T_NEAR(g.cosine, -1. / (2 * D - 1), 1e-6, "axes both ways: cosine");
    T_NEAR(g.uniformity, log((exp(-8) + (2 * D - 2) * exp(-4)) / (2 * D - 1)),
           1e-6, "uniformity");
    T_NEAR(g.deviation, 1 / sqrt(D), 1e-6, "deviation 1/sqrt(d)");
    T_NEAR(g.deviation_min, 1 / sqrt(D), 1e-6, "the smallest too");
    T_NEAR(g.dimensions, D, 1e-5, "all d directions in use");
    T_NEAR(g.rankme, D, 1e-3, "RankMe d");
}

static double
cosine(const float *a, const float *b)
{
    double ab = 0, aa = 0, bb = 0;

    for (int k = 0; k < D; k++) {
        ab += (double)a[k] * b[k];
        aa += (double)a[k] * a[k];
        bb += (double)b[k] * b[k];
    }
    return ab / sqrt(aa * bb);
}

/* cov(v_a, v_b) over rows, as written. */
static double
covariance(int a, int b)
{
    double both = 0, one = 0, other = 0;

    for (int i = 0; i < N; i++) {
        double length = 0, va, vb;

        for (int k = 0; k < D; k++)
            length += (double)x[i * D + k] * x[i * D + k];
        va = x[i * D + a] / sqrt(length);
        vb = x[i * D + b] / sqrt(length);
        both += va * vb / N;
        one += va / N;
        other += vb / N;
    }
    return both - one * other;
}

static void
agrees_with_naive(void)
{
    const double pairs = N * (N - 1) / 2.;
    struct eval_geometry g;
    double mean = 0, potential = 0, align = 0, trace = 0, square = 0;
    double deviation = 0, least = 1;

    draw(1);
    for (int i = 0; i < N; i++) {
        align += (2 - 2 * cosine(x + i * D, y + i * D)) / N;
        for (int j = 0; j < i; j++) {
            double s = cosine(x + i * D, x + j * D);

            mean += s / pairs;
            potential += exp(-2 * (2 - 2 * s)) / pairs;
        }
    }
    for (int a = 0; a < D; a++) {
        trace += covariance(a, a);
        deviation += sqrt(covariance(a, a)) / D;
        least = fmin(least, sqrt(covariance(a, a)));
        for (int b = 0; b < D; b++)
            square += covariance(a, b) * covariance(a, b);
    }
    eval_geometry(N, D, x, &g);
    T_NEAR(g.cosine, mean, 1e-6, "mean cosine, naive rewrite");
    T_NEAR(g.uniformity, log(potential), 1e-5, "uniformity");
    T_NEAR(g.deviation, deviation, 1e-6, "mean deviation");
    T_NEAR(g.deviation_min, least, 1e-6, "smallest deviation");
    T_NEAR(g.dimensions, trace * trace / square, 1e-5, "dimensions");
    T_NEAR(eval_alignment(N, D, x, y), align, 1e-6, "alignment");
    T_NEAR(eval_alignment(N, D, x, x), 0, 1e-12, "of equal views: 0");
}

static void
lengths_do_not_matter(void)
{
    struct eval_geometry before, after;

    draw(2);
    eval_geometry(N, D, x, &before);
    for (int i = 0; i < N * D; i++)
        x[i] *= (float)(1 << i / D % 5);
    eval_geometry(N, D, x, &after);
    T_NEAR(after.uniformity, before.uniformity, 1e-6, "longer rows: the same");
    T_NEAR(after.dimensions, before.dimensions, 1e-6, "dimensions too");
}

enum { BINS = 40 };

static double
naive_cosine(const float *a, const float *b)
{
    double ab = 0, aa = 0, bb = 0;

    for (int k = 0; k < D; k++) {
        ab += (double)a[k] * (double)b[k];
        aa += (double)a[k] * (double)a[k];
        bb += (double)b[k] * (double)b[k];
    }
    return aa > 0 && bb > 0 ? ab / sqrt(aa * bb) : 0;
}

/* Returns how many counts are in another bin than the naive ones: at an edge
 * rounding decides. */
static size_t
misplaced(const size_t *count, const size_t *naive)
{
    size_t sum = 0;

    for (int b = 0; b < BINS; b++)
        sum += count[b] > naive[b] ? count[b] - naive[b] : naive[b] - count[b];
    return sum;
}

static void
cosines_are_counted(int two)
{
    size_t own[BINS] = {0}, others[BINS] = {0};
    size_t naive_own[BINS] = {0}, naive_others[BINS] = {0};

    draw(5);
    for (int k = 0; k < D; k++)
        x[3 * D + k] = 0;
    for (int i = 0; i < N; i++)
        for (int j = two ? 0 : i + 1; j < N; j++) {
            const double c = naive_cosine(x + i * D, (two ? y : x) + j * D);
            const int b = (int)((c + 1) / 2 * BINS);

            (i == j ? naive_own : naive_others)[b < BINS ? b : BINS - 1]++;
        }
    eval_cosines(N, D, x, two ? y : NULL, BINS, own, others);
    T(misplaced(own, naive_own) <= 2 && misplaced(others, naive_others) <= 20,
      "cosines of %s: %zu and %zu of %d pairs in another bin",
      two ? "two views" : "all pairs", misplaced(own, naive_own),
      misplaced(others, naive_others), N * N);
}

int
main(void)
{
    collapse_shows();
    zero_rows_are_collapsed_too();
    equal_rows_never_exceed_zero();
    axes_are_spread_evenly();
    agrees_with_naive();
    lengths_do_not_matter();
    cosines_are_counted(0);
    cosines_are_counted(1);
    return t_done();
}
