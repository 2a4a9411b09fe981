#pragma once

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"
#include "util/err.h"
#include "util/mem.h"

/*
 * Images of any supported format, recognised by their first bytes, not by their
 * names.  PNG: grey, colour or palette, of 1 to 16 bits, also interlaced; WebP:
 * lossy or lossless, one image.  Transparent pixels are blended with white;
 * stored colours are used without their colour profiles; 16 bits are rounded to
 * 8.
 *
 * Baseline and progressive JPEGs have the same pixels as in PIL: accurate
 * integer DCT, smooth chroma upsampling; grey is replicated to three channels;
 * CMYK and YCCK, with inks as Adobe stores them (inverted, 255 is no ink),
 * become R = C K / 255 and so on.  Unlike PIL, the EXIF orientation is applied.
 */
enum image_codec {
    IMAGE_CODEC_JPEG,
    IMAGE_CODEC_PNG,
    IMAGE_CODEC_WEBP,
    IMAGE_CODECS,
    IMAGE_CODEC_ROW = IMAGE_CODECS /* a row of numbers, not an image */
};

/* image_codec_name() returns "jpeg", "png", "webp" or "row". */
const char *image_codec_name(enum image_codec codec);

/* image_codec_of() returns the format of a file; IMAGE_CODECS if it is
 * unknown. */
enum image_codec image_codec_of(const uint8_t *bytes, size_t len);

/* What to do with a JPEG that libjpeg-turbo reads with a warning. */
enum image_policy { IMAGE_REFUSE, IMAGE_ACCEPT };

/* The default of every --max-pixels: 64 megapixels. */
enum { IMAGE_MAX_PIXELS = 1 << 26 };

/*
 * image_codec_decode() decodes an image.  It checks the header before it
 * allocates, and refuses more than max_pixels, a side above 65,535 or, in a
 * JPEG, more than 100 scans.  `policy` decides about a cut-off or damaged JPEG
 * that libjpeg-turbo reads with a warning; a damaged file of another format is
 * always refused.  Returns 0, or -1 with the reason (the caller adds the
 * sample's name).
 *
 * `region` is for a caller that reads a part of the image (NULL: all): other
 * pixels may be undefined.  The image has its whole size, and the pixels of the
 * region and the errors are the same: all of the file is read, but in a JPEG
 * the pixels outside are not transformed, upsampled and converted.  Other
 * formats, progressive, CMYK, rotated and small images are decoded whole, and
 * so is any image if the region covers most of it.
 *
 * *decoder starts as NULL and has scratch memory between calls; free it with
 * image_jpeg_free().  About 9 us for a JPEG of 32x32 on a 2 GHz core.
 */
struct image_decoder;
int image_codec_decode(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, enum image_policy policy,
                       const struct image_region *region, struct image *image,
                       struct err *err);
void image_jpeg_free(struct image_decoder *decoder);

/* image_codec_header() only checks the header and writes the size as stored,
 * before the EXIF orientation: 0, or -1 with the reason. */
int image_codec_header(struct image_decoder **decoder, const uint8_t *bytes,
                       size_t len, size_t max_pixels, size_t *width,
                       size_t *height, struct err *err);

/*
 * image_jpeg_encode() writes a baseline JPEG, 4:4:4 for three channels, to
 * `bytes`, which it overwrites.  The same pixels make the same bytes.
 *   pixel    [height,width,channels], channels 1 or 3
 *   quality  1 .. 100
 */
int image_jpeg_encode(const uint8_t *pixel, size_t width, size_t height,
                      size_t channels, int quality, struct data_bytes *bytes,
                      struct err *err);

/*
 * image_png_write() writes an 8-bit RGB picture as PNG, all or nothing.
 *   pixel [height,width,3]; width, height 1 .. 65535
 */
int image_png_write(const char *path, const uint8_t *pixel, size_t width,
                    size_t height, struct err *err);
