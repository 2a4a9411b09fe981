#pragma once

#include <stddef.h>
#include <stdint.h>

#include "num/map.h"
#include "tile_product.h"

/*
 * Conversion between maps and tiles, for lib/num/tiles.c.
 *
 * A line has slots: those of columns -low, step - low, 2 step - low .., then
 * those of 1 - low, step + 1 - low .., and so on through `classes` classes, of
 * `length` columns in total; each slot has one pixel of `now` images.  Pixels
 * beyond the border, and images beyond `live`, are zero.
 */
struct tiles_slots {
    size_t step, classes, low, length;
};

struct tiles_lines {
    const struct num_map *map;
    const void *data;
    size_t image, live, now; /* first image; number of images; number with
                                padding */
    struct tiles_slots slots;
};

/* Line y of the map: a row of 16 words for each pixel, channels 32 plane .. */
void num_tiles_rows(const struct tiles_lines *lines, size_t plane, size_t y,
                    uint32_t *to);

/* A row of 16 words for each two images of a slot, channels 16 group ..; `now`
 * is even. */
void num_tiles_pairs(const struct tiles_lines *lines, size_t group, size_t y,
                     uint32_t *to);

/* Left tiles: for each 32 pixels, of slots and images, a row for each channel.
 */
void num_tiles_across(const struct tiles_lines *lines, size_t group, size_t y,
                      uint32_t *to);

/* Writes sums of `rows` pixels and channels 32 panel .. of a line to the map:
 * y = max(0, y + sums + bias), with `relu` and `add`.  Pixel k is of image
 * (from + k) % now and column first + step ((from + k) / now). */
struct tiles_sink {
    const struct num_map *map;
    void *y;
    const float *bias; /* of the first channel of the map, or NULL */
    int add, relu;
};

struct tiles_place {
    size_t image, now, panel, line, first, step, from, rows;
};

void num_tiles_store(const struct tiles_sink *sink,
                     const struct tiles_place *place, const float *sums);

/*
 * num_tiles_weights() packs weights [out,in,taps] as right tiles: panels of 32
 * columns, in planes of depth 32: [tap,plane,2] tiles.  Columns are `out` and
 * the depth is `in`, or with `back` the reverse.  num_tiles_gradient() computes
 * dw (+)= sums, 2 by 2 tiles for each of `taps` taps from `first` on, for 32
 * panel.. of out and 32 plane.. of in.
 */
enum { TILES_TAPS = 256 }; /* at most */

struct tiles_weights {
    size_t out, in, taps;
    int back;
};

void num_tiles_weights(const struct tiles_weights *t, const float *w,
                       size_t panel, uint32_t *to);
void num_tiles_gradient(const struct tiles_weights *t, const float *sums,
                        size_t panel, size_t plane, size_t first, size_t taps,
                        int accumulate, float *dw);
