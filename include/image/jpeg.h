#ifndef IMAGE_JPEG_H
#define IMAGE_JPEG_H

#include "image/image.h"
#include "util/buffer.h"
#include "util/err.h"

/* What becomes of a file that libjpeg-turbo reads with a warning. */
enum image_policy { IMAGE_REFUSE, IMAGE_ACCEPT };

/* The default of every --max-pixels: 64 megapixels. */
enum { IMAGE_MAX_PIXELS = 1 << 26 };

/*
 * image_jpeg_decode() decodes baseline and progressive JPEGs to the pixels that
 * PIL gives: accurate integer DCT, smooth chroma upsampling; grey replicated
 * to three channels; CMYK and YCCK, whose inks are taken as Adobe stores them
 * (inverted, 255 is no ink), by R = C K / 255 and so on.  An EXIF orientation
 * is applied, which PIL leaves to its caller.
 *
 * The header is judged before anything is allocated: more than max_pixels is
 * refused, and so are more than 100 scans.  A cut-off or damaged file that
 * libjpeg-turbo reads with a warning is refused or accepted as `policy` says.
 * Returns 0, or -1 with the reason (the caller knows the sample's name).
 *
 * *decoder starts as NULL, holds scratch memory between calls, and goes to
 * image_jpeg_free() in the end.  About 9 us for 32x32 on a 2 GHz core.
 */
struct image_decoder;
int image_jpeg_decode(struct image_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, enum image_policy policy,
                      struct image *image, struct err *err);
void image_jpeg_free(struct image_decoder *decoder);

/*
 * image_jpeg_region() is image_jpeg_decode() for a caller that reads a part of
 * the image: of the others the pixels may be left undefined.  The image has its
 * whole size, the pixels of the region and the errors are the same: all of the
 * file is read, and what is spared is to transform, enlarge and convert what
 * lies outside.  Progressive, CMYK, turned and small images are decoded whole;
 * so are all where region is NULL, and those of which most is wanted.
 */
int image_jpeg_region(struct image_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, enum image_policy policy,
                      const struct image_region *region, struct image *image,
                      struct err *err);

/*
 * image_jpeg_header() judges the header alone and writes the size as stored,
 * before an EXIF orientation turns it: 0, or -1 with the reason.
 */
int image_jpeg_header(struct image_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, size_t *width,
                      size_t *height, struct err *err);

/*
 * image_jpeg_encode() writes a baseline JPEG, 4:4:4 for three channels, over
 * what `bytes` held.  The same pixels give the same bytes.
 *   pixel    [height,width,channels], channels 1 or 3
 *   quality  1 .. 100
 */
int image_jpeg_encode(const uint8_t *pixel, size_t width, size_t height,
                      size_t channels, int quality, struct data_bytes *bytes,
                      struct err *err);

#endif
