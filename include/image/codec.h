#ifndef IMAGE_CODEC_H
#define IMAGE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "image/jpeg.h"
#include "util/err.h"

/*
 * Images of any form that a data set may hold, told apart by their first bytes,
 * not by their names.  PNG: grey, colour or palette, of 1 to 16 bits, also
 * interlaced; WebP: lossy or lossless, one image.  Transparent pixels are
 * blended with white; colours are taken as they are stored, and colour profiles
 * are ignored; 16 bits are rounded to 8.
 */
enum image_codec {
    IMAGE_CODEC_JPEG,
    IMAGE_CODEC_PNG,
    IMAGE_CODEC_WEBP,
    IMAGE_CODECS
};

/* image_codec_name() returns "jpeg", "png" or "webp". */
const char *image_codec_name(enum image_codec codec);

/* image_codec_of() returns the form of a file; IMAGE_CODECS where it is of
 * none.
 */
enum image_codec image_codec_of(const uint8_t *bytes, size_t len);

/*
 * image_codec_decode() decodes an image of any form, as image_jpeg_decode()
 * does one that is a JPEG (image/jpeg.h): the header is judged before anything
 * is allocated, and more than max_pixels or a side above 65,535 is refused. The
 * policy is for JPEGs alone: a damaged file of another form is always refused.
 *
 * *decoder starts as NULL, holds scratch memory between calls, and goes to
 * image_jpeg_free() in the end.
 */
int image_codec_decode(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, enum image_policy policy,
                       struct image *image, struct err *err);

/* image_codec_region() is image_codec_decode() for a caller that reads a
 * region, or all where it is NULL, as image_jpeg_region(): other forms are
 * decoded whole.
 */
int image_codec_region(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, enum image_policy policy,
                       const struct image_region *region, struct image *image,
                       struct err *err);

/* image_codec_header() judges the header alone and writes the size as stored,
 * before an EXIF orientation turns the image: 0, or -1 with the reason. */
int image_codec_header(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, size_t *width,
                       size_t *height, struct err *err);

#endif
