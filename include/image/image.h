#pragma once

#include <stddef.h>
#include <stdint.h>

/* Pixels: 8-bit RGB, row-major, packed: pixel[(y * width + x) * 3 + c]. */
struct image {
    uint8_t *pixel;
    size_t width, height;
    size_t room;     /* bytes allocated */
    uint8_t *memory; /* their address; pixel points into it */
};

/* A part of an image, in pixels. */
struct image_box {
    size_t left, top, width, height;
};

/* image_box_cover() enlarges a box to the smallest one that contains
 * another. */
void image_box_cover(struct image_box *box, const struct image_box *other);

/* The region of an image that a caller reads: a callback when the size is
 * known, box(of, ...), returns a box of at least one pixel inside of width x
 * height. */
struct image_region {
    struct image_box (*box)(void *of, size_t width, size_t height);
    void *of;
};

/* image_release() frees the pixels; the image is empty again. */
void image_release(struct image *image);

/* image_size() allocates width x height pixels; they are undefined.  The first
 * pixel has an odd address, as libjpeg-turbo then writes faster than to a
 * multiple of 32 (lib/image/image.c). */
void image_size(struct image *image, size_t width, size_t height);
