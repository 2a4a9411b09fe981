#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"
#include "num/kmeans.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/mem.h"

#include "links.h"
#include "stream.h"

/* Groups of one division, sample points for each group's centre, points that
 * are compared at a time. */
enum { WAYS = 32, SAMPLES = 32, TILE = 256 };

struct sort {
    size_t d, leaf;
    const float *rows;
    uint64_t seed, epoch;
    unsigned round;
    int64_t *point;
};

/* A division of some points into groups. */
struct division {
    size_t n, k;
    int64_t *point;
    float *centre;         /* [k,d], each near the next */
    uint8_t *mine;         /* [n] the group of each */
    size_t from[WAYS + 1]; /* group c becomes point[from[c]..from[c+1]) */
};

static void
gather_points(const struct sort *sort, size_t n, const int64_t *point,
              float *rows)
{
    for (size_t i = 0; i < n; i++)
        memcpy(rows + i * sort->d, sort->rows + (size_t)point[i] * sort->d,
               sort->d * sizeof *rows);
}

/* Finds centres of groups by k-means of a sample of the points.  Within a
 * parallel region one thread computes the products, so the bits do not depend
 * on the number of threads. */
static void
find_centres(const struct sort *sort, struct division *division, size_t first)
{
    size_t m = SAMPLES * division->k;
    float *sample = mem_aligned(m * sort->d, sizeof *sample);
    struct rng rng;

    rng_init(&rng, sort->seed, RNG_PLAN, sort->epoch,
             (uint64_t)sort->round << 24 | first / sort->leaf, STREAM_REGIONS);
    for (size_t i = 0; i < m; i++)
        gather_points(sort, 1, division->point + rng_below(&rng, division->n),
                      sample + i * sort->d);
#pragma omp parallel
#pragma omp single
    num_kmeans(m, sort->d, division->k, sample, &rng, division->centre, NULL);
    free(sample);
}

static double
square_distance(size_t d, const float *x, const float *y)
{
    return num_dot(d, x, x) - 2 * num_dot(d, x, y) + num_dot(d, y, y);
}

/* Orders the centres so that each is followed by the nearest of the rest. */
static void
order_centres(size_t d, size_t k, float *centre)
{
    float *old = mem_array(d, sizeof *old);

    for (size_t c = 1; c < k; c++) {
        const float *last = centre + (c - 1) * d;
        size_t next = c;

        for (size_t o = c + 1; o < k; o++)
            if (square_distance(d, last, centre + o * d) <
                square_distance(d, last, centre + next * d))
                next = o;
        memcpy(old, centre + c * d, d * sizeof *old);
        memcpy(centre + c * d, centre + next * d, d * sizeof *old);
        memcpy(centre + next * d, old, d * sizeof *old);
    }
    free(old);
}

/* Finds the nearest centre of each of n <= TILE points. */
static void
assign_centres(const struct sort *sort, const struct division *division,
               const float *half, size_t n, const int64_t *point, uint8_t *mine)
{
    size_t k = division->k;
    float *rows = mem_aligned(TILE * sort->d, sizeof *rows);
    float product[TILE * WAYS];

    gather_points(sort, n, point, rows);
    num_gemm_nt(n, k, sort->d, 1, rows, division->centre, 0, product);
    for (size_t i = 0; i < n; i++) {
        float best = -INFINITY;

        for (size_t c = 0; c < k; c++)
            if (product[i * k + c] - half[c] > best) {
                best = product[i * k + c] - half[c];
                mine[i] = (uint8_t)c;
            }
    }
    free(rows);
}

/* Sorts points by group, stably. */
static void
regroup_points(struct division *division)
{
    size_t at[WAYS];
    int64_t *sorted = mem_array(division->n, sizeof *sorted);

    for (size_t i = 0; i < division->n; i++)
        division->from[division->mine[i] + 1]++;
    for (size_t c = 0; c < division->k; c++)
        at[c] = division->from[c + 1] += division->from[c];
    for (size_t i = division->n; i--;)
        sorted[--at[division->mine[i]]] = division->point[i];
    memcpy(division->point, sorted, division->n * sizeof *sorted);
    free(sorted);
}

static void
divide_points(const struct sort *sort, struct division *division, size_t first)
{
    float half[WAYS];
    size_t n = division->n;

    division->centre =
        mem_aligned(division->k * sort->d, sizeof *division->centre);
    division->mine = mem_array(n, 1);
    find_centres(sort, division, first);
    order_centres(sort->d, division->k, division->centre);
    for (size_t c = 0; c < division->k; c++)
        half[c] = (float)num_dot(sort->d, division->centre + c * sort->d,
                                 division->centre + c * sort->d) /
                  2;
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < n; i += TILE)
        assign_centres(sort, division, half, n - i < TILE ? n - i : TILE,
                       division->point + i, division->mine + i);
    regroup_points(division);
    free(division->centre);
    free(division->mine);
}

/* Sorts point[first..first+n). */
static void
sort_points(const struct sort *sort, size_t first, size_t n)
{
    struct division division = {.n = n, .point = sort->point + first};
    size_t leaves = (n + sort->leaf - 1) / sort->leaf;

    if (leaves < 2)
        return;
    division.k = leaves < WAYS ? leaves : WAYS;
    divide_points(sort, &division, first);
#pragma omp parallel for schedule(dynamic)
    for (size_t c = 0; c < division.k; c++) {
        size_t count = division.from[c + 1] - division.from[c];

        if (count > 2 * sort->leaf && count < n)
            sort_points(sort, first + division.from[c], count);
    }
}

void
select_region_sort(size_t d, const float *rows, size_t n, size_t leaf,
                   uint64_t seed, uint64_t epoch, unsigned round,
                   int64_t *point)
{
    struct sort sort = {d, leaf, rows, seed, epoch, round, point};

    REQUIRE(n / leaf < 1 << 24 && round < 256);
    sort_points(&sort, 0, n);
}
