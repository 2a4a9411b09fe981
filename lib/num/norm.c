#include <math.h>
#include <omp.h>
#include <string.h>

#include "lanes.h"
#include "num/norm.h"
#include "planes.h"
#include "util/err.h"

static const double epsilon = 1e-5; // as in the header

/*
 * Work is done by planes (planes.h): plane (i, g) is image i, group g of
 * `block` channels.  Sums of a plane go into part[0] and part[1], [n,c] each,
 * and are put together in the order of images, whoever made them.
 */
struct parts {
    double *first, *second; /* [n,c] */
    double *total[2];       /* [num_norm_counts()]: used in backward */
};

size_t
num_norm_counts(const struct num_norm *norm)
{
    switch (norm->kind) {
    case NUM_NORM_BATCH:
        return norm->map.c;
    case NUM_NORM_GROUP:
        return norm->map.n * norm->groups;
    default:
        return 0;
    }
}

size_t
num_norm_work(const struct num_norm *norm)
{
    return 2 * (norm->map.n * norm->map.c + num_norm_counts(norm));
}

static struct parts
parts_in(const struct num_norm *norm, double *work)
{
    size_t planes = norm->map.n * norm->map.c, counts = num_norm_counts(norm);

    return (struct parts){
        work,
        work + planes,
        {work + 2 * planes, work + 2 * planes + counts},
    };
}

/* Which mean and variance belong to channel k of image i. */
static size_t
count_of(const struct num_norm *norm, size_t i, size_t k)
{
    if (norm->kind == NUM_NORM_GROUP)
        return i * norm->groups + k / (norm->map.c / norm->groups);
    return k;
}

/* How many elements one mean is of. */
static double
members(const struct num_norm *norm)
{
    const struct num_map *map = &norm->map;
    double pixels = (double)(map->h * map->w);

    if (norm->kind == NUM_NORM_GROUP)
        return pixels * (double)(map->c / norm->groups);
    return pixels * (double)map->n;
}

static size_t
plane_size(const struct num_map *map)
{
    return map->h * map->w * map->block;
}

/* Where plane (i, g) of a map begins; NULL of no map. */
static void *
plane_at(const struct num_map *map, const void *data, size_t i, size_t g)
{
    size_t at = (i * (map->c / map->block) + g) * plane_size(map);
    size_t width = map->bf16 ? sizeof(uint16_t) : sizeof(float);

    return data ? (uint8_t *)data + at * width : NULL;
}

/* Two sums by lane become two sums by channel. */
static void
fold(size_t block, const float *a, const float *b, double *x, double *y)
{
    for (size_t j = 0; j < block; j++) {
        x[j] = y[j] = 0;
        for (size_t l = j; l < LANES; l += block) {
            x[j] += a[l];
            y[j] += b[l];
        }
    }
}

/* Mean, and sum of squares about it, of each channel of plane (i, g).  Sums
 * are about the first pixel, so that a large mean costs no digits. */
static void
measure_plane(const struct num_norm *norm, const void *x, size_t i, size_t g,
              const struct parts *parts)
{
    const struct num_map *map = &norm->map;
    size_t b = map->block, at = i * map->c + g * b;
    double pixels = (double)(map->h * map->w);
    const void *plane = plane_at(map, x, i, g);
    float first[LANES], sum[LANES], square[LANES];
    double *mean = parts->first + at, *rest = parts->second + at;

    for (size_t l = 0; l < LANES; l++)
        first[l] = map->bf16 ? half_value(((const uint16_t *)plane)[l % b])
                             : ((const float *)plane)[l % b];
    planes_measure(plane_size(map), map->bf16, plane, first, sum, square);
    fold(b, sum, square, mean, rest);
    for (size_t j = 0; j < b; j++) {
        rest[j] = fmax(0, rest[j] - mean[j] * mean[j] / pixels);
        mean[j] = first[j] + mean[j] / pixels;
    }
}

/* Puts `count` planes' means and squares together (Chan, Golub and LeVeque
 * 1983, for parts of equal size), found `stride` apart. */
static void
merge(size_t count, size_t stride, const double *means, const double *squares,
      double pixels, float *mean, float *variance)
{
    double sum = 0, rest = 0, m;

    for (size_t i = 0; i < count; i++)
        sum += means[i * stride];
    m = sum / (double)count;
    for (size_t i = 0; i < count; i++) {
        double off = means[i * stride] - m;

        rest += squares[i * stride] + pixels * off * off;
    }
    *mean = (float)m;
    *variance = (float)(rest / ((double)count * pixels));
}

/* scale (x - centre) + shift, by lane, is what normalises plane (i, g). */
struct terms {
    float scale[LANES], centre[LANES], shift[LANES];
};

static struct terms
terms_of(const struct num_norm *norm, const float *gamma, const float *beta,
         const float *mean, const float *variance, size_t i, size_t g)
{
    struct terms t = {{0}, {0}, {0}};

    for (size_t l = 0; l < LANES; l++) {
        size_t k = g * norm->map.block + l % norm->map.block;
        size_t own = count_of(norm, i, k);

        t.scale[l] = 1;
        if (norm->kind == NUM_NORM_NONE)
            continue;
        t.scale[l] = (float)(gamma[k] / sqrt(variance[own] + epsilon));
        t.centre[l] = mean[own];
        t.shift[l] = beta[k];
    }
    return t;
}

/* y of plane (i, g). */
static void
apply_plane(const struct num_norm *norm, const void *x, const float *gamma,
            const float *beta, const void *add, const float *mean,
            const float *variance, void *y, size_t i, size_t g)
{
    const struct num_map *map = &norm->map;
    struct terms t = terms_of(norm, gamma, beta, mean, variance, i, g);

    planes_apply(plane_size(map), map->bf16, plane_at(map, x, i, g), t.scale,
                 t.centre, t.shift, plane_at(map, add, i, g), norm->relu,
                 plane_at(map, y, i, g));
}

void
num_norm_apply(const struct num_norm *norm, const void *x, const float *gamma,
               const float *beta, const void *add, const float *mean,
               const float *variance, void *y)
{
    size_t groups = norm->map.c / norm->map.block;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < norm->map.n * groups; at++)
        apply_plane(norm, x, gamma, beta, add, mean, variance, y, at / groups,
                    at % groups);
}

/*
 * Batch norm goes channel group by channel group, so that the second pass
 * finds the first one's data in a cache: groups are shared among the threads,
 * or, where they are too few, the images of each.
 */
static void
forward_batch(const struct num_norm *norm, const void *x, const float *gamma,
              const float *beta, const void *add, void *y, float *mean,
              float *variance, const struct parts *parts)
{
    const struct num_map *map = &norm->map;
    size_t n = map->n, c = map->c, groups = c / map->block;
    int many = groups >= (size_t)omp_get_max_threads();

#pragma omp parallel for schedule(static) if (many)
    for (size_t g = 0; g < groups; g++) {
#pragma omp parallel for schedule(static) if (!many)
        for (size_t i = 0; i < n; i++)
            measure_plane(norm, x, i, g, parts);
        for (size_t k = g * map->block; k < (g + 1) * map->block; k++)
            merge(n, c, parts->first + k, parts->second + k,
                  (double)(map->h * map->w), mean + k, variance + k);
#pragma omp parallel for schedule(static) if (!many)
        for (size_t i = 0; i < n; i++)
            apply_plane(norm, x, gamma, beta, add, mean, variance, y, i, g);
    }
}

static void
forward_group(const struct num_norm *norm, const void *x, const float *gamma,
              const float *beta, const void *add, void *y, float *mean,
              float *variance, const struct parts *parts)
{
    const struct num_map *map = &norm->map;
    size_t c = map->c, planes = c / map->block, each = c / norm->groups;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map->n; i++) {
        for (size_t g = 0; g < planes; g++)
            measure_plane(norm, x, i, g, parts);
        for (size_t j = 0; j < norm->groups; j++) {
            size_t at = i * c + j * each, own = i * norm->groups + j;

            merge(each, 1, parts->first + at, parts->second + at,
                  (double)(map->h * map->w), mean + own, variance + own);
        }
        for (size_t g = 0; g < planes; g++)
            apply_plane(norm, x, gamma, beta, add, mean, variance, y, i, g);
    }
}

void
num_norm_forward(const struct num_norm *norm, const void *x, const float *gamma,
                 const float *beta, const void *add, void *y, float *mean,
                 float *variance, double *work)
{
    struct parts parts = parts_in(norm, work);

    if (norm->kind == NUM_NORM_BATCH)
        forward_batch(norm, x, gamma, beta, add, y, mean, variance, &parts);
    else if (norm->kind == NUM_NORM_GROUP)
        forward_group(norm, x, gamma, beta, add, y, mean, variance, &parts);
    else
        num_norm_apply(norm, x, gamma, beta, add, mean, variance, y);
}

/* Everything that num_norm_backward() was given. */
struct back {
    const struct num_norm *norm;
    const void *x, *y, *dy, *dy2;
    const float *gamma, *beta, *mean, *variance;
    void *dx, *dadd;
    struct parts parts;
};

static struct planes_flow
flow_at(const struct back *b, const struct terms *t, size_t i, size_t g)
{
    const struct num_map *map = &b->norm->map;
    int relu = b->norm->relu, remake = relu && !b->y;

    return (struct planes_flow){
        plane_at(map, b->dy, i, g),
        plane_at(map, b->dy2, i, g),
        relu ? plane_at(map, b->y, i, g) : NULL,
        remake ? t->scale : NULL,
        remake ? t->shift : NULL,
    };
}

static struct terms
back_terms(const struct back *b, size_t i, size_t g)
{
    return terms_of(b->norm, b->gamma, b->beta, b->mean, b->variance, i, g);
}

/* With f = dy past the activation: sum f and sum f (x - m) by channel. */
static void
back_measure_plane(const struct back *b, size_t i, size_t g)
{
    const struct num_map *map = &b->norm->map;
    size_t at = i * map->c + g * map->block;
    struct terms t = back_terms(b, i, g);
    float sum[LANES], along[LANES];

    planes_back_measure(plane_size(map), map->bf16, flow_at(b, &t, i, g),
                        plane_at(map, b->x, i, g), t.centre,
                        plane_at(map, b->dadd, i, g), sum, along);
    fold(map->block, sum, along, b->parts.first + at, b->parts.second + at);
}

/*
 * With r = 1 / sqrt(v + eps), N members and sums over them:
 *
 *   dx = r (gamma f - sum gamma f / N - r^2 (x - m) sum gamma f (x - m) / N)
 */
static void
back_plane(const struct back *b, size_t i, size_t g)
{
    const struct num_map *map = &b->norm->map;
    struct terms t = back_terms(b, i, g);
    struct planes_flow flow = flow_at(b, &t, i, g);
    double n = members(b->norm);
    float q[LANES], s[LANES];

    for (size_t l = 0; l < LANES; l++) {
        size_t own = count_of(b->norm, i, g * map->block + l % map->block);
        double r = 1 / sqrt(b->variance[own] + epsilon);

        q[l] = (float)(-r * r * r * b->parts.total[1][own] / n);
        s[l] = (float)(-r * b->parts.total[0][own] / n);
    }
    if (b->dadd) // holds f already
        flow = (struct planes_flow){.dy = plane_at(map, b->dadd, i, g)};
    planes_back(plane_size(map), map->bf16, flow, plane_at(map, b->x, i, g),
                t.centre, t.scale, q, s, plane_at(map, b->dx, i, g));
}

/* Sums of channel k over the images become its total. */
static void
back_total(const struct back *b, size_t k)
{
    const struct num_map *map = &b->norm->map;
    double first = 0, second = 0;

    for (size_t i = 0; i < map->n; i++) {
        first += b->parts.first[i * map->c + k];
        second += b->parts.second[i * map->c + k];
    }
    b->parts.total[0][k] = b->gamma[k] * first;
    b->parts.total[1][k] = b->gamma[k] * second;
}

static void
back_batch(const struct back *b)
{
    const struct num_map *map = &b->norm->map;
    size_t n = map->n, groups = map->c / map->block;
    int many = groups >= (size_t)omp_get_max_threads();

#pragma omp parallel for schedule(static) if (many)
    for (size_t g = 0; g < groups; g++) {
#pragma omp parallel for schedule(static) if (!many)
        for (size_t i = 0; i < n; i++)
            back_measure_plane(b, i, g);
        for (size_t k = g * map->block; k < (g + 1) * map->block; k++)
            back_total(b, k);
#pragma omp parallel for schedule(static) if (!many)
        for (size_t i = 0; i < n; i++)
            back_plane(b, i, g);
    }
}

static void
back_group(const struct back *b)
{
    const struct num_map *map = &b->norm->map;
    size_t c = map->c, planes = c / map->block, each = c / b->norm->groups;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map->n; i++) {
        double *total[2] = {b->parts.total[0] + i * b->norm->groups,
                            b->parts.total[1] + i * b->norm->groups};

        for (size_t g = 0; g < planes; g++)
            back_measure_plane(b, i, g);
        for (size_t j = 0; j < b->norm->groups; j++)
            total[0][j] = total[1][j] = 0;
        for (size_t k = 0; k < c; k++) {
            total[0][k / each] += b->gamma[k] * b->parts.first[i * c + k];
            total[1][k / each] += b->gamma[k] * b->parts.second[i * c + k];
        }
        for (size_t g = 0; g < planes; g++)
            back_plane(b, i, g);
    }
}

static void
back_none(const struct back *b)
{
    const struct num_map *map = &b->norm->map;
    size_t groups = map->c / map->block;

#pragma omp parallel for schedule(static)
    for (size_t at = 0; at < map->n * groups; at++) {
        size_t i = at / groups, g = at % groups;

        planes_flow(plane_size(map), map->bf16, flow_at(b, NULL, i, g),
                    plane_at(map, b->dx, i, g));
        if (b->dadd)
            memcpy(plane_at(map, b->dadd, i, g), plane_at(map, b->dx, i, g),
                   num_map_bytes(map) / (map->n * groups));
    }
}

/* dgamma_k = sum f (x - m) r, dbeta_k = sum f. */
static void
back_affine(const struct back *b, float *dgamma, float *dbeta, int accumulate)
{
    const struct num_map *map = &b->norm->map;

    for (size_t k = 0; k < map->c; k++) {
        double first = 0, second = 0;

        for (size_t i = 0; i < map->n; i++) {
            double v = b->variance[count_of(b->norm, i, k)];

            first += b->parts.first[i * map->c + k];
            second += b->parts.second[i * map->c + k] / sqrt(v + epsilon);
        }
        dgamma[k] = (accumulate ? dgamma[k] : 0) + (float)second;
        dbeta[k] = (accumulate ? dbeta[k] : 0) + (float)first;
    }
}

void
num_norm_backward(const struct num_norm *norm, const void *x, const void *y,
                  const float *gamma, const float *beta, const float *mean,
                  const float *variance, const void *dy, const void *dy2,
                  void *dx, void *dadd, float *dgamma, float *dbeta,
                  int accumulate, double *work)
{
    struct back b = {norm, x,    y,        dy, dy2,  gamma,
                     beta, mean, variance, dx, dadd, {0}};

    REQUIRE(!dadd || (dx != dadd && (y || !norm->relu)));
    REQUIRE(norm->kind != NUM_NORM_NONE || y || !norm->relu);
    if (norm->kind == NUM_NORM_NONE) {
        back_none(&b);
        return;
    }
    b.parts = parts_in(norm, work);
    if (norm->kind == NUM_NORM_BATCH)
        back_batch(&b);
    else
        back_group(&b);
    back_affine(&b, dgamma, dbeta, accumulate);
}
