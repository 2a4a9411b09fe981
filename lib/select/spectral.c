#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "num/assign.h"
#include "num/eigen.h"
#include "num/exp.h"
#include "num/kmeans.h"
#include "num/vec.h"
#include "select/score.h"
#include "util/clones.h"
#include "util/mem.h"

#include "strategies.h"

/*
 * spectral: puts samples with large weights between them (select/score.h) into
 * one batch, by spectral clustering (Cho et al. 2023, arXiv:2307.05906;
 * lib/algorithms.md 5.2).
 *
 * An epoch begins as a shuffle and is cut into blocks of at most `block`
 * batches; their sizes differ by at most one.  For each block of k batches, its
 * n samples are mapped to points, k-means finds k centres, and points are
 * assigned to centres with the least sum of distances such that each batch is
 * full (num/assign.h).  Which centre becomes which batch is random.  k-means
 * and assignment are repeated `restarts` times; the largest mean batch loss
 * wins.  The points, with D the row sums of a matrix with zero diagonal:
 *
 *     NJW      eigenvectors of the k largest eigenvalues of
 *              D^-1/2 W D^-1/2, rows scaled to unit length
 *              (Ng, Jordan and Weiss 2001)
 *     CODE     as in the code of the paper: of D^-1/2 exp(W) D^-1/2, row i
 *              divided by the square root of D_i
 *     LITERAL  as in its text: of D - W, rows scaled to unit length; closer to
 *              the largest cut than to the smallest
 *     KMEANS   no eigenvectors: (u + v) / 2
 *
 * exp(W), up to 1e41, never overflows: D is stored as its logarithm.
 *
 * Reads tau, variant, block, restarts.  Samples without features, and the
 * second occurrence of samples with wrap, do not move from their place in the
 * shuffle.  Blocks run in threads; the result does not depend on their number.
 * A block of 40 batches of 32 takes about twenty milliseconds and 4 n^2 bytes
 * per thread; time grows as n^2 k.
 *
 * fit() refuses blocks of fewer than two batches, or of more than 20,000
 * samples; the default is 40 batches, or as many as that allows.
 */

/* Samples in a block; points and centres that are compared at a time; lanes of
 * a sum. */
enum { MAX_SAMPLES = 20000, ROWS = 4, LANES = 8, SUMS = 32 };
typedef float lanes __attribute__((vector_size(LANES * 4)));

/* ---- points of samples --------------------------------------------------- */

/* Tolerance of residuals of eigenvectors: smaller makes no better batches.
 */
static const double loose = 4e-3;

/* w_ij scale_i scale_j - q_i q_j, where scale_i is D_i^-1/2. */
static UTIL_CLONES(void, normalise_weights,
                   (size_t n, const float *scale, const float *q, float *w),
                   (n, scale, q, w))
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w[i * n + j] = w[i * n + j] * scale[i] * scale[j] - q[i] * q[j];
}

/* exp(w_ij) (D_i D_j)^-1/2 by logarithms, zero diagonal: half_i is log(D_i) /
 * 2. */
static UTIL_CLONES(void, normalise_exp, (size_t n, const float *half, float *w),
                   (n, half, w))
{
    for (size_t i = 0; i < n; i++) {
        float *row = w + i * n;

        for (size_t j = 0; j < n; j++)
            row[j] = num_exp(row[j] - half[i] - half[j]);
        row[i] = 0;
    }
}

/* The logarithm of the sum of e^w over a row, without element `own`. */
static UTIL_CLONES(double, log_sum, (size_t n, size_t own, const float *w),
                   (n, own, w))
{
    float part[SUMS] = {0}, max = 0;
    double sum = 0;

    for (size_t j = 0; j < n; j++)
        max = w[j] > max ? w[j] : max;
    for (size_t j = 0; j + SUMS <= n; j += SUMS)
        for (size_t l = 0; l < SUMS; l++)
            part[l] += num_exp(w[j + l] - max);
    for (size_t j = n / SUMS * SUMS; j < n; j++)
        sum += num_exp(w[j] - max);
    for (size_t l = 0; l < SUMS; l++)
        sum += part[l];
    return log(sum - num_exp(w[own] - max)) + max;
}

static UTIL_CLONES(double, row_sum, (size_t n, const float *w), (n, w))
{
    float part[SUMS] = {0};
    double sum = 0;

    for (size_t j = 0; j + SUMS <= n; j += SUMS)
        for (size_t l = 0; l < SUMS; l++)
            part[l] += w[j + l];
    for (size_t j = n / SUMS * SUMS; j < n; j++)
        sum += w[j];
    for (size_t l = 0; l < SUMS; l++)
        sum += part[l];
    return sum;
}

/* Subtracts q q'. */
static UTIL_CLONES(void, deflate_weights, (size_t n, const float *q, float *w),
                   (n, q, w))
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            w[i * n + j] -= q[i] * q[j];
}

/*
 * D^-1/2 W D^-1/2 - q q', where q [n] is D^1/2 scaled to unit length: the first
 * eigenvector, of eigenvalue 1.  It is subtracted because the other eigenvalues
 * may be a thousand times smaller and need the same precision.  scale [n] is
 * scratch.
 */
static void
make_njw(size_t n, float *w, float *q, float *scale)
{
    for (size_t i = 0; i < n; i++) {
        const double degree = row_sum(n, w + i * n);

        q[i] = (float)sqrt(degree);
        scale[i] = degree > 0 ? (float)(1 / sqrt(degree)) : 0;
    }
    num_unit_rows(1, n, q, q, NULL);
    normalise_weights(n, scale, q, w);
}

/* The same for exp(W).  D^1/2 and D^-1/2 are each divided by their largest
 * element; scale [n] gets D^-1/2. */
static void
make_code(size_t n, float *w, float *q, float *scale)
{
    float least = INFINITY, most = -INFINITY;

    for (size_t i = 0; i < n; i++) {
        scale[i] = (float)(log_sum(n, i, w + i * n) / 2);
        least = fminf(least, scale[i]);
        most = fmaxf(most, scale[i]);
    }
    normalise_exp(n, scale, w);
    for (size_t i = 0; i < n; i++) {
        q[i] = expf(scale[i] - most);
        scale[i] = expf(least - scale[i]);
    }
    num_unit_rows(1, n, q, q, NULL);
    deflate_weights(n, q, w);
}

/* x [n,k] from eigenvectors. */
static void
embed_spectrum(const struct select_task *task, size_t n, size_t k,
               const int64_t *ids, struct rng *rng, float *x)
{
    const enum spectral_variant variant =
        (enum spectral_variant)task->value[SPECTRAL_VARIANT];
    float *w = mem_unset(n * n, sizeof *w), *q = mem_array(2 * n, sizeof *q);
    float *vector = mem_unset(n * k, sizeof *vector), *scale = q + n;
    float *value = mem_array(k, sizeof *value);

    select_affinity(task->features, task->value[SELECT_TAU],
                    task->layout.batch + (task->layout.larger > 0), n, ids, w);
    if (variant == SPECTRAL_LITERAL) {
        for (size_t i = 0; i < n; i++) { // D - W
            const double degree = row_sum(n, w + i * n);

            num_scale(n, -1, w + i * n);
            w[i * n + i] = (float)degree;
        }
        num_eigen(n, k, w, loose, rng, value, vector);
    } else {
        (variant == SPECTRAL_CODE ? make_code : make_njw)(n, w, q, scale);
        memcpy(vector, q, n * sizeof *q);
        num_eigen(n, k - 1, w, loose, rng, value, vector + n);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < k; c++)
            x[i * k + c] =
                vector[c * n + i] * (variant == SPECTRAL_CODE ? scale[i] : 1);
    if (variant != SPECTRAL_CODE)
        num_unit_rows(n, k, x, x, NULL);
    mem_free(w, q, vector, value);
}

/* ---- batches of points --------------------------------------------------- */

/* The batches that are planned together, without samples that do not move. */
struct spectral {
    const struct select_task *task;
    size_t k, n;
    int64_t *id;   /* [n] */
    size_t *place; /* [n] their places in the epoch, batch by batch */
    size_t *room;  /* [k] how many of them in each batch */
    struct rng rng;
};

/* Squared distances of some points from LANES centres, in registers. */
static inline __attribute__((always_inline)) void
distances_to_lanes(size_t rows, size_t k, size_t d, const float *x,
                   const float *column, float *cost)
{
    lanes sum[ROWS] = {0}, centre;

    for (size_t j = 0; j < d; j++) {
        memcpy(&centre, column + j * k, sizeof centre);
        for (size_t r = 0; r < rows; r++) {
            const lanes apart = x[r * d + j] - centre;

            sum[r] += apart * apart;
        }
    }
    for (size_t r = 0; r < rows; r++)
        memcpy(cost + r * k, &sum[r], sizeof sum[r]);
}

/* |x - centre|^2 of one centre. */
static float
square_apart(size_t k, size_t d, const float *x, const float *column)
{
    float sum = 0;

    for (size_t j = 0; j < d; j++)
        sum += (x[j] - column[j * k]) * (x[j] - column[j * k]);
    return sum;
}

/* |x_i - centre_c|;  column [d,k] has a centre in each column. */
static UTIL_CLONES(void, distances_to_centres,
                   (size_t n, size_t k, size_t d, const float *x,
                    const float *column, float *cost),
                   (n, k, d, x, column, cost))
{
    const size_t whole = k / LANES * LANES;

    for (size_t c = 0; c < whole; c += LANES) {
        size_t i = 0;

        for (; i + ROWS <= n; i += ROWS)
            distances_to_lanes(ROWS, k, d, x + i * d, column + c,
                               cost + i * k + c);
        for (; i < n; i++)
            distances_to_lanes(1, k, d, x + i * d, column + c,
                               cost + i * k + c);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t c = whole; c < k; c++)
            cost[i * k + c] = square_apart(k, d, x + i * d, column + c);
    for (size_t i = 0; i < n * k; i++)
        cost[i] = sqrtf(cost[i]);
}

/* Assigns points [n,d] to batches: to [n].  Each batch gets a random centre. */
static void
divide_into_batches(struct spectral *b, size_t d, const float *x, uint32_t *to)
{
    const size_t n = b->n, k = b->k;
    float *centre = mem_array(k * d, sizeof *centre);
    float *column = mem_array(k * d, sizeof *column);
    float *cost = mem_unset(n * k, sizeof *cost);
    int64_t *of_batch = mem_array(k, sizeof *of_batch);

    num_kmeans(n, d, k, x, &b->rng, centre, NULL);
    for (size_t c = 0; c < k; c++)
        of_batch[c] = (int64_t)c;
    rng_shuffle(&b->rng, k, of_batch);
    for (size_t c = 0; c < k; c++)
        for (size_t j = 0; j < d; j++)
            column[j * k + c] = centre[(size_t)of_batch[c] * d + j];
    distances_to_centres(n, k, d, x, column, cost);
    num_assign(n, k, cost, b->room, to);
    mem_free(centre, column, cost, of_batch);
}

/* Orders samples by batch; returns the sum of the batch losses. */
static double
arrange_samples(const struct spectral *b, const uint32_t *to, int64_t *order)
{
    const struct select_task *task = b->task;
    size_t *next = mem_array(b->k, sizeof *next), most = b->room[0], from = 0;
    double loss = 0;
    float *work;

    for (size_t c = 1; c < b->k; c++) {
        next[c] = next[c - 1] + b->room[c - 1];
        most = b->room[c] > most ? b->room[c] : most;
    }
    for (size_t i = 0; i < b->n; i++)
        order[next[to[i]]++] = b->id[i];
    work = mem_unset(select_batch_work(most, task->features->d), sizeof *work);
    for (size_t c = 0; c < b->k; from += b->room[c++])
        if (b->room[c])
            loss += select_batch_loss(task->features, task->value[SELECT_TAU],
                                      b->room[c], order + from, work);
    mem_free(work, next);
    return loss;
}

static void
search_best_order(struct spectral *b, int64_t *best)
{
    const size_t restarts = (size_t)b->task->value[SPECTRAL_RESTARTS];
    const int by_means = b->task->value[SPECTRAL_VARIANT] == SPECTRAL_KMEANS;
    const size_t d = by_means ? b->task->features->d : b->k;
    float *x = mem_unset(b->n * d, sizeof *x);
    uint32_t *to = mem_array(b->n, sizeof *to);
    int64_t *order = mem_array(b->n, sizeof *order);
    double most = -1;

    if (by_means) {
        const struct select_features *f = b->task->features;

        // the means of both views
        for (size_t i = 0; i < b->n; i++) {
            const size_t row = (size_t)b->id[i] * f->d;

            for (size_t j = 0; j < f->d; j++)
                x[i * f->d + j] = (f->u[row + j] + f->v[row + j]) / 2;
        }
    } else {
        embed_spectrum(b->task, b->n, b->k, b->id, &b->rng, x);
    }
    for (size_t r = 0; r < restarts; r++) {
        double loss;

        divide_into_batches(b, d, x, to);
        loss = arrange_samples(b, to, order);
        if (loss <= most)
            continue;
        most = loss;
        memcpy(best, order, b->n * sizeof *best);
    }
    mem_free(x, to, order);
}

static void
spectral_plan(const struct select_task *task, size_t number, size_t from,
              size_t to, int64_t *ids)
{
    struct spectral b = {.task = task, .k = to - from};
    const struct select_layout *layout = &task->layout;
    const uint8_t *known = task->features->known;
    const size_t first = select_layout_start(layout, from);
    const size_t most = select_layout_start(layout, to) - first;

    b.id = mem_array(most, sizeof *b.id);
    b.place = mem_array(most, sizeof *b.place);
    b.room = mem_array(b.k, sizeof *b.room);
    for (size_t c = 0; c < b.k; c++)
        for (size_t i = 0; i < select_layout_count(layout, from + c); i++) {
            const size_t at = select_layout_start(layout, from + c) + i;

            if (at >= layout->size || (known && !known[ids[at]]))
                continue;
            b.id[b.n] = ids[at];
            b.place[b.n++] = at;
            b.room[c]++;
        }
    rng_init(&b.rng, task->seed, RNG_PLAN, task->epoch, number,
             STREAM_SPECTRAL);
    if (b.k > 1 && b.n > b.k) {
        int64_t *order = mem_array(b.n, sizeof *order);

        search_best_order(&b, order);
        for (size_t i = 0; i < b.n; i++)
            ids[b.place[i]] = order[i];
        free(order);
    }
    mem_free(b.id, b.place, b.room);
}

static int
is_among(size_t n, const int64_t *ids, int64_t id)
{
    for (size_t i = 0; i < n; i++)
        if (ids[i] == id)
            return 1;
    return 0;
}

/* Batches that are planned together, by the parameter `block`. */
static size_t
spectral_block(const struct select_layout *layout, double block)
{
    const size_t limit = MAX_SAMPLES / (layout->batch + (layout->larger > 0));

    return block >= 0                ? (size_t)block
           : limit > SELECT_TOGETHER ? SELECT_TOGETHER
           : limit < 2               ? 2
                                     : limit;
}

static void
order_spectral(const struct select_task *task, int64_t *ids)
{
    const size_t steps = task->layout.steps,
                 size =
                     spectral_block(&task->layout, task->value[SELECT_BLOCK]);
    const size_t blocks = (steps + size - 1) / size;
    const size_t n = task->layout.size,
                 total = select_layout_total(&task->layout);
    const size_t start =
        select_layout_start(&task->layout, task->layout.steps - 1);
    int64_t *last = ids + start;

    select_shuffle(task, ids);
    // blocks are independent, and one thread computes the matrix products of a
    // block: the result does not depend on the number of threads
#pragma omp parallel for schedule(dynamic)
    for (size_t i = 0; i < blocks; i++)
        spectral_plan(task, i, i * steps / blocks, (i + 1) * steps / blocks,
                      ids);
    // with wrap, a sample that fills the last batch may already be in it:
    // replaces it by another
    for (size_t at = n, next = 0; at < total; at++)
        while (is_among(at - start, last, ids[at]) ||
               is_among(total - at - 1, ids + at + 1, ids[at]))
            ids[at] = ids[next++];
}

static int
spectral_fit(struct select_layout *layout, const double *value, struct err *err)
{
    const size_t most = layout->batch + (layout->larger > 0);
    const size_t block = spectral_block(layout, value[SELECT_BLOCK]);
    const size_t k = block < layout->steps ? block : layout->steps;

    return block > 1 && k <= MAX_SAMPLES / most
               ? 0
               : err_set(err,
                         "spectral plans 2 or more batches together, of %d "
                         "samples in all at most: give --strategy "
                         "spectral,block=%zu or less, or smaller batches, "
                         "not block=%zu",
                         MAX_SAMPLES, spectral_block(layout, -1), block);
}

static const struct param params[] = {
    SELECT_PARAMS,
    [SPECTRAL_VARIANT] = {PARAM_CHOICE("variant", SPECTRAL_NJW,
                                       "njw|code|literal|kmeans",
                                       "which matrix is clustered")},
    [SPECTRAL_RESTARTS] = {PARAM_WHOLE("restarts", 5, 1, 1000,
                                       "starts of k-means")},
    {0},
};

const struct select_strategy select_strategy_spectral = {
    .name = "spectral",
    .summary = "clusters of samples that are hard to tell apart",
    .params = params,
    .needs_features = 1,
    .fit = spectral_fit,
    .order = order_spectral,
};
