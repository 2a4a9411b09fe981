#ifndef IMAGE_PNG_DECODE_H
#define IMAGE_PNG_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "util/err.h"

/* As data_codec_decode() and data_codec_header() say, of PNG. */
int data_png_decode(const uint8_t *bytes, size_t len, size_t max_pixels,
                    struct data_image *image, struct err *err);
int data_png_header(const uint8_t *bytes, size_t len, size_t max_pixels,
                    size_t *width, size_t *height, struct err *err);

#endif
