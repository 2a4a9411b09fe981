#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "canvas.h"

void
image_canvas_init(struct canvas *c, const struct image *image)
{
    const size_t n = image->width * image->height;
    float *block = mem_array(6 * n, sizeof *block);
    const size_t side =
        image->width < image->height ? image->width : image->height;

    *c = (struct canvas){.width = image->width,
                         .height = image->height,
                         .n = n,
                         .unit = (double)side / 32};
    for (size_t k = 0; k < 3; k++)
        c->plane[k] = block + k * n;
    c->layer[0] = block + 3 * n;
    c->layer[1] = block + 4 * n;
    c->copy = block + 5 * n;
    image_canvas_load(c, image);
}

void
image_canvas_release(struct canvas *c)
{
    free(c->plane[0]);
}

void
image_canvas_store(const struct canvas *c, struct image *image)
{
    image_size(image, c->width, c->height);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < 3; k++) {
            float x = c->plane[k][i];

            x = x > 0 ? x < 1 ? x : 1 : 0;
            image->pixel[3 * i + k] = (uint8_t)(255 * x + .5f);
        }
}

void
image_canvas_load(struct canvas *c, const struct image *image)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < 3; k++)
            c->plane[k][i] = image->pixel[3 * i + k] / 255.f;
}

/* Clamps an index to 0 .. n - 1. */
static size_t
clamp_index(ptrdiff_t at, size_t n)
{
    return at < 0 ? 0 : at < (ptrdiff_t)n ? (size_t)at : n - 1;
}

float
image_canvas_sample(const struct canvas *c, const float *plane, double x,
                    double y)
{
    const ptrdiff_t i = (ptrdiff_t)floor(x), j = (ptrdiff_t)floor(y);
    const double right = x - (double)i, down = y - (double)j;
    const float *top = plane + clamp_index(j, c->height) * c->width;
    const float *low = plane + clamp_index(j + 1, c->height) * c->width;
    const size_t a = clamp_index(i, c->width), b = clamp_index(i + 1, c->width);

    return (float)((1 - down) * ((1 - right) * top[a] + right * top[b]) +
                   down * ((1 - right) * low[a] + right * low[b]));
}

void
image_canvas_kernel_add(struct canvas_kernel *kernel, double dx, double dy,
                        double weight)
{
    const double left = floor(dx), top = floor(dy);

    for (int corner = 0; corner < 4; corner++) {
        const int i = corner % 2, j = corner / 2;
        const double share = (i ? dx - left : 1 - dx + left) *
                             (j ? dy - top : 1 - dy + top) * weight;

        if (share <= 0)
            continue;
        mem_grow(&kernel->tap, &kernel->room, kernel->n + 1,
                 sizeof *kernel->tap);
        kernel->tap[kernel->n++] =
            (struct canvas_tap){(ptrdiff_t)left + i, (ptrdiff_t)top + j, share};
    }
}

/* Adds one tap of a filter to row y of the output. */
static void
filter_row(const struct canvas *c, const struct canvas_tap *tap, float weight,
           size_t y, float *out)
{
    const float *in =
        c->copy + clamp_index((ptrdiff_t)y + tap->dy, c->height) * c->width;

    for (size_t x = 0; x < c->width; x++)
        out[x] += weight * in[clamp_index((ptrdiff_t)x + tap->dx, c->width)];
}

void
image_canvas_filter(struct canvas *c, float *plane,
                    const struct canvas_kernel *kernel)
{
    double sum = 0;

    for (size_t t = 0; t < kernel->n; t++)
        sum += kernel->tap[t].weight;
    memcpy(c->copy, plane, c->n * sizeof *plane);
    memset(plane, 0, c->n * sizeof *plane);
    for (size_t t = 0; t < kernel->n; t++)
        for (size_t y = 0; y < c->height; y++)
            filter_row(c, &kernel->tap[t], (float)(kernel->tap[t].weight / sum),
                       y, plane + y * c->width);
}

struct canvas_kernel
image_canvas_gaussian(double sigma)
{
    const int reach = (int)ceil(3 * sigma);
    struct canvas_kernel kernel = {0};

    for (int y = -reach; y <= reach; y++)
        for (int x = -reach; x <= reach; x++)
            image_canvas_kernel_add(
                &kernel, x, y, exp(-.5 * (x * x + y * y) / (sigma * sigma)));
    return kernel;
}

double
image_canvas_rough(double sigma)
{
    const struct canvas_kernel kernel = image_canvas_gaussian(sigma);
    double sum = 0, square = 0;

    for (size_t t = 0; t < kernel.n; t++) {
        sum += kernel.tap[t].weight;
        square += kernel.tap[t].weight * kernel.tap[t].weight;
    }
    free(kernel.tap);
    return sum / sqrt(square);
}

struct canvas_kernel
image_canvas_streak(double length, double sigma, double angle)
{
    struct canvas_kernel kernel = {0};

    for (double t = 0; t <= length; t += .5)
        image_canvas_kernel_add(&kernel, t * cos(angle), t * sin(angle),
                                exp(-.5 * t * t / (sigma * sigma)));
    return kernel;
}

/* Interpolates between lattice points, along a curve that is flat at both. */
static double
blend_smoothly(double a, double b, double t)
{
    return a + (b - a) * t * t * (3 - 2 * t);
}

/* Adds one octave of `cells` lattice cells a side. */
static void
add_octave(struct canvas *c, size_t cells, double strength, float *plane)
{
    const size_t points = cells + 1;
    double *lattice = mem_array(points * points, sizeof *lattice);

    for (size_t i = 0; i < points * points; i++)
        lattice[i] = rng_range(&c->rng, -strength, strength);
    for (size_t i = 0; i < c->n; i++) {
        double x = ((double)(i % c->width) + .5) / (double)c->width;
        double y = ((double)(i / c->width) + .5) / (double)c->height;
        size_t a = (size_t)(x * (double)cells), b = (size_t)(y * (double)cells);
        const double *at = lattice + b * points + a;
        double right = x * (double)cells - (double)a;
        double down = y * (double)cells - (double)b;

        plane[i] += (float)blend_smoothly(
            blend_smoothly(at[0], at[1], right),
            blend_smoothly(at[points], at[points + 1], right), down);
    }
    free(lattice);
}

void
image_canvas_clouds(struct canvas *c, double decay, float *plane)
{
    const size_t finest = c->width > c->height ? c->width : c->height;
    float low = INFINITY, high = -INFINITY;
    double strength = 1;

    memset(plane, 0, c->n * sizeof *plane);
    for (size_t cells = 2; cells <= finest; cells *= 2, strength /= decay)
        add_octave(c, cells, strength, plane);
    for (size_t i = 0; i < c->n; i++) {
        low = fminf(low, plane[i]);
        high = fmaxf(high, plane[i]);
    }
    for (size_t i = 0; i < c->n; i++)
        plane[i] = high > low ? (plane[i] - low) / (high - low) : 0;
}
