#include <math.h>
#include <stdio.h>
#include <string.h>

#include "image/generate.h"
#include "util/err.h"
#include "util/rng.h"

enum {
    FINE = 4,   // samples along each side of a pixel
    DRIFT = 24, // the most difference of a colour from the named one
    NOISE = 8,  // the most difference of a pixel from its colour
    COLOURS = 8,
    TEXTURES = 5 // the first class that fills the image
};

static const char *const class_name[IMAGE_GENERATE_CLASSES] = {
    "circle", "square",  "triangle", "cross",
    "ring",   "stripes", "checks",   "dots"};

static const struct colour {
    const char *name;
    int rgb[3];
} colours[COLOURS] = {
    {"red", {208, 40, 40}},     {"green", {48, 160, 64}},
    {"blue", {48, 80, 208}},    {"yellow", {224, 208, 48}},
    {"orange", {232, 136, 32}}, {"purple", {136, 56, 168}},
    {"white", {224, 224, 224}}, {"black", {32, 32, 32}},
};

/* A figure: u = (x cos - y sin) / unit, likewise v. */
struct figure {
    int label, large;
    const struct colour *ink, *ground;
    double x, y; // centre, in widths of the image
    double cosine, sine;
    double unit; // radius of a shape, period of a texture
};

static double
fraction_of(double x)
{
    return x - floor(x);
}

/* Returns 1 for a point of the figure.  Shapes are within the unit circle. */
static int
is_inked(int label, double u, double v)
{
    double square = u * u + v * v;

    switch (label) {
    case 0:
        return square <= 1;
    case 1:
        return fabs(u) <= .75 && fabs(v) <= .75;
    case 2: // its corners are at 90, 210 and 330 degrees
        return v >= -.5 && v + 1.7320508 * fabs(u) <= 1;
    case 3:
        return (fabs(u) <= .3 && fabs(v) <= .95) ||
               (fabs(v) <= .3 && fabs(u) <= .95);
    case 4:
        return square <= 1 && square >= .36;
    case 5:
        return fraction_of(u) < .5;
    case 6:
        return (fraction_of(u) < .5) == (fraction_of(v) < .5);
    default:
        u = fraction_of(u) - .5;
        v = fraction_of(v) - .5;
        return u * u + v * v <= .1;
    }
}

/* Draws a random figure.  The angle is computed from t by the half-angle
 * formulas, which, unlike cos() and sin(), have the same bits in every C
 * library. */
static struct figure
draw_figure(struct rng *rng, int label)
{
    const int texture = label >= TEXTURES;
    struct figure figure = {.label = label, .large = (int)rng_below(rng, 2)};
    size_t ink = rng_below(rng, COLOURS);
    size_t ground = (ink + 1 + rng_below(rng, COLOURS - 1)) % COLOURS;
    double t = rng_range(rng, -1, 1);

    figure.ink = &colours[ink];
    figure.ground = &colours[ground];
    figure.cosine = (1 - t * t) / (1 + t * t);
    figure.sine = 2 * t / (1 + t * t);
    if (texture)
        figure.unit =
            figure.large ? rng_range(rng, .4, .55) : rng_range(rng, .18, .28);
    else
        figure.unit =
            figure.large ? rng_range(rng, .3, .42) : rng_range(rng, .14, .22);
    figure.x = rng_range(rng, figure.unit, 1 - figure.unit);
    figure.y = rng_range(rng, figure.unit, 1 - figure.unit);
    return figure;
}

/* Counts the sample points of a pixel in the figure. */
static int
count_inked(const struct figure *figure, size_t size, size_t x, size_t y)
{
    int inked = 0;

    for (int i = 0; i < FINE * FINE; i++) {
        double right = ((double)x + (i % FINE + .5) / FINE) / (double)size;
        double down = ((double)y + (i / FINE + .5) / FINE) / (double)size;
        double a = (right - figure->x) / figure->unit;
        double b = (figure->y - down) / figure->unit;

        inked += is_inked(figure->label, a * figure->cosine - b * figure->sine,
                          a * figure->sine + b * figure->cosine);
    }
    return inked;
}

static int
draw_jitter(struct rng *rng, int most)
{
    return (int)rng_below(rng, (uint64_t)(2 * most + 1)) - most;
}

static void
paint_figure(struct rng *rng, const struct figure *figure, size_t size,
             uint8_t *pixel)
{
    int ink[3], ground[3];

    for (int c = 0; c < 3; c++) {
        ink[c] = figure->ink->rgb[c] + draw_jitter(rng, DRIFT);
        ground[c] = figure->ground->rgb[c] + draw_jitter(rng, DRIFT);
    }
    for (size_t y = 0; y < size; y++)
        for (size_t x = 0; x < size; x++) {
            int inked = count_inked(figure, size, x, y), noise;

            noise = draw_jitter(rng, NOISE);
            for (int c = 0; c < 3; c++) {
                const int value =
                    (ink[c] * inked + ground[c] * (FINE * FINE - inked)) /
                        (FINE * FINE) +
                    noise;

                *pixel++ = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
}

static const char *
article_of(const char *word)
{
    return strchr("aeiou", *word) ? "an" : "a";
}

int
image_generate(uint64_t seed, uint64_t id, size_t size, uint8_t *pixel,
               char caption[IMAGE_GENERATE_CAPTION])
{
    struct rng rng;
    struct figure figure;
    const char *name, *ink, *ground;

    REQUIRE(size >= 1);
    rng_init(&rng, seed, RNG_GENERATE, id, 0, 0);
    figure = draw_figure(&rng, (int)(id % IMAGE_GENERATE_CLASSES));
    paint_figure(&rng, &figure, size, pixel);
    name = class_name[figure.label];
    ink = figure.ink->name;
    ground = figure.ground->name;
    if (figure.label >= TEXTURES)
        snprintf(caption, IMAGE_GENERATE_CAPTION,
                 "%s %s %s on %s %s ground\n%s %s texture of %s %s",
                 figure.large ? "wide" : "narrow", ink, name,
                 article_of(ground), ground, article_of(ground), ground, ink,
                 name);
    else
        snprintf(caption, IMAGE_GENERATE_CAPTION,
                 "a %s %s %s on %s %s ground\n%s with one %s %s",
                 figure.large ? "large" : "small", ink, name,
                 article_of(ground), ground, ground, ink, name);
    return figure.label;
}
