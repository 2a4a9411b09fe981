#ifndef IMAGE_CODEC_H
#define IMAGE_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "image/jpeg.h"
#include "util/err.h"

/*
 * Images of any supported format, recognised by their first bytes, not by their
 * names.  PNG: grey, colour or palette, of 1 to 16 bits, also interlaced; WebP:
 * lossy or lossless, one image.  Transparent pixels are blended with white;
 * stored colours are used without their colour profiles; 16 bits are rounded to
 * 8.
 */
enum image_codec {
    IMAGE_CODEC_JPEG,
    IMAGE_CODEC_PNG,
    IMAGE_CODEC_WEBP,
    IMAGE_CODECS
};

/* image_codec_name() returns "jpeg", "png" or "webp". */
const char *image_codec_name(enum image_codec codec);

/*
 * image_codec_of() returns the format of a file; IMAGE_CODECS if it is unknown.
 *
 */
enum image_codec image_codec_of(const uint8_t *bytes, size_t len);

/*
 * image_codec_decode() decodes an image of any format, as image_jpeg_decode()
 * decodes a JPEG (image/jpeg.h): it checks the header before it allocates, and
 * refuses more than max_pixels or a side above 65,535.  The policy is only for
 * JPEGs: a damaged file of another format is always refused.
 *
 * *decoder starts as NULL and has scratch memory between calls; free it with
 * image_jpeg_free().
 */
int image_codec_decode(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, enum image_policy policy,
                       struct image *image, struct err *err);

/*
 * image_codec_region() is image_codec_decode() for a caller that reads a region
 * (NULL: all), as image_jpeg_region(); other formats are decoded whole.
 *
 */
int image_codec_region(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, enum image_policy policy,
                       const struct image_region *region, struct image *image,
                       struct err *err);

/* image_codec_header() only checks the header and writes the size as stored,
 * before the EXIF orientation: 0, or -1 with the reason. */
int image_codec_header(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, size_t *width,
                       size_t *height, struct err *err);

#endif
