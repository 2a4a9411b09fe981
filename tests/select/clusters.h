#pragma once

#include <math.h>

#include "num/vec.h"
#include "select/strategy.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * Unit rows around random centres, sample i around centre i % classes: u and
 * v are the centre plus noise of their own of that length.  *memory is to be
 * given to free().
 */
static inline struct select_features
clusters(size_t n, size_t d, size_t classes, double noise, float **memory)
{
    float *u = mem_array(2 * n * d, sizeof *u), *v = u + n * d;
    float *centre = mem_array(classes * d, sizeof *centre);
    double scale = noise / sqrt((double)d);
    struct rng rng;

    rng_init(&rng, 7, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < classes * d; i++)
        centre[i] = (float)rng_normal(&rng);
    num_unit_rows(classes, d, centre, centre, NULL);
    for (size_t i = 0; i < n * d; i++) {
        float at = centre[i / d % classes * d + i % d];
        double own = rng_normal(&rng);

        u[i] = at + (float)(scale * (own + rng_normal(&rng) / 2));
        v[i] = at + (float)(scale * (own + rng_normal(&rng) / 2));
    }
    num_unit_rows(2 * n, d, u, u, NULL);
    free(centre);
    *memory = u;
    return (struct select_features){.d = d, .u = u, .v = v};
}
