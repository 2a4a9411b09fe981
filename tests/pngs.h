#pragma once

/* PNGs of forms that image_png_write() does not make, and WebP. */
#include <stdint.h>
#include <string.h>

#include <png.h>
#include <webp/encode.h>

#include "util/mem.h"

enum { PICTURE_W = 13, PICTURE_H = 9 };

/* A PNG in memory, of rows in the form that libpng calls color and depth. */
struct form {
    int color, depth, interlaced;
    const uint8_t *row; /* [PICTURE_H] rows of `stride` bytes */
    size_t stride;
    png_color *palette; /* of `colors`, of which `alphas` have one */
    int colors, alphas;
    uint8_t *alpha;
};

static inline void
png_append(png_structp png, png_bytep from, size_t n)
{
    struct data_bytes *bytes = png_get_io_ptr(png);

    mem_grow(&bytes->data, &bytes->room, bytes->len + n, 1);
    memcpy(bytes->data + bytes->len, from, n);
    bytes->len += n;
}

static inline struct data_bytes
write_png(const struct form *form)
{
    png_structp png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    struct data_bytes bytes = {0};
    uint8_t *row[PICTURE_H];

    for (size_t y = 0; y < PICTURE_H; y++)
        row[y] = (uint8_t *)(uintptr_t)(form->row + y * form->stride);
    png_set_write_fn(png, &bytes, png_append, NULL);
    png_set_IHDR(png, info, PICTURE_W, PICTURE_H, form->depth, form->color,
                 form->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (form->palette)
        png_set_PLTE(png, info, form->palette, form->colors);
    if (form->alpha)
        png_set_tRNS(png, info, form->alpha, form->alphas, NULL);
    png_set_gAMA(png, info, .3); // none of our business
    png_write_info(png, info);
    png_write_image(png, row);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return bytes;
}

/* A WebP without loss of [PICTURE_H,PICTURE_W,4]. */
static inline struct data_bytes
write_webp(const uint8_t *rgba)
{
    struct data_bytes bytes = {0};
    uint8_t *out;

    bytes.len = bytes.room =
        WebPEncodeLosslessRGBA(rgba, PICTURE_W, PICTURE_H, 4 * PICTURE_W, &out);
    bytes.data = mem_array(bytes.len, 1);
    memcpy(bytes.data, out, bytes.len);
    WebPFree(out);
    return bytes;
}
