#ifndef DATA_CODEC_H
#define DATA_CODEC_H

#include <stddef.h>
#include <stdint.h>

#include "data/image.h"
#include "data/jpeg.h"
#include "util/err.h"

/*
 * Images of any form that a data set may hold, told apart by their first bytes,
 * not by their names.  PNG: grey, colour or palette, of 1 to 16 bits, also
 * interlaced; WebP: lossy or lossless, one image.  What is transparent lies on
 * white; colours are taken as they are stored, and colour profiles are
 * ignored; of 16 bits the upper 8 stay, rounded.
 */
enum data_codec {
    DATA_CODEC_JPEG,
    DATA_CODEC_PNG,
    DATA_CODEC_WEBP,
    DATA_CODECS
};

/* data_codec_name() is "jpeg", "png" or "webp". */
const char *data_codec_name(enum data_codec codec);

/* data_codec_of() tells the form of a file, DATA_CODECS where it is of none. */
enum data_codec data_codec_of(const uint8_t *bytes, size_t len);

/*
 * data_codec_decode() decodes an image of any form, as data_jpeg_decode() does
 * one that is a JPEG (data/jpeg.h): the header is judged before anything is
 * allocated, more than max_pixels are refused, and sides of more than 65,535.
 * The policy is for JPEGs: others are refused where anything is damaged.
 *
 * *decoder starts as NULL, holds scratch memory between calls, and goes to
 * data_jpeg_free() in the end.
 */
int data_codec_decode(struct data_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, enum data_policy policy,
                      struct data_image *image, struct err *err);

/* data_codec_header() judges the header alone and gives the size as stored. */
int data_codec_header(struct data_decoder **decoder, const uint8_t *bytes,
                      size_t len, size_t max_pixels, size_t *width,
                      size_t *height, struct err *err);

/* data_codec() is the form of a sample's file, id below the set's size. */
enum data_codec data_codec(const struct data_set *set, size_t id);

#endif
