#pragma once

/* Random rows of unit length for tests of the instruments, and their cosines in
 * double. */
#include "eval/views.h"
#include "num/vec.h"
#include "util/rng.h"

/* Fills v [samples,views,d] so that the views of a sample are close to each
 * other. */
static inline struct eval_views
naive_rows(size_t samples, size_t views, size_t d, uint64_t seed, float *v)
{
    struct rng rng;

    rng_init(&rng, seed, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < samples * d; i++)
        v[i] = (float)rng_normal(&rng);
    for (size_t i = samples * d; i < samples * views * d; i++)
        v[i] = v[i % (samples * d)] + .5f * (float)rng_normal(&rng);
    num_unit_rows(samples * views, d, v, v, NULL);
    return (struct eval_views){
        .samples = samples, .views = views, .d = d, .v = v, .z = v};
}

static inline double
naive_dot(const struct eval_views *rows, size_t r, size_t c)
{
    double sum = 0;

    for (size_t k = 0; k < rows->d; k++)
        sum += (double)rows->v[r * rows->d + k] * rows->v[c * rows->d + k];
    return sum;
}

/* Returns 1 if c is a row of another sample and, with `cross`, of the other
 * view. */
static inline int
naive_negative(const struct eval_views *rows, size_t r, size_t c)
{
    const size_t n = rows->samples;

    return r % n != c % n && (!rows->cross || r / n != c / n);
}
