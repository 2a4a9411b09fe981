#include <math.h>
#include <omp.h>
#include <string.h>

#include "num/norm.h"
#include "util/clones.h"
#include "util/err.h"

#include "lanes.h"
#include "planes.h"

static const double epsilon = 1e-5; // as in the header

/*
 * The unit of work is a plane (planes.h): plane (i, g) is image i, group g of
 * `block` channels.  Sums of a plane go into first and second, [n,c], and are
 * merged in the order of images, whichever thread computed them; those of a
 * backward pass are merged into total.
 */
struct job {
    const struct num_norm *norm;
    const struct num_map *map;
    double *first, *second, *total[2];
};

size_t
num_norm_counts(const struct num_norm *norm)
{
    if (norm->kind == NUM_NORM_GROUP)
        return norm->map.n * norm->groups;
    return norm->kind == NUM_NORM_NONE ? 0 : norm->map.c;
}

size_t
num_norm_work(const struct num_norm *norm)
{
    return 2 * (norm->map.n * norm->map.c + num_norm_counts(norm));
}

static struct job
job_of(const struct num_norm *norm)
{
    const size_t sums = norm->map.n * norm->map.c;
    double *work = norm->work;
    struct job job = {.norm = norm, .map = &norm->map};

    if (work) {
        job.first = work;
        job.second = work + sums;
        job.total[0] = work + 2 * sums;
        job.total[1] = job.total[0] + num_norm_counts(norm);
    }
    return job;
}

/* The index of the mean and variance of channel k of image i. */
static size_t
count_of(const struct num_norm *norm, size_t i, size_t k)
{
    if (norm->kind == NUM_NORM_GROUP)
        return i * norm->groups + k / (norm->map.c / norm->groups);
    return k;
}

static double
pixels_of(const struct num_map *map)
{
    return (double)(map->h * map->w);
}

/* The number of elements of one mean; infinite for FIXED: its mean does
 * not depend on them. */
static double
count_members(const struct job *job)
{
    size_t lines = job->norm->rows ? job->norm->rows : job->map->n;

    if (job->norm->kind == NUM_NORM_FIXED)
        return INFINITY;
    if (job->norm->kind == NUM_NORM_GROUP)
        lines = job->map->c / job->norm->groups;
    return pixels_of(job->map) * (double)lines;
}

/* Converts two sums by lane to sums by channel. */
static UTIL_CLONES(void, fold_sums,
                   (size_t block, const float *a, const float *b, double *x,
                    double *y),
                   (block, a, b, x, y))
{
    for (size_t j = 0; j < block; j++) {
        x[j] = 0. + a[j];
        y[j] = 0. + b[j];
    }
    for (size_t l = block; l < LANES; l += block)
        for (size_t j = 0; j < block; j++) {
            x[j] += a[l + j];
            y[j] += b[l + j];
        }
}

/* Converts sums of x - first and of its square to the mean and the squares
 * about it. */
static UTIL_CLONES(void, recentre_sums,
                   (size_t block, double pixels, const float *first,
                    double *mean, double *rest),
                   (block, pixels, first, mean, rest))
{
    for (size_t j = 0; j < block; j++) {
        const double m = mean[j] / pixels, left = rest[j] - m * m * pixels;

        rest[j] = left > 0 ? left : 0;
        mean[j] = m + first[j];
    }
}

/* Computes the mean, and the sum of squares about it, of each channel of plane
 * (i, g).  Sums are about the first pixel, so that a large mean loses no
 * digits. */
static void
measure_plane(const struct job *job, size_t i, size_t g)
{
    const struct num_map *map = job->map;
    size_t b = map->block, at = i * map->c + g * b;
    const void *plane = planes_at(map, job->norm->x, i, g);
    double *mean = job->first + at, *rest = job->second + at;
    float first[LANES], sum[LANES], square[LANES];

    for (size_t l = 0; l < LANES; l++) // b divides 16
        first[l] = number_at(plane, l & (b - 1), map->bf16);
    num_planes()->measure(planes_size(map), map->bf16, plane, first, sum,
                          square);
    fold_sums(b, sum, square, mean, rest);
    recentre_sums(b, pixels_of(map), first, mean, rest);
}

/* Merges n means and squares of `width` channels, each of the same number of
 * pixels (Chan, Golub and LeVeque 1983); they start at first[at], and are
 * `step` apart. */
static UTIL_CLONES(void, merge_means,
                   (const struct job *job, size_t at, size_t n, size_t step,
                    size_t width, size_t own),
                   (job, at, n, step, width, own))
{
    const double pixels = pixels_of(job->map), all = count_members(job);
    const double *first = job->first + at, *second = job->second + at;
    double mean[LANES] = {0}, rest[LANES] = {0};

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++)
            mean[j] += first[i * step + j];
    for (size_t j = 0; j < width; j++)
        mean[j] /= (double)n;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < width; j++) {
            double off = first[i * step + j] - mean[j];

            rest[j] += second[i * step + j] + pixels * off * off;
        }
    for (size_t j = 0; j < width; j++) {
        job->norm->mean[own + j] = (float)mean[j];
        job->norm->variance[own + j] = (float)(rest[j] / all);
    }
}

/* Merges all images of group g. */
static void
merge_images(const struct job *job, size_t g)
{
    const size_t c = job->map->c, b = job->map->block;

    merge_means(job, g * b, job->map->n, c, b, g * b);
}

/* Plane (i, g) is normalised by scale (x - centre) + shift, by lane; in batch
 * norm all images have the same. */
struct terms {
    float scale[LANES], centre[LANES], shift[LANES];
};

static float
scale_of(const struct num_norm *norm, size_t k, size_t own)
{
    return (float)(norm->gamma[k] / sqrt(norm->variance[own] + epsilon));
}

static struct terms
terms_of(const struct job *job, size_t i, size_t g)
{
    const struct num_norm *norm = job->norm;
    const size_t block = job->map->block;
    struct terms t = {{0}, {0}, {0}};

    for (size_t l = 0; l < LANES; l++) {
        const size_t k = g * block + (l & (block - 1)); // block divides 16
        const size_t own = count_of(norm, i, k);

        t.scale[l] = 1;
        if (norm->kind == NUM_NORM_NONE)
            continue;
        t.scale[l] = norm->scale ? norm->scale[k] : scale_of(norm, k, own);
        t.centre[l] = norm->mean[own];
        t.shift[l] = norm->beta[k];
    }
    return t;
}

static void
apply_plane(const struct job *job, const struct terms *t, size_t i, size_t g)
{
    const struct num_map *map = job->map;

    num_planes()->apply(planes_size(map), map->bf16,
                        planes_at(map, job->norm->x, i, g), t->scale, t->centre,
                        t->shift, planes_at(map, job->norm->add, i, g),
                        job->norm->relu, planes_at(map, job->norm->y, i, g));
}

void
num_norm_apply(const struct num_norm *norm)
{
    const struct job job = job_of(norm);

#pragma omp parallel for schedule(static) collapse(2)
    for (size_t g = 0; g < planes_count(job.map); g++)
        for (size_t i = 0; i < job.map->n; i++) {
            struct terms t = terms_of(&job, i, g);

            apply_plane(&job, &t, i, g);
        }
}

/* A thread's share of a batch: all images of some groups of channels; or, if
 * there are fewer groups than threads, some images of each group (together). */
struct share {
    size_t group, group_end, image, image_end;
    int together;
};

static struct share
share_of(const struct job *job)
{
    const size_t at = (size_t)omp_get_thread_num();
    const size_t of = (size_t)omp_get_num_threads();
    const size_t n = job->map->n, groups = planes_count(job->map);

    if (groups < of)
        return (struct share){0, groups, n * at / of, n * (at + 1) / of, 1};
    return (struct share){groups * at / of, groups * (at + 1) / of, 0, n, 0};
}

/* Merges the sums of a group when all are computed. */
static void
merge_group(const struct job *job, const struct share *share, size_t g,
            void (*merge)(const struct job *job, size_t g))
{
    if (!share->together) {
        merge(job, g);
        return;
    }
#pragma omp barrier
#pragma omp single
    merge(job, g);
}

/* Batch norm processes group by group; the second pass visits the images in
 * reverse, because the last ones are still in a cache. */
static void
forward_batch(const struct job *job,
              void (*merge)(const struct job *job, size_t g), int apply)
{
#pragma omp parallel
    {
        const struct share share = share_of(job);

        for (size_t g = share.group; g < share.group_end; g++) {
            struct terms t;

            for (size_t i = share.image; i < share.image_end; i++)
                if (!job->norm->measured)
                    measure_plane(job, i, g);
            merge_group(job, &share, g, merge);
            if (!apply)
                continue;
            t = terms_of(job, 0, g);
            for (size_t i = share.image_end; i-- > share.image;)
                apply_plane(job, &t, i, g);
        }
    }
}

static void
forward_group(const struct job *job)
{
    size_t c = job->map->c, groups = job->norm->groups, each = c / groups;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < job->map->n; i++) {
        for (size_t g = 0; g < planes_count(job->map); g++)
            measure_plane(job, i, g);
        for (size_t j = 0; j < groups; j++)
            merge_means(job, i * c + j * each, each, 1, 1, i * groups + j);
        for (size_t g = 0; g < planes_count(job->map); g++) {
            struct terms t = terms_of(job, i, g);

            apply_plane(job, &t, i, g);
        }
    }
}

void
num_norm_forward(const struct num_norm *norm)
{
    const struct job job = job_of(norm);

    if (norm->kind == NUM_NORM_BATCH)
        forward_batch(&job, merge_images, norm->y != NULL);
    else if (norm->kind == NUM_NORM_GROUP)
        forward_group(&job);
    else if (norm->y)
        num_norm_apply(norm);
}

void
num_norm_measure(const struct num_norm *norm, size_t i)
{
    const struct job job = job_of(norm);

    for (size_t g = 0; g < planes_count(job.map); g++)
        measure_plane(&job, i, g);
}

void
num_norm_scales(const struct num_norm *norm, float *scale)
{
    for (size_t k = 0; k < norm->map.c; k++)
        scale[k] = scale_of(norm, k, k);
}

/* Computes the sums over all images of group g from means and squares about
 * them. */
static void
sum_images(const struct job *job, size_t g)
{
    const size_t c = job->map->c, b = job->map->block;
    const double pixels = pixels_of(job->map);
    double *sum = job->total[0] + g * b, *square = job->total[1] + g * b;

    memset(sum, 0, b * sizeof *sum);
    memset(square, 0, b * sizeof *square);
    for (size_t i = 0; i < job->map->n; i++)
        for (size_t j = 0; j < b; j++) {
            const double mean = job->first[i * c + g * b + j];

            sum[j] += pixels * mean;
            square[j] += job->second[i * c + g * b + j] + pixels * mean * mean;
        }
}

void
num_norm_sums(const struct num_norm *norm, double *sums)
{
    struct job job = job_of(norm);

    REQUIRE(norm->kind == NUM_NORM_BATCH);
    job.total[0] = sums;
    job.total[1] = sums + norm->map.c;
    forward_batch(&job, sum_images, 0);
}

void
num_norm_finish(const struct num_norm *norm, const double *sums)
{
    const struct job job = job_of(norm);
    const size_t c = norm->map.c;
    const double all = count_members(&job);

    for (size_t k = 0; k < c; k++) {
        const double mean = sums[k] / all;
        const double variance = sums[c + k] / all - mean * mean;

        norm->mean[k] = (float)mean;
        norm->variance[k] = (float)(variance < 0 ? 0 : variance);
    }
}

/* The gradient at plane (i, g); without y, its sign is recomputed from x. */
static struct num_planes_flow
flow_at(const struct job *job, const struct terms *t, size_t i, size_t g)
{
    const struct num_map *map = job->map;
    int relu = job->norm->relu, remake = relu && !job->norm->y;

    return (struct num_planes_flow){
        planes_at(map, job->norm->dy, i, g),
        planes_at(map, job->norm->dy2, i, g),
        relu ? planes_at(map, job->norm->y, i, g) : NULL,
        remake ? t->scale : NULL,
        remake ? t->shift : NULL,
    };
}

/* Computes sum f and sum f (x - m) by channel, f being the gradient before the
 * activation. */
static void
back_measure_plane(const struct job *job, const struct terms *t, size_t i,
                   size_t g)
{
    const struct num_map *map = job->map;
    size_t at = i * map->c + g * map->block;
    float sum[LANES], along[LANES];

    num_planes()->back_measure(
        planes_size(map), map->bf16, flow_at(job, t, i, g),
        planes_at(map, job->norm->x, i, g), t->centre,
        planes_at(map, job->norm->dadd, i, g), sum, along);
    fold_sums(map->block, sum, along, job->first + at, job->second + at);
}

/*
 * With r = 1 / sqrt(v + eps), N members and sums over them:
 *
 *   dx = r (gamma f - sum gamma f / N - r^2 (x - m) sum gamma f (x - m) / N)
 *
 * that is, scale f + along (x - m) + level.
 */
struct back_terms {
    float along[LANES], level[LANES];
};

static struct back_terms
back_terms_of(const struct job *job, size_t i, size_t g)
{
    struct back_terms t;

    for (size_t l = 0; l < LANES; l++) {
        size_t k = g * job->map->block + l % job->map->block;
        size_t own = count_of(job->norm, i, k);
        double r = 1 / sqrt(job->norm->variance[own] + epsilon);

        t.along[l] =
            (float)(-r * r * r * job->total[1][own] / count_members(job));
        t.level[l] = (float)(-r * job->total[0][own] / count_members(job));
    }
    return t;
}

static void
back_plane(const struct job *job, const struct terms *t,
           const struct back_terms *b, size_t i, size_t g)
{
    const struct num_map *map = job->map;
    struct num_planes_flow flow = flow_at(job, t, i, g);

    if (job->norm->dadd) // it contains f
        flow = (struct num_planes_flow){
            .dy = planes_at(map, job->norm->dadd, i, g)};
    num_planes()->back(planes_size(map), map->bf16, flow,
                       planes_at(map, job->norm->x, i, g), t->centre, t->scale,
                       b->along, b->level, planes_at(map, job->norm->dx, i, g));
}

/* Adds gamma times the sums of all images and channels of group g to their
 * total. */
static UTIL_CLONES(void, add_images, (const struct job *job, size_t g),
                   (job, g))
{
    const size_t c = job->map->c, b = job->map->block;
    const float *gamma = job->norm->gamma + g * b;
    const double *first = job->first + g * b, *second = job->second + g * b;
    double *total[2] = {job->total[0] + g * b, job->total[1] + g * b};

    for (size_t i = 0; i < job->map->n; i++)
        for (size_t j = 0; j < b; j++) {
            total[0][j] += gamma[j] * first[i * c + j];
            total[1][j] += gamma[j] * second[i * c + j];
        }
}

static void
back_batch(const struct job *job, int apply)
{
#pragma omp parallel
    {
        const struct share share = share_of(job);

        for (size_t g = share.group; g < share.group_end; g++) {
            const struct terms t = terms_of(job, 0, g);
            struct back_terms b;

            for (size_t i = share.image; i < share.image_end; i++)
                if (!job->norm->measured)
                    back_measure_plane(job, &t, i, g);
            merge_group(job, &share, g, add_images);
            if (!apply)
                continue;
            b = back_terms_of(job, 0, g);
            for (size_t i = share.image_end; i-- > share.image;)
                back_plane(job, &t, &b, i, g);
        }
    }
}

static void
back_group(const struct job *job)
{
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < job->map->n; i++) {
        for (size_t g = 0; g < planes_count(job->map); g++) {
            struct terms t = terms_of(job, i, g);

            back_measure_plane(job, &t, i, g);
        }
        for (size_t k = 0; k < job->map->c; k++) {
            const size_t own = count_of(job->norm, i, k);
            const size_t at = i * job->map->c + k;

            job->total[0][own] += job->norm->gamma[k] * job->first[at];
            job->total[1][own] += job->norm->gamma[k] * job->second[at];
        }
        for (size_t g = 0; g < planes_count(job->map); g++) {
            struct terms t = terms_of(job, i, g);
            struct back_terms b = back_terms_of(job, i, g);

            back_plane(job, &t, &b, i, g);
        }
    }
}

static void
back_without_norm(const struct job *job)
{
    const struct num_map *map = job->map;
    size_t groups = planes_count(map);

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * groups; at++)
        num_planes()->flow(planes_size(map), map->bf16,
                           flow_at(job, NULL, at / groups, at % groups),
                           planes_at(map, job->norm->dx, 0, at));
    if (job->norm->dadd)
        memcpy(job->norm->dadd, job->norm->dx, num_map_bytes(map));
}

/* Computes dgamma_k = sum f (x - m) r, dbeta_k = sum f, for `b` channels from k
 * on. */
static UTIL_CLONES(void, back_affine,
                   (const struct job *job, size_t k, size_t b), (job, k, b))
{
    const struct num_norm *norm = job->norm;
    const size_t c = job->map->c;
    double first[LANES] = {0}, second[LANES] = {0}, root[LANES];

    for (size_t i = 0; i < job->map->n; i++) {
        const double *f = job->first + i * c + k, *s = job->second + i * c + k;

        for (size_t j = 0; j < b && (!i || norm->kind == NUM_NORM_GROUP); j++)
            root[j] = sqrt(norm->variance[count_of(norm, i, k + j)] + epsilon);
        for (size_t j = 0; j < b; j++) {
            first[j] += f[j];
            second[j] += s[j] / root[j];
        }
    }
    for (size_t j = 0; j < b; j++) {
        float *dgamma = norm->dgamma + k + j, *dbeta = norm->dbeta + k + j;

        *dgamma = (norm->accumulate ? *dgamma : 0) + (float)second[j];
        *dbeta = (norm->accumulate ? *dbeta : 0) + (float)first[j];
    }
}

void
num_norm_backward(const struct num_norm *norm)
{
    const int none = norm->kind == NUM_NORM_NONE;
    const struct job job = job_of(norm);

    REQUIRE(!norm->dadd || norm->dx != norm->dadd);
    REQUIRE(norm->y || !norm->relu || (!norm->dadd && !none));
    if (none) {
        back_without_norm(&job);
        return;
    }
    memset(job.total[0], 0, 2 * num_norm_counts(norm) * sizeof *norm->work);
    if (norm->kind == NUM_NORM_GROUP)
        back_group(&job);
    else
        back_batch(&job, 1);
    for (size_t k = 0; k < norm->map.c; k += norm->map.block)
        back_affine(&job, k, norm->map.block);
}

void
num_norm_back_measure(const struct num_norm *norm, size_t i)
{
    const struct job job = job_of(norm);

    for (size_t g = 0; g < planes_count(job.map); g++) {
        const struct terms t = terms_of(&job, i, g);

        back_measure_plane(&job, &t, i, g);
    }
}

void
num_norm_back_sums(const struct num_norm *norm, double *sums)
{
    struct job job = job_of(norm);

    REQUIRE(norm->kind == NUM_NORM_BATCH && norm->dx != norm->dadd);
    REQUIRE(norm->y || !norm->relu || !norm->dadd);
    job.total[0] = sums;
    job.total[1] = sums + norm->map.c;
    memset(sums, 0, 2 * norm->map.c * sizeof *sums);
    back_batch(&job, 0);
    for (size_t k = 0; k < norm->map.c; k += norm->map.block)
        back_affine(&job, k, norm->map.block);
}

void
num_norm_back_finish(const struct num_norm *norm, const double *sums)
{
    struct job job = job_of(norm);

    memcpy(job.total[0], sums, 2 * norm->map.c * sizeof *sums);
#pragma omp parallel for schedule(static) collapse(2)
    for (size_t g = 0; g < planes_count(job.map); g++)
        for (size_t i = 0; i < job.map->n; i++) {
            const struct terms t = terms_of(&job, 0, g);
            const struct back_terms b = back_terms_of(&job, 0, g);

            back_plane(&job, &t, &b, i, g);
        }
}
