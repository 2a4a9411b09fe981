#ifndef IMAGE_JPEG_H
#define IMAGE_JPEG_H

#include "image/image.h"
#include "util/err.h"
#include "util/mem.h"

/* What to do with a file that libjpeg-turbo reads with a warning. */
enum image_policy { IMAGE_REFUSE, IMAGE_ACCEPT };

/* The default of every --max-pixels: 64 megapixels. */
enum { IMAGE_MAX_PIXELS = 1 << 26 };

/*
 * image_jpeg_decode() decodes baseline and progressive JPEGs to the same pixels
 * as PIL: accurate integer DCT, smooth chroma upsampling; grey is replicated to
 * three channels; CMYK and YCCK, with inks as Adobe stores them (inverted, 255
 * is no ink), become R = C K / 255 and so on.  Unlike PIL, it applies the EXIF
 * orientation.
 *
 * It checks the header before it allocates, and refuses more than max_pixels or
 * 100 scans.  `policy` decides about a cut-off or damaged file that
 * libjpeg-turbo reads with a warning.  Returns 0, or -1 with the reason (the
 * caller adds the sample's name).
 *
 * *decoder starts as NULL and has scratch memory between calls; free it with
 * image_jpeg_free().  About 9 us for 32x32 on a 2 GHz core.
 */
struct image_decoder;
int image_jpeg_decode(struct image_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, enum image_policy policy,
                      struct image *image, struct err *err);
void image_jpeg_free(struct image_decoder *decoder);

/*
 * image_jpeg_region() is image_jpeg_decode() for a caller that reads a part of
 * the image: other pixels may be undefined.  The image has its whole size, and
 * the pixels of the region and the errors are the same: all of the file is
 * read, but the pixels outside are not transformed, upsampled and converted.
 * Progressive, CMYK, rotated and small images are decoded whole, and so is any
 * image if region is NULL or covers most of it.
 */
int image_jpeg_region(struct image_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, enum image_policy policy,
                      const struct image_region *region, struct image *image,
                      struct err *err);

/*
 * image_jpeg_header() only checks the header and writes the size as stored,
 * before the EXIF orientation: 0, or -1 with the reason.
 */
int image_jpeg_header(struct image_decoder **decoder, const uint8_t *bytes,
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

#endif
