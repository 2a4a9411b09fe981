#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "select/region.h"
#include "stream.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

/* Points that a line is drawn from, and how often the groups are renewed. */
enum { SAMPLE = 128, TIMES = 4 };

struct key {
    float along;
    int64_t point;
};

struct sort {
    size_t d, n, leaf;
    const float *rows;
    uint64_t seed, epoch;
    unsigned round;
    int64_t *point;
    struct key *key; /* [n] */
};

static int
is_less(const struct key *x, const struct key *y)
{
    return x->along != y->along ? x->along < y->along : x->point < y->point;
}

/* Rearranges keys so that the first `half` of them are the least. */
static void
halve(struct key *key, size_t n, size_t half)
{
    while (n > 1) {
        struct key middle = key[n / 2], kept;
        size_t low = 0, high = n - 1;

        for (;; low++, high--) {
            while (is_less(&key[low], &middle))
                low++;
            while (is_less(&middle, &key[high]))
                high--;
            if (low >= high)
                break;
            kept = key[low];
            key[low] = key[high];
            key[high] = kept;
        }
        // key[..low) <= middle <= key[low..)
        if (half <= low) {
            n = low;
        } else {
            key += low;
            n -= low;
            half -= low;
        }
        if (!half || half == n)
            return;
    }
}

/* In f32, and in an order of its own that every machine keeps. */
UTIL_CLONES static float
dot(size_t d, const float *x, const float *y)
{
    float part[16] = {0}, sum = 0;
    size_t i = 0;

    for (; i + 16 <= d; i += 16)
        for (size_t l = 0; l < 16; l++)
            part[l] += x[i + l] * y[i + l];
    for (; i < d; i++)
        sum += x[i] * y[i];
    for (size_t l = 0; l < 16; l++)
        sum += part[l];
    return sum;
}

/* The line from the mean of one group of sampled rows to that of the other.
 *   sample [m]; line [d]; mean [d] and side [m] are scratch */
static void
regroup(const struct sort *sort, size_t m, const float **sample, float *line,
        float *mean, float *side)
{
    float middle = 0;
    size_t count = 0;

    for (size_t i = 0; i < m; i++) {
        side[i] = dot(sort->d, sample[i], line);
        middle += side[i] / (float)m;
    }
    for (size_t i = 0; i < m; i++)
        count += side[i] > middle;
    if (!count || count == m)
        return; // they are all one point
    memset(mean, 0, sort->d * sizeof *mean);
    for (size_t i = 0; i < m; i++)
        num_axpy(sort->d,
                 side[i] > middle ? 1 / (float)count : -1 / (float)(m - count),
                 sample[i], mean);
    memcpy(line, mean, sort->d * sizeof *line);
}

static void
draw_line(const struct sort *sort, size_t n, const int64_t *point,
          struct rng *rng, float *line)
{
    const float *sample[SAMPLE];
    float *mean = mem_array(sort->d, sizeof *mean), side[SAMPLE];

    for (size_t i = 0; i < SAMPLE; i++)
        sample[i] = sort->rows + (size_t)point[rng_below(rng, n)] * sort->d;
    memcpy(line, sample[0], sort->d * sizeof *line);
    num_axpy(sort->d, -1, sample[1], line);
    for (int i = 0; i < TIMES; i++)
        regroup(sort, SAMPLE, sample, line, mean, side);
    free(mean);
}

/* Splits the leaves [from,to), node `node` of the tree, in two at `at`. */
static void
split(const struct sort *sort, size_t from, size_t to, size_t at, uint64_t node)
{
    size_t first = from * sort->leaf, end = to * sort->leaf;
    size_t n = (end < sort->n ? end : sort->n) - first;
    int64_t *point = sort->point + first;
    struct key *key = sort->key + first;
    float *line = mem_array(sort->d, sizeof *line);
    struct rng rng;

    rng_init(&rng, sort->seed, RNG_PLAN, sort->epoch,
             (uint64_t)sort->round << 24 | node, STREAM_REGIONS);
    draw_line(sort, n, point, &rng, line);
    for (size_t i = 0; i < n; i++)
        key[i] = (struct key){
            dot(sort->d, sort->rows + (size_t)point[i] * sort->d, line),
            point[i]};
    halve(key, n, (at - from) * sort->leaf);
    for (size_t i = 0; i < n; i++)
        point[i] = key[i].point;
    free(line);
}

/* Leaf boundary i of the 2^level nodes of a level. */
static size_t
bound(size_t leaves, size_t i, unsigned level)
{
    return i * leaves >> level;
}

void
select_region_sort(size_t d, const float *rows, size_t n, size_t leaf,
                   uint64_t seed, uint64_t epoch, unsigned round,
                   int64_t *point)
{
    struct sort sort = {d, n, leaf, rows, seed, epoch, round, point, NULL};
    size_t leaves = (n + leaf - 1) / leaf;

    REQUIRE(leaves < 1 << 23 && round < 256);
    sort.key = mem_array(n, sizeof *sort.key);
    for (unsigned level = 0; (size_t)1 << level < leaves; level++) {
        size_t nodes = (size_t)1 << level;

#pragma omp parallel for schedule(dynamic) if (nodes > 1)
        for (size_t i = 0; i < nodes; i++) {
            size_t from = bound(leaves, i, level);
            size_t to = bound(leaves, i + 1, level);
            size_t at = bound(leaves, 2 * i + 1, level + 1);

            if (to - from >= 2)
                split(&sort, from, to, at, nodes + i);
        }
    }
    free(sort.key);
}
