#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Synthetic images: a shape, or a texture, of one colour on a background of
 * another, at a random position, size and angle, with some noise.  They are
 * computed only by sums, products and divisions of counted random numbers, so
 * the same seed makes the same pixels on any machine.
 */
enum { IMAGE_GENERATE_CLASSES = 8, IMAGE_GENERATE_CAPTION = 256 };

/*
 * image_generate() makes image number `id` of a seed.
 *   id       < 2^48
 *   size     >= 1
 *   pixel    [size,size,3] out
 *   caption  out, a string of two lines with shape, colours and size
 * Returns the label, id mod IMAGE_GENERATE_CLASSES.
 */
int image_generate(uint64_t seed, uint64_t id, size_t size, uint8_t *pixel,
                   char caption[IMAGE_GENERATE_CAPTION]);
