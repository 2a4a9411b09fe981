#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/pairs.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/forest.h"
#include "util/mem.h"
#include "util/rng.h"

enum { ROUNDS = 2000 };

static const double small_change = 1e-7;

void
eval_pairs_init(struct eval_pairs *pairs, size_t samples)
{
    *pairs = (struct eval_pairs){.samples = samples};
}

void
eval_pairs_release(struct eval_pairs *pairs)
{
    free(pairs->start);
    free(pairs->id);
}

void
eval_pairs_add(struct eval_pairs *pairs, size_t n, const int64_t *ids)
{
    mem_grow(&pairs->start, &pairs->room_batches, pairs->batches + 1,
             sizeof *pairs->start);
    mem_grow(&pairs->id, &pairs->room_ids, pairs->total + n, sizeof *pairs->id);
    pairs->start[pairs->batches++] = pairs->total;
    memcpy(pairs->id + pairs->total, ids, n * sizeof *ids);
    pairs->total += n;
}

static size_t
end_of_batch(const struct eval_pairs *pairs, size_t batch)
{
    return batch + 1 < pairs->batches ? pairs->start[batch + 1] : pairs->total;
}

/* The batches of each sample: `of` [total], of sample i from first[i] on. */
struct members {
    size_t *first, *of;
};

static struct members
list_members(const struct eval_pairs *pairs)
{
    struct members m = {mem_array(pairs->samples + 1, sizeof *m.first),
                        mem_array(pairs->total, sizeof *m.of)};
    size_t *next = mem_array(pairs->samples, sizeof *next);

    for (size_t k = 0; k < pairs->total; k++)
        m.first[pairs->id[k] + 1]++;
    for (size_t i = 0; i < pairs->samples; i++) {
        m.first[i + 1] += m.first[i];
        next[i] = m.first[i];
    }
    for (size_t batch = 0; batch < pairs->batches; batch++)
        for (size_t k = pairs->start[batch]; k < end_of_batch(pairs, batch);
             k++)
            m.of[next[pairs->id[k]]++] = batch;
    free(next);
    return m;
}

/* ------------------------------------------------------- who has met whom */

/* What was counted of all samples, each pair twice. */
struct meetings {
    double all, distinct, hardest;
};

/* Counts those whom sample i has met; `met` [samples] says of whom it was last
 * counted, 1 + that sample. */
static void
count_meetings(const struct eval_pairs *pairs, const struct members *m,
               size_t i, size_t k, const uint32_t *near, size_t *met,
               struct meetings *sum)
{
    for (size_t at = m->first[i]; at < m->first[i + 1]; at++) {
        const size_t batch = m->of[at];

        for (size_t j = pairs->start[batch]; j < end_of_batch(pairs, batch);
             j++) {
            const size_t other = (size_t)pairs->id[j];

            if (other == i)
                continue;
            sum->all++;
            sum->distinct += met[other] != i + 1;
            met[other] = i + 1;
        }
    }
    for (size_t j = 0; j < k; j++)
        sum->hardest += met[near[i * k + j]] == i + 1;
}

/* ------------------------------------------------------------------ parts */

static size_t
count_components(const struct eval_pairs *pairs)
{
    size_t *up = forest_new(pairs->samples), parts = pairs->samples;

    for (size_t batch = 0; batch < pairs->batches; batch++)
        for (size_t k = pairs->start[batch] + 1; k < end_of_batch(pairs, batch);
             k++)
            parts -= (size_t)forest_unite(up, (size_t)pairs->id[k - 1],
                                          (size_t)pairs->id[k]);
    free(up);
    return parts;
}

/* ------------------------------------------------------------- eigenvalue */

/* y = D^-1/2 A D^-1/2 x, batch by batch. */
static void
apply_graph(const struct eval_pairs *pairs, const double *root, const double *x,
            double *y)
{
    memset(y, 0, pairs->samples * sizeof *y);
    for (size_t batch = 0; batch < pairs->batches; batch++) {
        const size_t end = end_of_batch(pairs, batch);
        double sum = 0;

        for (size_t k = pairs->start[batch]; k < end; k++)
            sum += x[pairs->id[k]] / root[pairs->id[k]];
        for (size_t k = pairs->start[batch]; k < end; k++) {
            const size_t i = (size_t)pairs->id[k];

            y[i] += (sum - x[i] / root[i]) / root[i];
        }
    }
}

/* Takes the eigenvector of the eigenvalue 1 out of x, makes it of length 1. */
static void
clear_first(size_t n, const double *root, double *x)
{
    const double along =
        num_dot_doubles(n, root, x) / num_dot_doubles(n, root, root);
    double length;

    for (size_t i = 0; i < n; i++)
        x[i] -= along * root[i];
    length = sqrt(num_dot_doubles(n, x, x));
    for (size_t i = 0; i < n; i++)
        x[i] /= length > 0 ? length : 1;
}

/* By powers of (P + 1) / 2, whose eigenvalues are 0 .. 1. */
static double
find_second(const struct eval_pairs *pairs, const double *root)
{
    const size_t n = pairs->samples;
    double *x = mem_array(n, sizeof *x), *y = mem_array(n, sizeof *y);
    double value = -1, before;
    struct rng rng;

    rng_init(&rng, 1, RNG_EVAL, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        x[i] = rng_normal(&rng);
    clear_first(n, root, x);
    for (int round = 0; round < ROUNDS; round++) {
        before = value;
        apply_graph(pairs, root, x, y);
        value = num_dot_doubles(n, x, y);
        if (round > 20 && fabs(value - before) < small_change)
            break;
        for (size_t i = 0; i < n; i++)
            x[i] = (x[i] + y[i]) / 2;
        clear_first(n, root, x);
    }
    free(y);
    free(x);
    return value;
}

struct eval_pairs_figures
eval_pairs_measure(const struct eval_pairs *pairs, size_t k,
                   const uint32_t *near)
{
    const size_t n = pairs->samples;
    const double possible = (double)n * (double)(n - 1);
    struct members m = list_members(pairs);
    size_t *met = mem_array(n, sizeof *met);
    double *root = mem_array(n, sizeof *root);
    struct meetings sum = {0};
    struct eval_pairs_figures out = {.parts = count_components(pairs)};

    REQUIRE(n >= 2);
    for (size_t i = 0; i < n; i++) {
        const double before = sum.all;

        count_meetings(pairs, &m, i, k, near, met, &sum);
        root[i] = sqrt(sum.all - before);
        out.unseen += m.first[i] == m.first[i + 1];
        root[i] = root[i] > 0 ? root[i] : 1;
    }
    out.coverage = sum.distinct / possible;
    out.again = sum.all > 0 ? 1 - sum.distinct / sum.all : 0;
    out.hardest = k ? sum.hardest / ((double)n * (double)k) : 0;
    out.second = out.parts > 1 ? 1 : find_second(pairs, root);
    free(root);
    free(met);
    free(m.first);
    free(m.of);
    return out;
}
