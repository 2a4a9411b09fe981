#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "eval/pairs.h"
#include "num/vec.h"
#include "util/err.h"
#include "util/forest.h"
#include "util/mem.h"
#include "util/rng.h"

enum { ROUNDS = 1000 };

static const double small_residual =
    1e-6; // the error of the value is its square

void
eval_pairs_release(struct eval_pairs *pairs)
{
    mem_free(pairs->start, pairs->id);
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

/* Counts over all samples, each pair twice. */
struct pair_counts {
    double all, distinct, hardest;
};

/* Counts the samples in the batches of sample i; partner_of [samples] has 1 +
 * the latest sample for which each was counted. */
static void
count_partners(const struct eval_pairs *pairs, const struct members *m,
               size_t i, size_t k, const uint32_t *near, size_t *partner_of,
               struct pair_counts *sum)
{
    for (size_t at = m->first[i]; at < m->first[i + 1]; at++) {
        const size_t batch = m->of[at];

        for (size_t j = pairs->start[batch]; j < end_of_batch(pairs, batch);
             j++) {
            const size_t other = (size_t)pairs->id[j];

            if (other == i)
                continue;
            sum->all++;
            sum->distinct += partner_of[other] != i + 1;
            partner_of[other] = i + 1;
        }
    }
    for (size_t j = 0; j < k; j++)
        sum->hardest += partner_of[near[i * k + j]] == i + 1;
}

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

/* Projects the first eigenvector, of eigenvalue 1, out of x and normalises x;
 * returns its length before. */
static double
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
    return length;
}

/* Lanczos' matrix: symmetric, tridiagonal, [m,m] after m rounds.  Its largest
 * eigenvalue tends to the graph's second. */
struct tridiagonal {
    double diagonal[ROUNDS], off[ROUNDS]; // off[k] joins k and k + 1
};

/* Returns 1 if t - x is negative definite, by its pivots; pivot [m] is complete
 * then. */
static int
is_above(const struct tridiagonal *t, size_t m, double x, double *pivot)
{
    for (size_t k = 0; k < m; k++) {
        pivot[k] = t->diagonal[k] - x -
                   (k ? t->off[k - 1] * t->off[k - 1] / pivot[k - 1] : 0);
        if (!(pivot[k] < 0))
            return 0;
    }
    return 1;
}

/*
 * Returns the largest eigenvalue of t, in -1 .. 1, by bisection.
 *   last  the last number of its eigenvector of length 1
 */
static double
find_largest(const struct tridiagonal *t, size_t m, double *last)
{
    double low = -1, high = 1 + 1e-9, s = 1, sum = 1, pivot[ROUNDS];

    for (int bit = 0; bit < 50; bit++) {
        const double x = (low + high) / 2;

        *(is_above(t, m, x, pivot) ? &high : &low) = x;
    }
    is_above(t, m, high, pivot);
    for (size_t k = m - 1; k-- > 0; sum += s * s)
        s *= -t->off[k] / pivot[k];
    *last = 1 / sqrt(sum);
    return high;
}

/*
 * Returns the second largest eigenvalue: Lanczos' method without the first
 * eigenvector, until the residual |A x - value x| is small.  Later vectors
 * are not quite orthogonal to early ones, so it may find the value repeatedly.
 */
static double
find_second(const struct eval_pairs *pairs, const double *root)
{
    const size_t n = pairs->samples;
    double *v = mem_array(n, sizeof *v), *before = mem_array(n, sizeof *before);
    double *next = mem_array(n, sizeof *next), *oldest, value = -1, last;
    struct tridiagonal t;
    struct rng rng;

    rng_init(&rng, 1, RNG_EVAL, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        v[i] = rng_normal(&rng);
    clear_first(n, root, v);
    for (size_t m = 0; m < ROUNDS; m++) {
        apply_graph(pairs, root, v, next);
        t.diagonal[m] = num_dot_doubles(n, v, next);
        for (size_t i = 0; i < n; i++)
            next[i] -=
                t.diagonal[m] * v[i] + (m ? t.off[m - 1] : 0) * before[i];
        t.off[m] = clear_first(n, root, next);
        value = find_largest(&t, m + 1, &last);
        if (t.off[m] * last < small_residual)
            break;
        oldest = before;
        before = v;
        v = next;
        next = oldest;
    }
    mem_free(next, before, v);
    return value;
}

struct eval_pairs_figures
eval_pairs_measure(const struct eval_pairs *pairs, size_t k,
                   const uint32_t *near)
{
    const size_t n = pairs->samples;
    const double possible = (double)n * (double)(n - 1);
    struct members m = list_members(pairs);
    size_t *partner_of = mem_array(n, sizeof *partner_of);
    double *root = mem_array(n, sizeof *root);
    struct pair_counts sum = {0};
    struct eval_pairs_figures out = {.parts = count_components(pairs)};

    REQUIRE(n >= 2);
    for (size_t i = 0; i < n; i++) {
        const double before = sum.all;

        count_partners(pairs, &m, i, k, near, partner_of, &sum);
        root[i] = sqrt(sum.all - before);
        out.unseen += m.first[i] == m.first[i + 1];
        root[i] = root[i] > 0 ? root[i] : 1;
    }
    out.coverage = sum.distinct / possible;
    out.repeated = sum.all > 0 ? 1 - sum.distinct / sum.all : 0;
    out.hardest = k ? sum.hardest / ((double)n * (double)k) : 0;
    out.second = out.parts > 1 ? 1 : find_second(pairs, root);
    mem_free(root, partner_of, m.first, m.of);
    return out;
}
