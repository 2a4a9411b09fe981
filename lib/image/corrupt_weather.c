#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "canvas.h"

/* Weather, and its traces on the lens. */

static const double pi = 3.14159265358979323846;

static double
grey_of_pixel(const struct canvas *c, size_t i)
{
    return .299 * c->plane[0][i] + .587 * c->plane[1][i] +
           .114 * c->plane[2][i];
}

static float
clip_to_unit(double x)
{
    return (float)(x < 0 ? 0 : x > 1 ? 1 : x);
}

/* Draws normal deviates around a mean, `zoom` pixels apart, to a layer. */
static void
draw_flakes(struct canvas *c, double mean, double deviation, double zoom,
            float *layer)
{
    zoom = fmax(zoom, 1);
    for (size_t i = 0; i < c->n; i++)
        c->copy[i] = (float)(mean + deviation * rng_normal(&c->rng));
    for (size_t i = 0; i < c->n; i++)
        layer[i] =
            image_canvas_sample(c, c->copy, (double)(i % c->width) / zoom,
                                (double)(i / c->width) / zoom);
}

/*
 * Flakes in the wind over a paler picture; a second set is the first one
 * rotated by 180 degrees.
 *   amount  mean and deviation of noise, its grain, the threshold of a flake,
 *           length and deviation of its streak, and the remaining share of the
 *           picture's colours
 */
static void
add_snow(struct canvas *c, const double *amount)
{
    const double angle = rng_range(&c->rng, pi / 4, 3 * pi / 4);
    struct canvas_kernel streak =
        image_canvas_streak(amount[4] * c->unit, amount[5] * c->unit, angle);
    float *flake = c->layer[0];

    draw_flakes(c, amount[0], amount[1], amount[2] * c->unit, flake);
    for (size_t i = 0; i < c->n; i++)
        flake[i] = flake[i] < amount[3] ? 0 : clip_to_unit(flake[i]);
    image_canvas_filter(c, flake, &streak);
    free(streak.tap);
    for (size_t i = 0; i < c->n; i++) {
        const double pale = 1.5 * grey_of_pixel(c, i) + .5;
        const double white = flake[i] + flake[c->n - 1 - i];

        for (size_t k = 0; k < 3; k++) {
            const double x = c->plane[k][i];

            c->plane[k][i] =
                (float)(x + (1 - amount[6]) * fmax(0, pale - x) + white);
        }
    }
}

/* Ice crystals along the ridges of two fields of clouds. */
static void
add_frost(struct canvas *c, const double *amount)
{
    static const double tint[3] = {.86, .94, 1};

    image_canvas_clouds(c, 1.4, c->layer[0]);
    image_canvas_clouds(c, 1.8, c->layer[1]);
    for (size_t i = 0; i < c->n; i++) {
        const double ridge = 1 - fabs(2 * c->layer[0][i] - 1);
        const double ice = clip_to_unit(.3 + .9 * ridge * ridge * ridge +
                                        .6 * (c->layer[1][i] - .5));

        for (size_t k = 0; k < 3; k++)
            c->plane[k][i] =
                (float)(amount[0] * c->plane[k][i] + amount[1] * ice * tint[k]);
    }
}

/* Clouds of light, then less contrast, so that white stays white. */
static void
add_fog(struct canvas *c, const double *amount)
{
    float most = 0;

    image_canvas_clouds(c, amount[1], c->layer[0]);
    for (size_t i = 0; i < 3 * c->n; i++)
        most = fmaxf(most, c->plane[0][i]);
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < c->n; i++)
            c->plane[k][i] =
                (float)((c->plane[k][i] + amount[0] * c->layer[0][i]) * most /
                        (most + amount[0]));
}

/* Raises the value of HSV; hue and saturation stay. */
static void
raise_brightness(struct canvas *c, const double *amount)
{
    for (size_t i = 0; i < c->n; i++) {
        const float was =
            fmaxf(c->plane[0][i], fmaxf(c->plane[1][i], c->plane[2][i]));
        const float is = clip_to_unit(was + amount[0]);

        for (size_t k = 0; k < 3; k++)
            c->plane[k][i] = was > 0 ? c->plane[k][i] * is / was : is;
    }
}

/*
 * Drops of water, or of dark mud, where smooth noise is above a threshold.
 *   amount  sigma of the blur of the noise, threshold in deviations of the
 *           blurred noise, strength, 1 for mud
 */
static void
add_spatter(struct canvas *c, const double *amount)
{
    static const double water[3] = {.69, .93, .93}, mud[3] = {.25, .16, .08};
    const double *colour = amount[3] > 0 ? mud : water;
    const double smooth = amount[0] * c->unit;
    const struct canvas_kernel blur = image_canvas_gaussian(smooth);
    float *drop = c->layer[0];

    draw_flakes(c, 0, image_canvas_rough(smooth), 1, drop);
    image_canvas_filter(c, drop, &blur);
    free(blur.tap);
    for (size_t i = 0; i < c->n; i++) {
        // the rim of a drop is thinner
        const double thick = clip_to_unit((drop[i] - amount[1]) / .5);
        const double cover = amount[2] * sqrt(thick);

        for (size_t k = 0; k < 3; k++)
            c->plane[k][i] += (float)(cover * (colour[k] - c->plane[k][i]));
    }
}

const struct corruption image_corrupt_weather[5] = {
    {"snow",
     add_snow,
     {{.1, .2, 1, .6, 8, 3, .95},
      {.1, .2, 1, .5, 10, 4, .9},
      {.15, .3, 1.75, .55, 10, 4, .9},
      {.25, .3, 2.25, .6, 12, 6, .85},
      {.3, .3, 1.25, .65, 14, 12, .8}}},
    {"frost", add_frost, {{1, .12}, {1, .2}, {.95, .3}, {.9, .42}, {.85, .55}}},
    {"fog", add_fog, {{.2, 3}, {.5, 3}, {.75, 2.5}, {1, 2}, {1.5, 1.75}}},
    {"brightness", raise_brightness, {{.05}, {.1}, {.15}, {.2}, {.3}}},
    {"spatter",
     add_spatter,
     {{.7, 1.9, .5, 0},
      {.8, 1.4, .55, 0},
      {1, 1, .6, 0},
      {1, .8, .8, 1},
      {1, .5, .9, 1}}},
};
