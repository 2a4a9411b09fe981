#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/codec.h"
#include "image/corrupt.h"
#include "util/mem.h"
#include "util/rng.h"

static const double pi = 3.14159265358979323846;

/* A picture that is being damaged, as planes of floats: 0 is black, 1 white;
 * values outside are clipped at the end. */
struct canvas {
    size_t width, height, n; // n = width x height
    float *plane[3];         // [n] red, green, blue, one after another
    float *layer[2];         // [n] scratch of an operator
    float *copy;             // [n] scratch of filter_planes()
    double unit;             // pixels: short side / 32
    struct rng rng;
};

/* Rounds the planes to an image of the canvas's size. */
static void
store_canvas(const struct canvas *c, struct image *image)
{
    image_size(image, c->width, c->height);
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < 3; k++) {
            float x = c->plane[k][i];

            x = x > 0 ? x < 1 ? x : 1 : 0;
            image->pixel[3 * i + k] = (uint8_t)(255 * x + .5f);
        }
}

/* Copies an image of the canvas's size to the planes. */
static void
load_canvas(struct canvas *c, const struct image *image)
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

/* Reads a plane between pixels, bilinear, with the edge repeated; pixel (i,j)
 * is at (i,j). */
static float
sample_plane(const struct canvas *c, const float *plane, double x, double y)
{
    const ptrdiff_t i = (ptrdiff_t)floor(x), j = (ptrdiff_t)floor(y);
    const double right = x - (double)i, down = y - (double)j;
    const float *top = plane + clamp_index(j, c->height) * c->width;
    const float *low = plane + clamp_index(j + 1, c->height) * c->width;
    const size_t a = clamp_index(i, c->width), b = clamp_index(i + 1, c->width);

    return (float)((1 - down) * ((1 - right) * top[a] + right * top[b]) +
                   down * ((1 - right) * low[a] + right * low[b]));
}

/* A filter: offsets from a pixel, and their weights, normalised by their
 * sum. */
struct kernel {
    struct kernel_tap {
        ptrdiff_t dx, dy;
        double weight;
    } * tap;
    size_t n, room;
};

/* Adds a tap between pixels, divided among the four next to it. */
static void
add_tap(struct kernel *kernel, double dx, double dy, double weight)
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
            (struct kernel_tap){(ptrdiff_t)left + i, (ptrdiff_t)top + j, share};
    }
}

/* Adds one tap of a filter of c->copy to a plane. */
static void
filter_tap(const struct canvas *c, const struct kernel_tap *tap, float weight,
           float *plane)
{
    for (size_t y = 0; y < c->height; y++) {
        const ptrdiff_t row = (ptrdiff_t)y + tap->dy;
        const float *in = c->copy + clamp_index(row, c->height) * c->width;

        for (size_t x = 0; x < c->width; x++)
            *plane++ +=
                weight * in[clamp_index((ptrdiff_t)x + tap->dx, c->width)];
    }
}

/* Filters successive planes, with the edge repeated, and frees the kernel. */
static void
filter_planes(struct canvas *c, size_t planes, float *plane,
              struct kernel kernel)
{
    double sum = 0;

    for (size_t t = 0; t < kernel.n; t++)
        sum += kernel.tap[t].weight;
    for (size_t k = 0; k < planes; k++, plane += c->n) {
        memcpy(c->copy, plane, c->n * sizeof *plane);
        memset(plane, 0, c->n * sizeof *plane);
        for (size_t t = 0; t < kernel.n; t++)
            filter_tap(c, &kernel.tap[t], (float)(kernel.tap[t].weight / sum),
                       plane);
    }
    free(kernel.tap);
}

/* Returns the kernel of a Gaussian blur; sigma is in pixels of the canvas. */
static struct kernel
make_gaussian(double sigma)
{
    const int reach = (int)ceil(3 * sigma);
    struct kernel kernel = {0};

    for (int y = -reach; y <= reach; y++)
        for (int x = -reach; x <= reach; x++)
            add_tap(&kernel, x, y,
                    exp(-.5 * (x * x + y * y) / (sigma * sigma)));
    return kernel;
}

/* Returns the kernel of a blur that fades along a line from the pixel. */
static struct kernel
make_streak(double length, double sigma, double angle)
{
    struct kernel kernel = {0};

    for (double t = 0; t <= length; t += .5)
        add_tap(&kernel, t * cos(angle), t * sin(angle),
                exp(-.5 * t * t / (sigma * sigma)));
    return kernel;
}

/* Draws noise with a deviation after a Gaussian blur of sigma. */
static void
draw_smooth_noise(struct canvas *c, double deviation, double sigma,
                  float *layer)
{
    const struct kernel blur = make_gaussian(sigma);
    double sum = 0, square = 0;

    for (size_t t = 0; t < blur.n; t++) {
        sum += blur.tap[t].weight;
        square += blur.tap[t].weight * blur.tap[t].weight;
    }
    deviation *= sum / sqrt(square);
    for (size_t i = 0; i < c->n; i++)
        layer[i] = (float)(deviation * rng_normal(&c->rng));
    filter_planes(c, 1, layer, blur);
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

/* Fills a plane with random clouds, 0 .. 1: octaves of smooth noise, each half
 * as large and 1 / decay as strong as the previous one. */
static void
draw_clouds(struct canvas *c, double decay, float *plane)
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

/* Blur: of the lens, the glass before it, the hand, the zoom. */

static void
gaussian_blur(struct canvas *c, const double *amount)
{
    filter_planes(c, 3, c->plane[0], make_gaussian(amount[0] * c->unit));
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
    struct kernel kernel = {0};

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
            add_tap(&kernel, x, y, weight);
        }
    filter_planes(c, 3, c->plane[0], kernel);
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

            if (rng_unit(&c->rng) >= amount[3] || x < reach || y < reach ||
                x >= w + reach || y >= c->height + reach)
                continue;
            for (size_t k = 0; k < 3; k++) {
                float *a = c->plane[k] + i;
                float *b = c->plane[k] + (y - reach) * w + x - reach;
                const float value = *a;

                *a = *b;
                *b = value;
            }
        }
    gaussian_blur(c, amount);
}

static void
motion_blur(struct canvas *c, const double *amount)
{
    const double angle = rng_range(&c->rng, -pi / 4, pi / 4);

    filter_planes(c, 3, c->plane[0],
                  make_streak(amount[0] * c->unit, amount[1] * c->unit, angle));
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

                sum +=
                    sample_plane(c, c->plane[k], cx + x / zoom, cy + y / zoom);
            }
            c->layer[0][i] = (float)(sum / (steps + 1));
        }
        memcpy(c->plane[k], c->layer[0], c->n * sizeof *c->layer[0]);
    }
}

/* Weather, and its traces on the lens. */

static float
clip_to_unit(double x)
{
    return (float)(x < 0 ? 0 : x > 1 ? 1 : x);
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
    const double grain = fmax(amount[2] * c->unit, 1);
    float *flake = c->layer[0];

    for (size_t i = 0; i < c->n; i++)
        c->copy[i] = (float)(amount[0] + amount[1] * rng_normal(&c->rng));
    for (size_t i = 0; i < c->n; i++) {
        const float x = sample_plane(c, c->copy, (double)(i % c->width) / grain,
                                     (double)(i / c->width) / grain);

        flake[i] = x < amount[3] ? 0 : clip_to_unit(x);
    }
    filter_planes(c, 1, flake,
                  make_streak(amount[4] * c->unit, amount[5] * c->unit, angle));
    for (size_t i = 0; i < c->n; i++) {
        const double grey = .299 * c->plane[0][i] + .587 * c->plane[1][i] +
                            .114 * c->plane[2][i];
        const double pale = 1.5 * grey + .5;
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

    draw_clouds(c, 1.4, c->layer[0]);
    draw_clouds(c, 1.8, c->layer[1]);
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

    draw_clouds(c, amount[1], c->layer[0]);
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
    float *drop = c->layer[0];

    draw_smooth_noise(c, 1, amount[0] * c->unit, drop);
    for (size_t i = 0; i < c->n; i++) {
        // the rim of a drop is thinner
        const double thick = clip_to_unit((drop[i] - amount[1]) / .5);
        const double cover = amount[2] * sqrt(thick);

        for (size_t k = 0; k < 3; k++)
            c->plane[k][i] += (float)(cover * (colour[k] - c->plane[k][i]));
    }
}

/* Damage by processing. */

/* Distances to the mean of each colour shrink. */
static void
lower_contrast(struct canvas *c, const double *amount)
{
    for (size_t k = 0; k < 3; k++) {
        double mean = 0;

        for (size_t i = 0; i < c->n; i++)
            mean += c->plane[k][i];
        mean /= (double)c->n;
        for (size_t i = 0; i < c->n; i++)
            c->plane[k][i] =
                (float)(mean + amount[0] * (c->plane[k][i] - mean));
    }
}

/* The saturation of HSV, s becomes amount[0] s + amount[1]; grey stays grey. */
static void
change_saturation(struct canvas *c, const double *amount)
{
    for (size_t i = 0; i < c->n; i++) {
        const float r = c->plane[0][i], g = c->plane[1][i], b = c->plane[2][i];
        const double most = fmaxf(r, fmaxf(g, b));
        const double least = fminf(r, fminf(g, b));
        const double s = most > 0 ? (most - least) / most : 0;
        const double factor =
            s > 0 ? fmin(1, amount[0] * s + amount[1]) / s : 1;

        for (size_t k = 0; k < 3; k++)
            c->plane[k][i] = (float)(most - factor * (most - c->plane[k][i]));
    }
}

/* Returns the part of pixel i in the cell from a to b. */
static double
overlap_of_cell(size_t i, double a, double b)
{
    return fmin(b, (double)i + 1) - fmax(a, (double)i);
}

/* The mean of a plane over a cell of the coarse grid. */
static double
cell_mean(const struct canvas *c, const float *plane, double x, double y,
          double width, double height)
{
    double sum = 0;

    for (size_t j = (size_t)y; j < c->height && (double)j < y + height; j++)
        for (size_t i = (size_t)x; i < c->width && (double)i < x + width; i++)
            sum += overlap_of_cell(i, x, x + width) *
                   overlap_of_cell(j, y, y + height) * plane[j * c->width + i];
    return sum / (width * height);
}

/* Reduces the resolution: each pixel shows the mean of its cell of a coarse
 * grid. */
static void
make_pixelated(struct canvas *c, const double *amount)
{
    const double across = fmax(1, rint((double)c->width * amount[0]));
    const double down = fmax(1, rint((double)c->height * amount[0]));
    const double width = (double)c->width / across;
    const double height = (double)c->height / down;

    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < c->n; i++) {
            const double x = floor(((double)(i % c->width) + .5) / width);
            const double y = floor(((double)(i / c->width) + .5) / height);

            c->layer[0][i] = (float)cell_mean(c, c->plane[k], x * width,
                                              y * height, width, height);
        }
        memcpy(c->plane[k], c->layer[0], c->n * sizeof *c->layer[0]);
    }
}

static void
jpeg_compression(struct canvas *c, const double *amount)
{
    struct image image = {0};
    struct data_bytes bytes = {0};
    struct image_decoder *decoder = NULL;
    struct err err;

    store_canvas(c, &image);
    REQUIRE(!image_jpeg_encode(image.pixel, c->width, c->height, 3,
                               (int)amount[0], &bytes, &err) &&
            !image_codec_decode(&decoder, bytes.data, bytes.len, c->n,
                                IMAGE_REFUSE, NULL, &image, &err));
    load_canvas(c, &image);
    image_jpeg_free(decoder);
    data_bytes_release(&bytes);
    image_release(&image);
}

/* Draws displacements along one axis to a layer: a random affine map that moves
 * the corners by up to 1.5 amount[0], and a random field of deviation
 * amount[1], smooth over amount[2]. */
static void
draw_displacements(struct canvas *c, const double *amount, float *layer)
{
    const double move = amount[0] * c->unit;
    double affine[3];

    for (size_t k = 0; k < 3; k++)
        affine[k] = rng_range(&c->rng, -move, move);
    draw_smooth_noise(c, amount[1] * c->unit, amount[2] * c->unit, layer);
    for (size_t i = 0; i < c->n; i++) {
        const double x = (double)(i % c->width) / (double)c->width - .5;
        const double y = (double)(i / c->width) / (double)c->height - .5;

        layer[i] += (float)(affine[0] * x + affine[1] * y + affine[2] / 2);
    }
}

static void
elastic_transform(struct canvas *c, const double *amount)
{
    draw_displacements(c, amount, c->layer[0]);
    draw_displacements(c, amount, c->layer[1]);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < c->n; i++)
            c->copy[i] = sample_plane(c, c->plane[k],
                                      (double)(i % c->width) + c->layer[0][i],
                                      (double)(i / c->width) + c->layer[1][i]);
        memcpy(c->plane[k], c->copy, c->n * sizeof *c->copy);
    }
}

/* All kinds, by family. */
static const struct {
    const char *name;
    void (*run)(struct canvas *c, const double *amount);
    double amount[5][7]; /* argument of run() for each severity */
} corruptions[IMAGE_CORRUPTIONS] = {
    {"gaussian_noise", gaussian_noise, {{.04}, {.06}, {.08}, {.09}, {.1}}},
    {"shot_noise", shot_noise, {{500}, {250}, {100}, {75}, {50}}},
    {"impulse_noise", impulse_noise, {{.01}, {.02}, {.03}, {.05}, {.07}}},
    {"speckle_noise", speckle_noise, {{.06}, {.1}, {.12}, {.16}, {.2}}},
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
    {"contrast", lower_contrast, {{.75}, {.5}, {.4}, {.3}, {.15}}},
    {"elastic_transform",
     elastic_transform,
     {{1, .3, 4}, {1.3, .5, 3}, {1.6, .7, 2.5}, {1.9, .9, 2}, {2.2, 1.1, 1.5}}},
    {"pixelate", make_pixelated, {{.95}, {.85}, {.7}, {.6}, {.5}}},
    {"jpeg_compression", jpeg_compression, {{80}, {65}, {58}, {50}, {40}}},
    {"saturate",
     change_saturation,
     {{.3, 0}, {.1, 0}, {1.5, 0}, {2, .1}, {2.5, .2}}},
};

const char *
image_corrupt_name(size_t kind)
{
    REQUIRE(kind < IMAGE_CORRUPTIONS);
    return corruptions[kind].name;
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
    const size_t w = image->width, h = image->height, n = w * h;
    float *block = mem_array(6 * n, sizeof *block);
    struct canvas c = {.width = w,
                       .height = h,
                       .n = n,
                       .plane = {block, block + n, block + 2 * n},
                       .layer = {block + 3 * n, block + 4 * n},
                       .copy = block + 5 * n,
                       .unit = (double)(w < h ? w : h) / 32};

    REQUIRE(kind < IMAGE_CORRUPTIONS && severity >= 1 &&
            severity <= IMAGE_SEVERITIES);
    load_canvas(&c, image);
    rng_init(&c.rng, seed, RNG_CORRUPT, sample, kind, 0);
    corruptions[kind].run(&c, corruptions[kind].amount[severity - 1]);
    store_canvas(&c, out);
    free(block);
}
