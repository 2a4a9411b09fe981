#pragma once

#include <math.h>

#include "num/norm.h"

/*
 * The equations of num/norm.h in loops, for plain f32 maps (block 1) and
 * without dy2 and accumulate. work  three doubles an element
 */

static const double plain_epsilon = 1e-5; // as in the header

/* The channel of element `at` of a plain map. */
static inline size_t
channel_at(const struct num_norm *norm, size_t at)
{
    return at / (norm->map.h * norm->map.w) % norm->map.c;
}

/* Which mean and variance are its own. */
static inline size_t
count_of(const struct num_norm *norm, size_t at)
{
    const struct num_map *map = &norm->map;
    size_t k = channel_at(norm, at), image = at / (map->c * map->h * map->w);

    if (norm->kind != NUM_NORM_GROUP)
        return k;
    return image * norm->groups + k / (map->c / norm->groups);
}

/* The mean over those elements whose count is `own` of a_at b_at. */
static inline double
mean_of(const struct num_norm *norm, size_t own, const double *a,
        const double *b)
{
    size_t members = 0;
    double sum = 0;

    for (size_t at = 0; at < num_map_size(&norm->map); at++) {
        if (count_of(norm, at) != own)
            continue;
        sum += a[at] * b[at];
        members++;
    }
    return sum / (double)members;
}

static inline void
plain_norm_forward(const struct num_norm *norm)
{
    const float *x = norm->x, *add = norm->add;
    float *y = norm->y, *mean = norm->mean, *variance = norm->variance;
    size_t size = num_map_size(&norm->map);
    double *one = norm->work, *off = norm->work + size;

    for (size_t own = 0;
         norm->kind != NUM_NORM_FIXED && own < num_norm_counts(norm); own++) {
        for (size_t at = 0; at < size; at++) {
            one[at] = 1;
            off[at] = x[at];
        }
        mean[own] = (float)mean_of(norm, own, one, off);
        for (size_t at = 0; at < size; at++)
            off[at] = x[at] - (double)mean[own];
        variance[own] = (float)mean_of(norm, own, off, off);
    }
    for (size_t at = 0; at < size; at++) {
        size_t k = channel_at(norm, at), own = count_of(norm, at);
        double out = x[at];

        if (norm->kind != NUM_NORM_NONE)
            out = norm->gamma[k] * (x[at] - (double)mean[own]) /
                      sqrt(variance[own] + plain_epsilon) +
                  norm->beta[k];
        if (add)
            out += add[at];
        y[at] = (float)(norm->relu && out <= 0 ? 0 : out);
    }
}

static inline void
plain_norm_backward(const struct num_norm *norm)
{
    const float *x = norm->x, *y = norm->y, *dy = norm->dy;
    const float *mean = norm->mean, *variance = norm->variance;
    float *dx = norm->dx, *dadd = norm->dadd;
    float *dgamma = norm->dgamma, *dbeta = norm->dbeta;
    size_t size = num_map_size(&norm->map);
    double *one = norm->work, *unit = one + size, *flow = unit + size;

    // flow = dL/d unit, where unit = (x - m) / sqrt(v + eps)
    for (size_t k = 0; k < norm->map.c; k++)
        dgamma[k] = dbeta[k] = 0;
    for (size_t at = 0; at < size; at++) {
        size_t k = channel_at(norm, at), own = count_of(norm, at);
        float f = norm->relu && y[at] <= 0 ? 0 : dy[at];

        if (dadd)
            dadd[at] = f;
        if (norm->kind == NUM_NORM_NONE) {
            dx[at] = f;
            continue;
        }
        one[at] = 1;
        unit[at] = (x[at] - mean[own]) / sqrt(variance[own] + plain_epsilon);
        flow[at] = (double)f * norm->gamma[k];
        dgamma[k] += f * (float)unit[at];
        dbeta[k] += f;
    }
    if (norm->kind == NUM_NORM_NONE)
        return;

    // dx = (flow - <flow> - unit <flow unit>) / sqrt(v + eps)
    for (size_t own = 0; own < num_norm_counts(norm); own++) {
        int fixed = norm->kind == NUM_NORM_FIXED;
        double level = fixed ? 0 : mean_of(norm, own, one, flow);
        double along = fixed ? 0 : mean_of(norm, own, unit, flow);

        for (size_t at = 0; at < size; at++)
            if (count_of(norm, at) == own)
                dx[at] = (float)((flow[at] - level - unit[at] * along) /
                                 sqrt(variance[own] + plain_epsilon));
    }
}
