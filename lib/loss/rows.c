#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "loss/objective.h"
#include "loss/rows.h"
#include "num/exp.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"
#include "util/mem.h"

enum {
    SQUARE = 32, /* rows and columns added to their mirror image at a time */
    PART = 512,  /* exponentials at a time */
    LANES = 16
};

struct loss_views
loss_views_of(const struct loss_batch *batch)
{
    const size_t v = batch->v ? batch->v : 2;

    return (struct loss_views){batch->b, v,
                               batch->targets ? batch->targets : v};
}

size_t
loss_partner(size_t b, size_t row)
{
    return row < b ? row + b : row - b;
}

/* Returns 1 if view w has a positive of row r. */
static int
is_target(const struct loss_views *views, size_t r, size_t w)
{
    return w < views->targets && w != r / views->b;
}

/* The number of positives of row r. */
static size_t
count_positives(const struct loss_views *views, size_t r)
{
    return views->targets - (r / views->b < views->targets);
}

double
loss_positives_mean(const struct loss_views *views, size_t r, const float *row)
{
    double sum = 0;

    for (size_t w = 0; w < views->targets; w++)
        if (is_target(views, r, w))
            sum += row[w * views->b + r % views->b];
    return sum / (double)count_positives(views, r);
}

void
loss_positives_add(const struct loss_views *views, size_t r, double x,
                   float *row)
{
    const float each = (float)(x / (double)count_positives(views, r));

    for (size_t w = 0; w < views->targets; w++)
        if (is_target(views, r, w))
            row[w * views->b + r % views->b] += each;
}

size_t
loss_mask_count(const struct loss_views *views, enum loss_mask mask)
{
    const size_t b = views->b, n = views->v * b;

    return mask == LOSS_BATCH       ? n - 1
           : mask == LOSS_NEGATIVES ? n - views->v
           : mask == LOSS_CROSS     ? b
                                    : b - 1;
}

/* The columns of a mask, as runs [from,to). */
struct runs {
    size_t n, from[LOSS_VIEWS_MAX + 1], to[LOSS_VIEWS_MAX + 1];
};

static void
add_bounds(struct runs *runs, size_t from, size_t to)
{
    runs->from[runs->n] = from;
    runs->to[runs->n++] = to;
}

/* e = exp(beta (s - max)), 0 below 2e-38. */
static UTIL_CLONES(void, take_exponentials,
                   (size_t n, double beta, float max, const float *s, float *e),
                   (n, beta, max, s, e))
{
    for (size_t c = 0; c < n; c++) {
        const float x = (float)(beta * ((double)s[c] - max));

        e[c] = num_choose(x < -87, 0, num_exp(x));
    }
}

/* sums[0] += sum of e, sums[1] += that of e s. */
static UTIL_CLONES(void, add_moments,
                   (size_t n, const float *s, const float *e, double *sums),
                   (n, s, e, sums))
{
    double part[LANES] = {0}, moment[LANES] = {0};
    size_t c = 0;

    for (; c + LANES <= n; c += LANES)
        for (size_t k = 0; k < LANES; k++) {
            part[k] += e[c + k];
            moment[k] += (double)e[c + k] * s[c + k];
        }
    for (size_t k = 0; c < n; c++, k++) {
        part[k] += e[c];
        moment[k] += (double)e[c] * s[c];
    }
    for (size_t k = 0; k < LANES; k++) {
        sums[0] += part[k];
        sums[1] += moment[k];
    }
}

/* Adds the moments of a run; writes its exponentials to p, unless NULL.  p may
 * be s. */
static void
add_run(size_t n, double beta, float max, const float *s, float *p,
        double *sums)
{
    float e[PART];

    for (size_t c = 0; c < n; c += PART) {
        const size_t now = n - c < PART ? n - c : PART;

        take_exponentials(now, beta, max, s + c, e);
        add_moments(now, s + c, e, sums);
        if (p)
            memcpy(p + c, e, now * sizeof *e);
    }
}

static struct loss_row
partition_runs(const struct runs *runs, size_t rows, double beta,
               const float *s, float *p)
{
    float max = -INFINITY;
    double sums[2] = {0, 0};

    for (size_t i = 0; i < runs->n; i++)
        max =
            fmaxf(max, num_max(runs->to[i] - runs->from[i], s + runs->from[i]));
    for (size_t i = 0; i < runs->n; i++)
        add_run(runs->to[i] - runs->from[i], beta, max, s + runs->from[i],
                p ? p + runs->from[i] : NULL, sums);
    if (p) {
        size_t c = 0;

        // normalises p from exponentials to the softmax, 0 outside of the runs
        for (size_t i = 0; i < runs->n; i++) {
            memset(p + c, 0, (runs->from[i] - c) * sizeof *p);
            c = runs->to[i];
            num_scale(c - runs->from[i], (float)(1 / sums[0]),
                      p + runs->from[i]);
        }
        memset(p + c, 0, (rows - c) * sizeof *p);
    }
    return (struct loss_row){log(sums[0]) + beta * (double)max,
                             sums[1] / sums[0], 0};
}

struct loss_row
loss_row_partition(const struct loss_views *views, size_t rows, size_t r,
                   double beta, enum loss_mask mask, const float *s, float *p)
{
    const double score = loss_positives_mean(views, r, s);
    struct loss_row row;
    struct runs runs;
    const size_t b = views->b, n = views->v * b, own = r % b;
    const size_t from = mask < LOSS_CROSS ? 0 : r < b ? b : 0;
    const size_t to = mask < LOSS_CROSS ? n : from + b;
    size_t at = from;

    REQUIRE(mask < LOSS_CROSS || views->v == 2);
    runs.n = 0;
    for (size_t c = from + own; mask != LOSS_CROSS && c < to; c += b)
        if (mask != LOSS_BATCH || c == r) { // leaves column c out
            add_bounds(&runs, at, c);
            at = c + 1;
        }
    add_bounds(&runs, at, to);
    row = partition_runs(&runs, rows, beta, s, p);
    row.score = score;
    return row;
}

struct loss_row
loss_view_partition(size_t n, double beta, const float *s, float *p)
{
    const struct runs all = {1, {0}, {n}};

    return partition_runs(&all, n, beta, s, p);
}

double
loss_partition(const struct loss_views *views, size_t rows, double beta,
               enum loss_mask mask, const float *s, float *p)
{
    const size_t n = views->v * views->b;
    double *each = mem_array(n, sizeof *each), total = 0;

#pragma omp parallel for schedule(static) if (n * rows >= LOSS_FOR_THREADS)
    for (size_t r = 0; r < n; r++) {
        const float *row = s + r * rows;
        const double positive = loss_positives_mean(views, r, row);

        each[r] = loss_row_partition(views, rows, r, beta, mask, row,
                                     p ? p + r * rows : NULL)
                      .log_z -
                  beta * positive;
    }
    for (size_t r = 0; r < n; r++)
        total += each[r];
    free(each);
    return total;
}

void
loss_partner_balance(size_t rows, size_t partner, float *w)
{
    double others = 0;

    w[partner] = 0;
    for (size_t c = 0; c < rows; c++)
        others += w[c];
    w[partner] = (float)-others;
}

double
loss_log_add(double a, double b)
{
    const double most = a > b ? a : b, least = a > b ? b : a;

    return least == -INFINITY ? most : most + log1p(exp(least - most));
}

/* w += w' for a square at (top,left) and its mirror image, within the first
 * `moved` rows and columns. */
static void
add_mirror(size_t moved, size_t rows, size_t top, size_t left, float *w)
{
    const size_t high = moved - top < SQUARE ? moved - top : SQUARE;
    const size_t wide = moved - left < SQUARE ? moved - left : SQUARE;
    float mirror[SQUARE][SQUARE]; // each element of a column is a cache miss

    for (size_t c = 0; c < wide; c++)
        memcpy(mirror[c], w + (left + c) * rows + top, high * sizeof *w);
    for (size_t r = 0; r < high; r++) {
        float *row = w + (top + r) * rows + left;

        for (size_t c = 0; c < wide; c++)
            row[c] = mirror[c][r] += row[c];
    }
    for (size_t c = 0; c < wide; c++)
        memcpy(w + (left + c) * rows + top, mirror[c], high * sizeof *w);
}

/* Sets dv to the gradient by constants, most of which have weight 0, and
 * removes their weights from W. */
static void
take_constants(size_t moved, size_t rows, size_t d, float *w, const float *v,
               float *dv)
{
    memset(dv, 0, moved * d * sizeof *dv);
    for (size_t r = 0; r < moved; r++) {
        const float *row = w + r * rows;

        for (size_t c = moved; c < rows; c++)
            if (row[c] != 0)
                num_axpy(d, row[c], v + c * d, dv + r * d);
        memmove(w + r * moved, row, moved * sizeof *w);
    }
}

void
loss_similarity_mirror(size_t n, size_t moved, size_t rows, float *w)
{
    memset(w + n * rows, 0, (moved - n) * rows * sizeof *w);
#pragma omp parallel for schedule(dynamic) if (moved * rows >= LOSS_FOR_THREADS)
    for (size_t top = 0; top < moved; top += SQUARE)
        for (size_t left = 0; left <= top; left += SQUARE)
            add_mirror(moved, rows, top, left, w);
}

void
loss_similarity_backward(size_t n, size_t moved, size_t rows, size_t d,
                         float *w, const float *v, float *dv)
{
    const int constants = moved < rows;

    loss_similarity_mirror(n, moved, rows, w);
    if (constants)
        take_constants(moved, rows, d, w, v, dv);
    num_gemm_nn(moved, d, moved, 1, w, v, (float)constants, dv);
}

/* Adds the row of one anchor. */
static void
add_anchor(struct loss_share *share, size_t rows, size_t r,
           const int64_t *sample, const int64_t *group, const float *w)
{
    double same_group_weight = 0, all = 0;
    size_t same_group = 0, negatives = 0;

    for (size_t c = 0; c < rows; c++) {
        const int negative = sample[c] != sample[r];
        const int near = negative & (group[c] == group[r]) & (group[c] >= 0);
        const double weight = negative && w[c] > 0 ? (double)w[c] : 0;

        negatives += (size_t)negative;
        same_group += (size_t)near;
        all += weight;
        same_group_weight += near ? weight : 0;
    }
    share->same_group_weight += same_group_weight;
    share->all += all;
    share->same_group += same_group;
    share->negatives += negatives;
}

void
loss_share_add(struct loss_share *share, size_t n, size_t rows, size_t columns,
               const int64_t *sample, const int64_t *group, const float *w)
{
    for (size_t r = 0; r < n; r++)
        add_anchor(share, rows, r, sample, group, w + r * columns);
}
