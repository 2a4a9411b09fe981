#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * A map is a value between layers of a network: n images of c channels of h x w
 * pixels, in one of the layouts that are fastest in oneDNN.  Channels are cut
 * into c / block groups, and within a group the channel is the last index:
 *
 *     (i, k, y, x) is at
 *     ((i c / block + k / block) h w + y w + x) block + k % block
 *
 * block 1 is plain NCHW; with h = w = 1 every block is a plain [n,c] matrix.
 * Elements are f32, or bfloat16 (the upper half of an f32, rounded to even).
 */
struct num_map {
    size_t n, c, h, w;
    size_t block; /* 1, 8 or 16; divides c */
    int bf16;
};

/* num_map_block() returns the fastest block on this processor for maps with
 * multiples of c channels: 16 with AVX-512, else 8, else 1. */
size_t num_map_block(size_t c);

/* num_map_size(), num_map_bytes() return elements and bytes of a whole map. */
size_t num_map_size(const struct num_map *map);
size_t num_map_bytes(const struct num_map *map);

/*
 * num_map_pixels() makes the first map of a network from bytes:
 *
 *     x = (u / 255 - mean_k) / deviation_k
 *
 *   u    [n,h,w,c] bytes, c <= 4
 *   mean, deviation [c]
 *   data a map of block 1
 */
void num_map_pixels(const struct num_map *map, const uint8_t *u,
                    const float *mean, const float *deviation, void *data);

/* num_map_add() adds map x to map y, rounded once. */
void num_map_add(const struct num_map *map, const void *x, void *y);
