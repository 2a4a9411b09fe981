#include <math.h>

#include "loss/global.h"
#include "loss/rows.h"
#include "num/exp.h"
#include "num/gemm.h"
#include "num/vec.h"
#include "util/clones.h"
#include "util/err.h"

enum { TILE = 512 }; // rows and columns of S at a time

/*
 * The arrays of the computation.  log Z_r is stored in two parts, beta max_r
 * and log_r, because one float would lose digits with a large beta.
 */
struct job {
    const struct loss_global *set;
    size_t n;
    float *v, *length; /* [n,d], [n] */
    float *max, *log;  /* [n] log Z_r = beta max_r + log_r */
    float *share;      /* [n] of the negatives in the gradient of row r */
    float *tile;       /* [TILE,TILE] */
};

static size_t
count_rows(const struct loss_global *set)
{
    return set->images * set->views;
}

size_t
loss_global_size(const struct loss_global *set)
{
    return count_rows(set) * (set->d + 4) + TILE * TILE;
}

static size_t
min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Computes the tile of S at (r,c), without columns of each row's own image, and
 * with `cross` those of its view. */
static void
fill_tile(const struct job *job, size_t r, size_t rows, size_t c, size_t cols)
{
    const size_t d = job->set->d, images = job->set->images;

    num_gemm_nt(rows, cols, d, 1, job->v + r * d, job->v + c * d, 0, job->tile);
    for (size_t i = 0; i < rows; i++) {
        const size_t view = (r + i) / images * images; // its first row

        for (size_t p = (r + i) % images; p < c + cols; p += images)
            if (p >= c)
                job->tile[i * cols + p - c] = -INFINITY;
        for (size_t p = 0; job->set->cross && p < cols; p++)
            if (c + p >= view && c + p < view + images)
                job->tile[i * cols + p] = -INFINITY;
    }
}

/* s becomes scale exp(beta (s - max) - log). */
static UTIL_CLONES(void, exp_scores,
                   (size_t n, float beta, float max, float log, float scale,
                    float *s),
                   (n, beta, max, log, scale, s))
{
    for (size_t i = 0; i < n; i++)
        s[i] = scale * num_exp(beta * (s[i] - max) - log);
}

/* Adds the scores of one row and some columns to its Z; sum is Z_r / exp(beta
 * max_r). */
static void
add_scores(const struct job *job, size_t r, size_t cols, float *s, double *sum)
{
    const double beta = job->set->beta;
    const float max = num_max(cols, s);

    if (max > job->max[r]) {
        *sum *= exp(beta * ((double)job->max[r] - max));
        job->max[r] = max;
    }
    exp_scores(cols, (float)beta, job->max[r], 0, 1, s);
    for (size_t i = 0; i < cols; i++)
        *sum += s[i];
}

/*
 * The loss of the pair (r, p), before the mean.  *slope is dL/d log Z_r, and
 * -*slope beta is dL/ds_rp.
 */
static double
pair_loss(const struct job *job, size_t r, size_t p, double *slope)
{
    const size_t d = job->set->d;
    const double beta = job->set->beta;
    const double s = num_dot(d, job->v + r * d, job->v + p * d);
    const double lead = beta * (job->max[r] - s) + job->log[r];

    *slope = job->set->inside ? 1 / (1 + exp(-lead)) : 1;
    return job->set->inside ? loss_log_add(lead, 0) : lead;
}

/* Returns L and sets share; unless NULL, dv gets the gradient of partners. */
static double
pull_partners(const struct job *job, float *dv)
{
    const struct loss_global *set = job->set;
    const size_t d = set->d;
    const double pairs = (double)job->n * (double)(set->views - 1);
    double total = 0;

    for (size_t i = 0; dv && i < job->n * d; i++)
        dv[i] = 0;
    for (size_t r = 0; r < job->n; r++) {
        double share = 0, slope;

        for (size_t p = r % set->images; p < job->n; p += set->images) {
            float w;

            if (p == r)
                continue;
            total += pair_loss(job, r, p, &slope);
            share += slope / pairs;
            w = (float)(-set->beta * slope / pairs);
            if (dv) {
                num_axpy(d, w, job->v + p * d, dv + r * d);
                num_axpy(d, w, job->v + r * d, dv + p * d);
            }
        }
        job->share[r] = (float)share;
    }
    return total / pairs;
}

/* Adds the gradient of negatives: dv += (W + W') v over all tiles of W. */
static void
push_negatives(const struct job *job, float *dv)
{
    const float beta = (float)job->set->beta;
    const size_t d = job->set->d;

    for (size_t r = 0; r < job->n; r += TILE)
        for (size_t c = 0; c < job->n; c += TILE) {
            size_t rows = min_size(TILE, job->n - r);
            size_t cols = min_size(TILE, job->n - c);

            fill_tile(job, r, rows, c, cols);
            for (size_t i = 0; i < rows; i++)
                exp_scores(cols, beta, job->max[r + i], job->log[r + i],
                           beta * job->share[r + i], job->tile + i * cols);
            num_gemm_nn(rows, d, cols, 1, job->tile, job->v + c * d, 1,
                        dv + r * d);
            num_gemm_tn(cols, d, rows, 1, job->tile, job->v + r * d, 1,
                        dv + c * d);
        }
}

double
loss_global(const struct loss_global *set, const float *z, float *dz,
            float *work)
{
    struct job job = {.set = set, .n = count_rows(set), .v = work};
    double value;

    REQUIRE(set->images >= 2 && set->views >= 2 && set->beta > 0);
    job.length = job.v + job.n * set->d;
    job.max = job.length + job.n;
    job.log = job.max + job.n;
    job.share = job.log + job.n;
    job.tile = job.share + job.n;
    num_unit_rows(job.n, set->d, z, job.v, job.length);
    // computes max and log of all rows
    for (size_t r = 0; r < job.n; r += TILE) {
        size_t rows = min_size(TILE, job.n - r);
        double sum[TILE] = {0};

        for (size_t i = 0; i < rows; i++)
            job.max[r + i] = -1;
        for (size_t c = 0; c < job.n; c += TILE) {
            size_t cols = min_size(TILE, job.n - c);

            fill_tile(&job, r, rows, c, cols);
            for (size_t i = 0; i < rows; i++)
                add_scores(&job, r + i, cols, job.tile + i * cols, &sum[i]);
        }
        for (size_t i = 0; i < rows; i++)
            job.log[r + i] = (float)log(sum[i]);
    }
    value = pull_partners(&job, dz);
    if (dz) {
        push_negatives(&job, dz);
        num_unit_rows_back(job.n, set->d, job.v, job.length, dz, dz);
    }
    return value;
}
