#pragma once

#include "image/codec.h"

/* A file to decode. */
struct image_source {
    const uint8_t *bytes;
    size_t len, max_pixels;
    enum image_policy policy;
    const struct image_region *region; /* NULL: all */
    struct image *image;               /* NULL: only check the header */
    size_t width, height;              /* out, as stored */
};

/* These read a file of each format: 0, or -1 with the reason. */
int image_jpeg_read(struct image_decoder **decoder, struct image_source *from,
                    struct err *err);
int image_png_read(struct image_source *from, struct err *err);

enum { OPAQUE_SIDE_MAX = 65535 };

/* image_check_size() refuses images with a side above OPAQUE_SIDE_MAX or with
 * more than max_pixels pixels. */
int image_check_size(size_t width, size_t height, size_t max_pixels,
                     struct err *err);

/*
 * image_opaque_on_white() blends n pixels with white: c a / 255 + 255 - a, to
 * the nearest.
 *   rgba [n,4] in, rgb [n,3] out; the two may not overlap
 */
void image_opaque_on_white(size_t n, const uint8_t *rgba, uint8_t *rgb);

/* image_exif_orientation() finds the orientation (tag 0x0112 of the first
 * directory) in the payload of an APP1 segment: 1 .. 8, or 1 if the bytes are
 * no EXIF block, are damaged or have no orientation. */
int image_exif_orientation(const uint8_t *bytes, size_t len);

/* image_exif_apply() writes `from` to `to` as a viewer shows an image of that
 * orientation (EXIF 2.3, 4.6.4 A): 2 mirrored, 3 upside down, 4 flipped, 5 .. 8
 * the same with rows and columns exchanged. */
void image_exif_apply(int orientation, const struct image *from,
                      struct image *to);
