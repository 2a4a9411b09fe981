#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/corrupt.h"
#include "util/mem.h"

#include "canvas.h"

/* Noise of the sensor, independent for each value of each pixel. */

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

/* Returns a Poisson deviate; for a large mean, by the normal approximation. */
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

/* A share of all values becomes black or white. */
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

static const struct corruption noise[4] = {
    {"gaussian_noise", gaussian_noise, {{.04}, {.06}, {.08}, {.09}, {.1}}},
    {"shot_noise", shot_noise, {{500}, {250}, {100}, {75}, {50}}},
    {"impulse_noise", impulse_noise, {{.01}, {.02}, {.03}, {.05}, {.07}}},
    {"speckle_noise", speckle_noise, {{.06}, {.1}, {.12}, {.16}, {.2}}},
};

static const struct {
    const struct corruption *kind;
    size_t n;
} families[] = {{noise, 4},
                {image_corrupt_blur, 5},
                {image_corrupt_weather, 5},
                {image_corrupt_digital, 5}};

static const struct corruption *
find_corruption(size_t kind)
{
    size_t family = 0;

    REQUIRE(kind < IMAGE_CORRUPTIONS);
    while (kind >= families[family].n)
        kind -= families[family++].n;
    return &families[family].kind[kind];
}

const char *
image_corrupt_name(size_t kind)
{
    return find_corruption(kind)->name;
}

int
image_corrupt_find(const char *name, size_t *kind, struct err *err)
{
    char list[400] = "";

    for (size_t k = 0; k < IMAGE_CORRUPTIONS; k++) {
        const char *own = image_corrupt_name(k);

        if (!strcmp(own, name)) {
            *kind = k;
            return 0;
        }
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s %s",
                 k ? "," : "", own);
    }
    return err_set(err, "no corruption '%s': want one of%s", name, list);
}

void
image_corrupt(size_t kind, int severity, uint64_t seed, uint64_t sample,
              const struct image *image, struct image *out)
{
    const struct corruption *own = find_corruption(kind);
    struct canvas c;

    REQUIRE(severity >= 1 && severity <= IMAGE_SEVERITIES);
    image_canvas_init(&c, image);
    rng_init(&c.rng, seed, RNG_CORRUPT, sample, kind, 0);
    own->run(&c, own->amount[severity - 1]);
    image_canvas_store(&c, out);
    image_canvas_release(&c);
}
