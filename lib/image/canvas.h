#ifndef IMAGE_CANVAS_H
#define IMAGE_CANVAS_H

/*
 * A picture that is being damaged (image/corrupt.h), as planes of floats: 0 is
 * black, 1 white; values outside are clipped at the end.
 */
#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "util/rng.h"

struct canvas {
    size_t width, height, n; /* n = width x height */
    float *plane[3];         /* [n] red, green, blue */
    float *layer[2];         /* [n] scratch of an operator */
    float *copy;             /* [n] scratch of image_canvas_filter() */
    double unit;             /* pixels: short side / 32 */
    struct rng rng;
};

void image_canvas_init(struct canvas *c, const struct image *image);
void image_canvas_release(struct canvas *c);

/* image_canvas_store() rounds the planes to an image of the canvas's size. */
void image_canvas_store(const struct canvas *c, struct image *image);

/* image_canvas_load() copies an image of the canvas's size to the planes. */
void image_canvas_load(struct canvas *c, const struct image *image);

/* image_canvas_sample() reads a plane between pixels, bilinear, with the edge
 * repeated; pixel (i,j) is at (i,j). */
float image_canvas_sample(const struct canvas *c, const float *plane, double x,
                          double y);

/* A filter, as a list of offsets from a pixel with their weights. */
struct canvas_kernel {
    struct canvas_tap {
        ptrdiff_t dx, dy;
        double weight;
    } * tap;
    size_t n, room;
};

/* image_canvas_kernel_add() adds a tap between pixels, divided among the four
 * next to it; weights are normalised by their sum. */
void image_canvas_kernel_add(struct canvas_kernel *kernel, double dx, double dy,
                             double weight);

/* image_canvas_filter() filters a plane, with the edge repeated.  O(n taps). */
void image_canvas_filter(struct canvas *c, float *plane,
                         const struct canvas_kernel *kernel);

/* image_canvas_gaussian() and image_canvas_streak() make the kernels of a
 * Gaussian blur and of one that fades along a line from the pixel in the
 * direction `angle`.  sigma, length: pixels of this canvas; angle: radians */
struct canvas_kernel image_canvas_gaussian(double sigma);
struct canvas_kernel image_canvas_streak(double length, double sigma,
                                         double angle);

/* image_canvas_rough() returns the deviation of white noise that has deviation
 * 1 after a Gaussian blur of sigma. */
double image_canvas_rough(double sigma);

/*
 * image_canvas_clouds() fills a plane with random clouds, 0 .. 1: octaves of
 * smooth noise, each half as large and 1 / decay as strong as the previous one.
 */
void image_canvas_clouds(struct canvas *c, double decay, float *plane);

#endif
