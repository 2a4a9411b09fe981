#ifndef IMAGE_DECODE_H
#define IMAGE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "util/err.h"

enum { OPAQUE_SIDE_MAX = 65535 };

/* image_opaque_check() refuses images with a side above OPAQUE_SIDE_MAX or with
 * more than max_pixels pixels. */
int image_opaque_check(size_t width, size_t height, size_t max_pixels,
                       struct err *err);

/*
 * image_opaque_on_white() blends n pixels with white: c a / 255 + 255 - a, to
 * the nearest.
 *   rgba [n,4] in, rgb [n,3] out; the two may not overlap
 */
void image_opaque_on_white(size_t n, const uint8_t *rgba, uint8_t *rgb);

/* These are image_codec_decode() and image_codec_header() for PNG. */
int image_png_decode(const uint8_t *bytes, size_t len, size_t max_pixels,
                     struct image *image, struct err *err);
int image_png_header(const uint8_t *bytes, size_t len, size_t max_pixels,
                     size_t *width, size_t *height, struct err *err);

#endif
