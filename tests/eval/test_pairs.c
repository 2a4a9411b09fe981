#include <string.h>

#include "eval/pairs.h"
#include "t.h"
#include "util/rng.h"

enum { N = 14, K = 2, SWEEPS = 60 };

/* Counts the common batches of each two samples. */
static double paired[N][N];
static uint32_t near[N * K];

static void
add_batch(struct eval_pairs *pairs, size_t n, const int64_t *ids)
{
    eval_pairs_add(pairs, n, ids);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            paired[ids[i]][ids[k]] += i != k;
}

/* The second largest eigenvalue of a symmetric matrix, by Jacobi's rotations.
 */
static double
naive_second(double a[N][N])
{
    double first = -2, second = -2;

    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (size_t p = 0; p < N; p++)
            for (size_t q = p + 1; q < N; q++) {
                const double angle = atan2(2 * a[p][q], a[q][q] - a[p][p]) / 2;
                const double c = cos(angle), s = sin(angle);

                for (size_t k = 0; k < N; k++) {
                    const double x = a[p][k], y = a[q][k];

                    a[p][k] = c * x - s * y;
                    a[q][k] = s * x + c * y;
                }
                for (size_t k = 0; k < N; k++) {
                    const double x = a[k][p], y = a[k][q];

                    a[k][p] = c * x - s * y;
                    a[k][q] = s * x + c * y;
                }
            }
    for (size_t i = 0; i < N; i++)
        if (a[i][i] > first) {
            second = first;
            first = a[i][i];
        } else {
            second = fmax(second, a[i][i]);
        }
    return second;
}

static void
agree_with_the_matrix(const struct eval_pairs *pairs, const char *what)
{
    const struct eval_pairs_figures got = eval_pairs_measure(pairs, K, near);
    double degree[N] = {0}, p[N][N], all = 0, distinct = 0, hard = 0;

    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++) {
            degree[i] += paired[i][k];
            all += paired[i][k];
            distinct += paired[i][k] > 0;
        }
    for (size_t i = 0; i < N * K; i++)
        hard += paired[i / K][near[i]] > 0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < N; k++)
            p[i][k] = paired[i][k] / sqrt(degree[i] * degree[k]);
    T_NEAR(got.coverage, distinct / (N * (N - 1)), 1e-12, "%s: coverage", what);
    T_NEAR(got.repeated, 1 - distinct / all, 1e-12, "repeated pairs");
    T_NEAR(got.hardest, hard / (N * K), 1e-12, "hardest");
    T_NEAR(got.second, naive_second(p), 1e-9, "second eigenvalue");
}

static void
random_batches(void)
{
    struct eval_pairs pairs;
    struct rng rng;
    int64_t ids[N];

    memset(paired, 0, sizeof paired);
    pairs = (struct eval_pairs){.samples = N};
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < N; i++)
        ids[i] = (int64_t)i;
    for (int epoch = 0; epoch < 4; epoch++) {
        rng_shuffle(&rng, N, ids);
        add_batch(&pairs, 5, ids);
        add_batch(&pairs, 5, ids + 5);
        add_batch(&pairs, 4, ids + 10);
        if (epoch)
            agree_with_the_matrix(&pairs, "random batches");
    }
    T(eval_pairs_measure(&pairs, K, near).parts == 1, "in one part");
    eval_pairs_release(&pairs);
}

static void
ends_of_the_scale(void)
{
    struct eval_pairs pairs;
    struct eval_pairs_figures got;
    int64_t ids[N];

    for (size_t i = 0; i < N; i++)
        ids[i] = (int64_t)i;
    pairs = (struct eval_pairs){.samples = N};
    eval_pairs_add(&pairs, 6, ids);
    eval_pairs_add(&pairs, 7, ids + 6);
    got = eval_pairs_measure(&pairs, 0, NULL);
    T(got.parts == 3 && got.unseen == 1 && got.second == 1,
      "two batches and a sample in none: three parts");
    eval_pairs_add(&pairs, N, ids);
    got = eval_pairs_measure(&pairs, 0, NULL);
    T(got.coverage == 1 && got.parts == 1 && got.unseen == 0,
      "a batch of all connects them");
    eval_pairs_release(&pairs);
    pairs = (struct eval_pairs){.samples = N};
    eval_pairs_add(&pairs, N, ids);
    got = eval_pairs_measure(&pairs, 0, NULL);
    T_NEAR(got.second, -1. / (N - 1), 1e-6, "alone it is complete");
    T(got.repeated == 0, "in a batch of all no pair repeats");
    eval_pairs_release(&pairs);
}

/* Samples 0 .. n - 1 in a ring, each with the next: A's eigenvalues are the
 * cosines of the multiples of 2 pi / n. */
static void
a_ring(size_t n)
{
    struct eval_pairs pairs;
    const double want = cos(2 * acos(-1) / (double)n);

    pairs = (struct eval_pairs){.samples = n};
    for (size_t i = 0; i < n; i++)
        eval_pairs_add(&pairs, 2,
                       (int64_t[]){(int64_t)i, (int64_t)((i + 1) % n)});
    T_NEAR(eval_pairs_measure(&pairs, 0, NULL).second, want, 1e-9,
           "a ring of %zu", n);
    eval_pairs_release(&pairs);
}

int
main(void)
{
    for (size_t i = 0; i < N; i++) {
        near[i * K] = (uint32_t)((i + 1) % N);
        near[i * K + 1] = (uint32_t)((i + 5) % N);
    }
    random_batches();
    a_ring(3);
    a_ring(500);
    ends_of_the_scale();
    return t_done();
}
