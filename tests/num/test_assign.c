#include <stdlib.h>

#include "num/assign.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

/* Costs of a kind that has ties (whole numbers) or has none, and centres that
 * are favourites of many points. */
static float *
costs(size_t n, size_t k, int whole, uint64_t seed)
{
    float *cost = mem_array(n * k, sizeof *cost);
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, n, k, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++) {
            const double x = rng_unit(&rng) + (double)(c % 5) / 5;

            cost[i * k + c] = (float)(whole ? floor(4 * x) : x);
        }
    return cost;
}

/* The least cost of all assignments of points i.. to the remaining capacity. */
static double
best_of_all(size_t i, size_t n, size_t k, const float *cost, size_t *room)
{
    double best = i == n ? 0 : INFINITY;

    for (size_t c = 0; i < n && c < k; c++) {
        if (!room[c])
            continue;
        room[c]--;
        best =
            fmin(best, cost[i * k + c] + best_of_all(i + 1, n, k, cost, room));
        room[c]++;
    }
    return best;
}

/*
 * The same by the assignment problem of n rows and a column for each place of
 * the capacity: the Hungarian method with potentials u, v, a row at a time,
 * O(n^2 m).  Columns are counted from 1; match[j] is the row of column j.
 */
struct hungarian {
    size_t m, k, *owner, *match, *way;
    double *u, *v, *slack;
    char *used;
};

static size_t
step(struct hungarian *h, size_t at, const float *cost)
{
    const size_t row = h->match[at];
    size_t next = 0;
    double delta = INFINITY;

    h->used[at] = 1;
    for (size_t j = 1; j <= h->m; j++) {
        double x;

        if (h->used[j])
            continue;
        x = cost[(row - 1) * h->k + h->owner[j]] - h->u[row] - h->v[j];
        if (x < h->slack[j]) {
            h->slack[j] = x;
            h->way[j] = at;
        }
        if (h->slack[j] < delta) {
            delta = h->slack[j];
            next = j;
        }
    }
    for (size_t j = 0; j <= h->m; j++)
        if (h->used[j]) {
            h->u[h->match[j]] += delta;
            h->v[j] -= delta;
        } else {
            h->slack[j] -= delta;
        }
    return next;
}

static double
hungarian(size_t n, size_t k, const float *cost, const size_t *room)
{
    struct hungarian h = {.k = k};
    double total = 0;
    size_t j = 0;

    for (size_t c = 0; c < k; c++)
        h.m += room[c];
    h.owner = mem_array(3 * (h.m + 1), sizeof *h.owner);
    h.match = h.owner + h.m + 1;
    h.way = h.match + h.m + 1;
    h.u = mem_array(n + 1 + 2 * (h.m + 1), sizeof *h.u);
    h.v = h.u + n + 1;
    h.slack = h.v + h.m + 1;
    h.used = mem_array(h.m + 1, 1);
    for (size_t c = 0; c < k; c++)
        for (size_t r = 0; r < room[c]; r++)
            h.owner[++j] = c;
    for (size_t i = 1; i <= n; i++) {
        size_t at = 0;

        h.match[0] = i;
        for (j = 0; j <= h.m; j++) {
            h.slack[j] = INFINITY;
            h.used[j] = 0;
        }
        do
            at = step(&h, at, cost);
        while (h.match[at]);
        for (; at; at = h.way[at])
            h.match[at] = h.match[h.way[at]];
    }
    for (j = 1; j <= h.m; j++)
        if (h.match[j])
            total += cost[(h.match[j] - 1) * k + h.owner[j]];
    free(h.owner);
    free(h.u);
    free(h.used);
    return total;
}

/* The answer fits, and its cost is as reported. */
static int
check_assignment(size_t n, size_t k, const float *cost, const size_t *room,
                 const uint32_t *to, double total)
{
    size_t *count = mem_array(k, sizeof *count);
    double sum = 0;
    int good = 1;

    for (size_t i = 0; i < n; i++) {
        good = good && to[i] < k;
        if (good) {
            count[to[i]]++;
            sum += cost[i * k + to[i]];
        }
    }
    for (size_t c = 0; c < k; c++)
        good = good && count[c] <= room[c];
    free(count);
    return good && fabs(sum - total) <= 1e-12 * fabs(sum);
}

static void
is_the_optimum(void)
{
    int wrong = 0, hungarians = 0;

    for (uint64_t seed = 0; seed < 300; seed++) {
        size_t n = 1 + seed % 7, k = 1 + seed % 4, room[4] = {0}, remaining = n;
        float *cost = costs(n, k, seed % 3 == 0, seed);
        uint32_t to[8];
        double total, want;
        struct rng rng;

        rng_init(&rng, seed, RNG_TEST, 0, 0, 1);
        remaining += seed % 5 == 0; // a place too many
        while (remaining--)
            room[rng_below(&rng, k)]++;
        total = num_assign(n, k, cost, room, to);
        want = best_of_all(0, n, k, cost, room);
        wrong += !check_assignment(n, k, cost, room, to, total) ||
                 fabs(total - want) > 1e-12;
        hungarians += fabs(hungarian(n, k, cost, room) - want) > 1e-12;
        free(cost);
    }
    T(!wrong,
      "small: the optimum of all, with ties, uneven and zero capacities");
    T(!hungarians, "the Hungarian method finds the optimum");
}

static void
agrees_with_hungarian(size_t n, size_t k, size_t spare, int whole)
{
    float *cost = costs(n, k, whole, 1);
    size_t *room = mem_array(k, sizeof *room);
    uint32_t *to = mem_array(n, sizeof *to);
    double total, want;

    for (size_t i = 0; i < n + spare; i++)
        room[i % k]++;
    total = num_assign(n, k, cost, room, to);
    want = hungarian(n, k, cost, room);
    T(check_assignment(n, k, cost, room, to, total),
      "%zu points, %zu centres: fits", n, k);
    T_NEAR(total / want, 1, 1e-12, "the cost is the optimum%s",
           whole ? ", with ties" : "");
    free(cost);
    free(room);
    free(to);
}

static void
edges(void)
{
    const float same[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const float one[3] = {2, -3, 5}, crowd[4] = {0, 9, 0, 7};
    uint32_t to[6];

    T(num_assign(3, 1, one, (size_t[]){3}, to) == 4 && !to[0] && !to[2],
      "one centre takes all, at any cost");
    T(num_assign(6, 2, same, (size_t[]){3, 3}, to) == 6, "equal costs");
    T(num_assign(6, 2, same, (size_t[]){0, 6}, to) == 6 && to[5] == 1,
      "no capacity at the first");
    T(num_assign(2, 2, crowd, (size_t[]){1, 1}, to) == 7 && !to[0] && to[1],
      "the point with less extra cost moves");
    T(num_assign(1, 3, one, (size_t[]){1, 1, 1}, to) == -3 && to[0] == 1,
      "more capacity than points");
}

int
main(void)
{
    is_the_optimum();
    agrees_with_hungarian(60, 60, 0, 0);
    agrees_with_hungarian(200, 7, 0, 0);
    agrees_with_hungarian(200, 7, 0, 1);
    agrees_with_hungarian(257, 16, 5, 0);
    agrees_with_hungarian(320, 40, 0, 1);
    edges();
    return t_done();
}
