#ifndef IMAGE_JPEG_H
#define IMAGE_JPEG_H

#include "image/image.h"
#include "util/buffer.h"
#include "util/err.h"

/* What becomes of a file that libjpeg-turbo reads with a warning. */
enum data_policy { DATA_REFUSE, DATA_ACCEPT };

/* The default of every --max-pixels: 64 megapixels. */
enum { DATA_MAX_PIXELS = 1 << 26 };

/*
 * data_jpeg_decode() decodes baseline and progressive JPEGs to the pixels that
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
 * data_jpeg_free() in the end.  About 9 us for 32x32 on a 2 GHz core.
 */
struct data_decoder;
int data_jpeg_decode(struct data_decoder **decoder, const uint8_t *bytes,
                     size_t len, size_t max_pixels, enum data_policy policy,
                     struct data_image *image, struct err *err);
void data_jpeg_free(struct data_decoder *decoder);

/*
 * data_jpeg_region() is data_jpeg_decode() for a caller that reads a part of
 * the image: of the others the pixels may be left undefined.  The image has its
 * whole size, the pixels of the region and the errors are the same: all of the
 * file is read, and what is spared is to transform, enlarge and convert what
 * lies outside.  Progressive, CMYK, turned and small images are decoded whole;
 * so are all where region is NULL, and those of which most is wanted.
 */
int data_jpeg_region(struct data_decoder **decoder, const uint8_t *bytes,
                     size_t len, size_t max_pixels, enum data_policy policy,
                     const struct data_region *region, struct data_image *image,
                     struct err *err);

/*
 * data_jpeg_header() judges the header alone and writes the size as stored,
 * before an EXIF orientation turns it: 0, or -1 with the reason.
 */
int data_jpeg_header(struct data_decoder **decoder, const uint8_t *bytes,
                     size_t len, size_t max_pixels, size_t *width,
                     size_t *height, struct err *err);

/*
 * data_jpeg_encode() writes a baseline JPEG, 4:4:4 for three channels, over
 * what `bytes` held.  The same pixels give the same bytes.
 *   pixel    [height,width,channels], channels 1 or 3
 *   quality  1 .. 100
 */
int data_jpeg_encode(const uint8_t *pixel, size_t width, size_t height,
                     size_t channels, int quality, struct data_bytes *bytes,
                     struct err *err);

#endif
