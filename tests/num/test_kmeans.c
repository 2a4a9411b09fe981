#include <stdlib.h>
#include <string.h>

#include "num/kmeans.h"
#include "t.h"
#include "util/mem.h"

static float *
noise(size_t n, size_t d, double spread)
{
    float *x = mem_array(n * d, sizeof *x);
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n * d; i++)
        x[i] = (float)(spread * rng_normal(&rng));
    return x;
}

static double
distance(size_t d, const float *x, const float *y)
{
    double sum = 0;

    for (size_t j = 0; j < d; j++)
        sum += pow((double)x[j] - y[j], 2);
    return sum;
}

/* The results agree: labels are the nearest centres, the sum is that of their
 * distances, and centres are (almost) the means of their points. */
static void
judge(const char *what, size_t n, size_t d, size_t k, const float *x)
{
    float *centre = mem_array(k * d, sizeof *centre);
    uint32_t *label = mem_array(n, sizeof *label);
    double *mean = mem_array(k * d, sizeof *mean), all = 0, sum, want = 0;
    size_t *count = mem_array(k, sizeof *count), far = 0;
    double apart = 0;
    struct rng rng;

    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    sum = num_kmeans(n, d, k, x, &rng, centre, label);
    for (size_t i = 0; i < n; i++) {
        const float *row = x + i * d;
        double least = INFINITY;

        for (size_t c = 0; c < k; c++)
            least = fmin(least, distance(d, row, centre + c * d));
        far += label[i] >= k || distance(d, row, centre + label[i] * d) >
                                    least + 1e-5 * (least + 1);
        want += least;
        count[label[i]]++;
        for (size_t j = 0; j < d; j++) {
            mean[label[i] * d + j] += row[j];
            all += (double)row[j] * row[j];
        }
    }
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d && count[c]; j++)
            apart +=
                pow(mean[c * d + j] / (double)count[c] - centre[c * d + j], 2);
    T(!far, "%s: labels are the nearest", what);
    T_NEAR(sum, want, 1e-4, "%s: the sum of distances", what);
    T(apart <= 2e-2 * (all / (double)(n * d) + 1e-9), "%s: centres are means",
      what);
    free(centre);
    free(label);
    free(mean);
    free(count);
}

/* The best of several calls. */
static double
best_of(size_t calls, size_t n, size_t d, size_t k, const float *x,
        struct rng *rng, float *centre, uint32_t *label)
{
    float *mine = mem_array(k * d, sizeof *mine);
    uint32_t *whose = mem_array(n, sizeof *whose);
    double least = INFINITY;

    while (calls--) {
        const double sum = num_kmeans(n, d, k, x, rng, mine, whose);

        if (sum >= least)
            continue;
        least = sum;
        memcpy(centre, mine, k * d * sizeof *mine);
        memcpy(label, whose, n * sizeof *whose);
    }
    free(mine);
    free(whose);
    return least;
}

static void
finds_clusters(void)
{
    enum { N = 600, D = 5, K = 12 };
    float *x = noise(N, D, 0.01), centre[K * D];
    uint32_t label[N];
    int wrong = 0;
    struct rng rng;

    for (size_t i = 0; i < N; i++) {
        x[i * D + i % K % D] += 3 + (float)(i % K);
        x[i * D] += 100;
    }
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    T(best_of(3, N, D, K, x, &rng, centre, label) < 2 * N * D * 1e-4,
      "as small a sum as the clusters'");
    for (size_t i = 0; i < N; i++)
        wrong += label[i] != label[i % K];
    T(!wrong, "the clusters are found, far from zero");
    free(x);
}

/* On a line the best partition is known: that of its sorted points. */
static void
line(void)
{
    const float x[8] = {0, 1, 2, 10, 11, 12, 50, 51};
    float centre[3];
    uint32_t label[8];
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    T_NEAR(best_of(5, 8, 1, 3, x, &rng, centre, label), 4.5, 1e-4,
           "three on a line");
    T_NEAR(centre[0] + centre[1] + centre[2], 62.5, 1e-5, "their centres");
}

static void
edges(void)
{
    float *x = noise(40, 3, 1), same[10 * 2], centre[40 * 3];
    uint32_t label[40];
    struct rng rng;
    double sum = 0, mean[3] = {0};

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 3; j++)
            mean[j] += x[i * 3 + j] / 40.0;
    for (size_t i = 0; i < 40; i++)
        for (size_t j = 0; j < 3; j++)
            sum += pow(x[i * 3 + j] - mean[j], 2);
    T_NEAR(num_kmeans(40, 3, 1, x, &rng, centre, label), sum, 1e-5,
           "one centre: the variance");
    T_NEAR(num_kmeans(40, 3, 40, x, &rng, centre, label), 0, 1e-4,
           "as many centres as points");
    for (size_t i = 0; i < 20; i++)
        same[i] = 7;
    T_NEAR(num_kmeans(10, 2, 4, same, &rng, centre, label), 0, 1e-9,
           "equal points");
    T(centre[0] == 7 && centre[7] == 7, "their centres");
    for (size_t i = 0; i < 4; i++)
        same[i] = 8; // two of ten
    T_NEAR(num_kmeans(10, 2, 5, same, &rng, centre, label), 0, 1e-9,
           "fewer different points than centres");
    T(label[0] == label[1] || centre[label[0] * 2] == 8, "each at its centre");
    free(x);
}

static void
repeats(void)
{
    enum { N = 300, D = 4, K = 25 };
    float *x = noise(N, D, 1), centre[2][K * D];
    double sum[2];

    for (int i = 0; i < 2; i++) {
        struct rng rng;

        rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
        sum[i] = num_kmeans(N, D, K, x, &rng, centre[i], NULL);
    }
    T(sum[0] == sum[1] && !memcmp(centre[0], centre[1], sizeof centre[0]),
      "the same stream, the same bits");
    free(x);
}

int
main(void)
{
    const size_t sizes[][3] = {{50, 2, 5}, {301, 17, 40}, {33, 1, 2}};

    for (size_t i = 0; i < 3; i++) {
        float *x = noise(sizes[i][0], sizes[i][1], 1);
        char what[32];

        snprintf(what, sizeof what, "%zu points", sizes[i][0]);
        judge(what, sizes[i][0], sizes[i][1], sizes[i][2], x);
        free(x);
    }
    finds_clusters();
    line();
    edges();
    repeats();
    return t_done();
}
