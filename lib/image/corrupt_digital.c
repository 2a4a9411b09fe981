#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "image/codec.h"
#include "util/err.h"

#include "canvas.h"

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
        for (size_t i = 0; i < c->n; i++)
            c->plane[k][i] = c->layer[0][i];
    }
}

static void
jpeg_compression(struct canvas *c, const double *amount)
{
    struct image image = {0};
    struct data_bytes bytes = {0};
    struct image_decoder *decoder = NULL;
    struct err err;

    image_canvas_store(c, &image);
    REQUIRE(!image_jpeg_encode(image.pixel, c->width, c->height, 3,
                               (int)amount[0], &bytes, &err) &&
            !image_codec_decode(&decoder, bytes.data, bytes.len, c->n,
                                IMAGE_REFUSE, NULL, &image, &err));
    image_canvas_load(c, &image);
    image_jpeg_free(decoder);
    data_bytes_release(&bytes);
    image_release(&image);
}

/*
 * Draws displacements along one axis to a layer: a random affine map that moves
 * the corners by up to 1.5 amount[0], and a random field of deviation
 * amount[1], smooth over amount[2].
 */
static void
draw_displacements(struct canvas *c, const double *amount, float *layer)
{
    const double smooth = amount[2] * c->unit, move = amount[0] * c->unit;
    const double noise = amount[1] * c->unit * image_canvas_rough(smooth);
    const struct canvas_kernel blur = image_canvas_gaussian(smooth);
    double affine[3];

    for (size_t k = 0; k < 3; k++)
        affine[k] = rng_range(&c->rng, -move, move);
    for (size_t i = 0; i < c->n; i++)
        layer[i] = (float)(noise * rng_normal(&c->rng));
    image_canvas_filter(c, layer, &blur);
    free(blur.tap);
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
            c->copy[i] = image_canvas_sample(
                c, c->plane[k], (double)(i % c->width) + c->layer[0][i],
                (double)(i / c->width) + c->layer[1][i]);
        memcpy(c->plane[k], c->copy, c->n * sizeof *c->copy);
    }
}

const struct corruption image_corrupt_digital[5] = {
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
