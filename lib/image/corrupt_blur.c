#include <math.h>
#include <stdlib.h>

#include "canvas.h"

/* Blur: of the lens, the glass before it, the hand, the zoom. */

static const double pi = 3.14159265358979323846;

static void
filter_all(struct canvas *c, struct canvas_kernel kernel)
{
    for (size_t k = 0; k < 3; k++)
        image_canvas_filter(c, c->plane[k], &kernel);
    free(kernel.tap);
}

static void
gaussian_blur(struct canvas *c, const double *amount)
{
    filter_all(c, image_canvas_gaussian(amount[0] * c->unit));
}

/* A disc of radius amount[0] with an edge of deviation amount[1]. */
static void
defocus_blur(struct canvas *c, const double *amount)
{
    const double radius = amount[0] * c->unit, soft = amount[1] * c->unit;
    const double fine =
        fmax(radius / 8, .05); // step between points of the disc
    const int reach = (int)ceil(radius + 3 * soft);
    const int points = (int)(radius / fine);
    struct canvas_kernel kernel = {0};

    for (int y = -reach; y <= reach; y++)
        for (int x = -reach; x <= reach; x++) {
            double weight = 0;

            for (int j = -points; j <= points; j++)
                for (int i = -points; i <= points; i++) {
                    const double dx = x - i * fine, dy = y - j * fine;

                    if (i * i + j * j <= points * points)
                        weight +=
                            exp(-.5 * (dx * dx + dy * dy) / (soft * soft));
                }
            image_canvas_kernel_add(&kernel, x, y, weight);
        }
    filter_all(c, kernel);
}

/* Swaps a pixel with another in all planes. */
static void
swap_pixels(struct canvas *c, size_t a, size_t b)
{
    for (size_t k = 0; k < 3; k++) {
        const float x = c->plane[k][a];

        c->plane[k][a] = c->plane[k][b];
        c->plane[k][b] = x;
    }
}

/* A share amount[3] of the pixels is swapped with others within amount[1],
 * amount[2] times, between two blurs. */
static void
glass_blur(struct canvas *c, const double *amount)
{
    const size_t reach = (size_t)fmax(1, amount[1] * c->unit + .5);
    const size_t w = c->width;

    gaussian_blur(c, amount);
    for (int round = 0; round < (int)amount[2]; round++)
        for (size_t i = c->n; i-- > 0;) {
            size_t x = i % w + rng_below(&c->rng, 2 * reach + 1);
            size_t y = i / w + rng_below(&c->rng, 2 * reach + 1);

            if (rng_unit(&c->rng) < amount[3] && x >= reach && y >= reach &&
                x < w + reach && y < c->height + reach)
                swap_pixels(c, i, (y - reach) * w + x - reach);
        }
    gaussian_blur(c, amount);
}

static void
motion_blur(struct canvas *c, const double *amount)
{
    const double angle = rng_range(&c->rng, -pi / 4, pi / 4);

    filter_all(c, image_canvas_streak(amount[0] * c->unit, amount[1] * c->unit,
                                      angle));
}

/* The mean of the picture at all scales up to 1 + amount[0]. */
static void
zoom_blur(struct canvas *c, const double *amount)
{
    const int steps = (int)(amount[0] / .01 + .5) + 1;
    const double cx = (double)(c->width - 1) / 2;
    const double cy = (double)(c->height - 1) / 2;

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < c->n; i++) {
            const double x = (double)(i % c->width) - cx;
            const double y = (double)(i / c->width) - cy;
            double sum = c->plane[k][i];

            for (int s = 0; s < steps; s++) {
                const double zoom = 1 + s * .01;

                sum += image_canvas_sample(c, c->plane[k], cx + x / zoom,
                                           cy + y / zoom);
            }
            c->layer[0][i] = (float)(sum / (steps + 1));
        }
        for (size_t i = 0; i < c->n; i++)
            c->plane[k][i] = c->layer[0][i];
    }
}

const struct corruption image_corrupt_blur[5] = {
    {"defocus_blur",
     defocus_blur,
     {{.3, .4}, {.4, .5}, {.5, .6}, {1, .6}, {1.5, .6}}},
    {"glass_blur",
     glass_blur,
     {{.4, 1, 1, .25},
      {.4, 1, 1, .5},
      {.4, 1, 1, 1},
      {.4, 1, 2, 1},
      {.4, 2, 2, 1}}},
    {"motion_blur",
     motion_blur,
     {{6, 1}, {6, 1.5}, {6, 2}, {8, 2.25}, {9, 2.5}}},
    {"zoom_blur", zoom_blur, {{.05}, {.1}, {.15}, {.2}, {.25}}},
    {"gaussian_blur", gaussian_blur, {{.4}, {.6}, {.7}, {.8}, {1}}},
};
