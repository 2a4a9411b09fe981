#include <math.h>

#include "canvas.h"

/* Noise of the sensor: each value of each pixel by itself. */

static void
gaussian_noise(struct canvas *c, const double *amount)
{
    for (size_t i = 0; i < 3 * c->n; i++)
        c->plane[0][i] += (float)(amount[0] * rng_normal(&c->rng));
}

static void
speckle_noise(struct canvas *c, const double *amount)
{
    for (size_t i = 0; i < 3 * c->n; i++)
        c->plane[0][i] *= (float)(1 + amount[0] * rng_normal(&c->rng));
}

/* A Poisson deviate; of a large mean, by its normal approximation. */
static double
draw_poisson(struct rng *rng, double mean)
{
    const double end = exp(-mean);
    double product = rng_unit(rng);
    int count = 0;

    if (mean > 40)
        return fmax(0, floor(mean + sqrt(mean) * rng_normal(rng) + .5));
    for (; product > end; count++)
        product *= rng_unit(rng);
    return count;
}

/* White is amount[0] photons. */
static void
shot_noise(struct canvas *c, const double *amount)
{
    for (size_t i = 0; i < 3 * c->n; i++)
        c->plane[0][i] =
            (float)(draw_poisson(&c->rng, c->plane[0][i] * amount[0]) /
                    amount[0]);
}

/* A share of all values is lost to black or white. */
static void
impulse_noise(struct canvas *c, const double *amount)
{
    for (size_t i = 0; i < 3 * c->n; i++) {
        const double u = rng_unit(&c->rng);

        if (u < amount[0] / 2)
            c->plane[0][i] = 0;
        else if (u > 1 - amount[0] / 2)
            c->plane[0][i] = 1;
    }
}

const struct corruption data_corrupt_noise[4] = {
    {"gaussian_noise", gaussian_noise, {{.04}, {.06}, {.08}, {.09}, {.1}}},
    {"shot_noise", shot_noise, {{500}, {250}, {100}, {75}, {50}}},
    {"impulse_noise", impulse_noise, {{.01}, {.02}, {.03}, {.05}, {.07}}},
    {"speckle_noise", speckle_noise, {{.06}, {.1}, {.12}, {.16}, {.2}}},
};
