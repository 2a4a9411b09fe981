#include "eval/tsne.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "eval/pca.h"
#include "num/vec.h"
#include "quadtree.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/rng.h"

static const float theta = 0.5F;

struct eval_tsne {
    size_t n, step;
    struct affinity affinity;
    struct quadtree tree;
    float *y, *velocity, *gain; /* [n,2] */
    float *attract, *repel;     /* [n,2] the two parts of the gradient */
    float *z;                   /* [n] their shares of Z */
};

/* Along the first two principal components; [n,2]. */
static void
project_rows(size_t n, size_t d, const float *x, float *y)
{
    const size_t k = d < 2 ? d : 2;
    float *basis = mem_array((k + 1) * d, sizeof *basis);

    eval_pca(n, d, x, k, basis);
    for (size_t i = 0; i < n; i++)
        for (size_t a = 0; a < k; a++)
            y[2 * i + a] = (float)num_dot(d, basis + a * d, x + i * d);
    free(basis);
}

static void
subtract_mean(size_t n, float *y)
{
    double mean[2] = {0};

    for (size_t i = 0; i < 2 * n; i++)
        mean[i & 1] += y[i] / (double)n;
    for (size_t i = 0; i < 2 * n; i++)
        y[i] -= (float)mean[i & 1];
}

/* All so close that each may pass each other, and no two at one place. */
static void
gather_points(size_t n, float *y)
{
    double square = 0, scale;
    struct rng rng;

    subtract_mean(n, y);
    for (size_t i = 0; i < 2 * n; i++)
        square += (double)y[i] * y[i] / (2 * (double)n);
    scale = square > 0 ? 1e-4 / sqrt(square) : 0;
    rng_init(&rng, 0, RNG_EVAL, 0, 0, 0);
    for (size_t i = 0; i < 2 * n; i++)
        y[i] = (float)(y[i] * scale + 1e-6 * rng_normal(&rng));
    subtract_mean(n, y);
}

struct eval_tsne *
eval_tsne_new(size_t n, size_t d, const float *x, double perplexity,
              const float *start)
{
    struct eval_tsne *map = mem_array(1, sizeof *map);
    const size_t k = (size_t)(3 * perplexity);

    REQUIRE(perplexity >= 1 && k < n);
    map->n = n;
    eval_affinity_find(&map->affinity, n, d, x, k, perplexity);
    map->y = mem_array(2 * n, sizeof *map->y);
    map->velocity = mem_array(2 * n, sizeof *map->velocity);
    map->gain = mem_array(2 * n, sizeof *map->gain);
    map->attract = mem_array(2 * n, sizeof *map->attract);
    map->repel = mem_array(2 * n, sizeof *map->repel);
    map->z = mem_array(n, sizeof *map->z);
    for (size_t i = 0; i < 2 * n; i++)
        map->gain[i] = 1;
    if (start)
        memcpy(map->y, start, 2 * n * sizeof *start);
    else
        project_rows(n, d, x, map->y);
    gather_points(n, map->y);
    return map;
}

void
eval_tsne_free(struct eval_tsne *map)
{
    eval_affinity_release(&map->affinity);
    eval_quadtree_release(&map->tree);
    free(map->y);
    free(map->velocity);
    free(map->gain);
    free(map->attract);
    free(map->repel);
    free(map->z);
    free(map);
}

/* Fills in repel, and returns Z, added up in one order. */
static double
repel_points(struct eval_tsne *map)
{
    double sum = 0;

    eval_quadtree_build(&map->tree, map->n, map->y);
#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map->n; i += QUADTREE_GROUP)
        eval_quadtree_repel(&map->tree, map->y, i, theta, map->repel, map->z);
    for (size_t i = 0; i < map->n; i++)
        sum += map->z[i] - 1; // w of a point and itself
    return sum;
}

static void
attract_points(struct eval_tsne *map)
{
    const struct affinity *a = &map->affinity;
    const float *y = map->y;

#pragma omp parallel for schedule(static)
    for (size_t i = 0; i < map->n; i++) {
        float force[2] = {0};

        for (size_t j = a->start[i]; j < a->start[i + 1]; j++) {
            const float *other = y + 2 * (size_t)a->pair[j].column;
            const float dx = y[2 * i] - other[0], dy = y[2 * i + 1] - other[1];
            const float pull = a->pair[j].p / (1 + dx * dx + dy * dy);

            force[0] += pull * dx;
            force[1] += pull * dy;
        }
        map->attract[2 * i] = force[0];
        map->attract[2 * i + 1] = force[1];
    }
}

void
eval_tsne_step(struct eval_tsne *map)
{
    const int early = map->step++ < EVAL_TSNE_EARLY;
    const float more = early ? 12 : 1, momentum = early ? 0.5F : 0.8F;
    const float n = (float)map->n,
                rate = early ? n / 48 : fmaxf(n / 12, fminf(n / 4, 50));
    const float z = (float)repel_points(map);

    attract_points(map);
    for (size_t i = 0; i < 2 * map->n; i++) {
        const float slope = 4 * (more * map->attract[i] - map->repel[i] / z);
        float *gain = &map->gain[i], *velocity = &map->velocity[i];

        *gain = (slope > 0) != (*velocity > 0) ? *gain + 0.2F
                                               : fmaxf(0.01F, *gain * 0.8F);
        *velocity = momentum * *velocity - rate * *gain * slope;
        map->y[i] += *velocity;
    }
    subtract_mean(map->n, map->y);
}

const float *
eval_tsne_points(const struct eval_tsne *map)
{
    return map->y;
}

double
eval_tsne_divergence(struct eval_tsne *map)
{
    const struct affinity *a = &map->affinity;
    const double z = repel_points(map);
    double sum = 0;

    for (size_t i = 0; i < map->n; i++)
        for (size_t j = a->start[i]; j < a->start[i + 1]; j++) {
            const float *one = map->y + 2 * i;
            const float *other = map->y + 2 * (size_t)a->pair[j].column;
            const double dx = one[0] - other[0], dy = one[1] - other[1];
            const double p = a->pair[j].p;

            sum += p > 0 ? p * log(p * z * (1 + dx * dx + dy * dy)) : 0;
        }
    return sum;
}

void
eval_tsne_turn(size_t n, const float *onto, float *y)
{
    double mean[2] = {0}, to[2] = {0}, c[2][2] = {{0}}, turn, flip, sign, angle;

    for (size_t i = 0; i < 2 * n; i++) {
        mean[i & 1] += y[i] / (double)n;
        to[i & 1] += onto[i] / (double)n;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < 4; k++)
            c[k / 2][k % 2] += (onto[2 * i + k / 2] - to[k / 2]) *
                               (y[2 * i + k % 2] - mean[k % 2]);
    turn = hypot(c[0][0] + c[1][1], c[1][0] - c[0][1]);
    flip = hypot(c[0][0] - c[1][1], c[1][0] + c[0][1]);
    sign = flip > turn ? -1 : 1;
    angle = atan2(c[1][0] - sign * c[0][1], c[0][0] + sign * c[1][1]);
    for (size_t i = 0; i < n; i++) {
        const double p = y[2 * i] - mean[0],
                     q = sign * (y[2 * i + 1] - mean[1]);

        y[2 * i] = (float)(mean[0] + cos(angle) * p - sin(angle) * q);
        y[2 * i + 1] = (float)(mean[1] + sin(angle) * p + cos(angle) * q);
    }
}
