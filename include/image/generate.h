#ifndef IMAGE_GENERATE_H
#define IMAGE_GENERATE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Built-in images: a shape, or a texture, of one colour on a ground of another,
 * at a random place, size and angle, with some noise.  They are made from
 * counted random numbers by sums, products and divisions alone, so the same
 * seed gives the same pixels on any machine.
 */
enum { IMAGE_GENERATE_CLASSES = 8, IMAGE_GENERATE_CAPTION = 256 };

/*
 * image_generate() makes image number `id` of a seed.
 *   id       < 2^48
 *   size     >= 1
 *   pixel    [size,size,3] out
 *   caption  out, a string of two lines that tell shape, colours and size
 * Returns the label, id mod IMAGE_GENERATE_CLASSES.
 */
int image_generate(uint64_t seed, uint64_t id, size_t size, uint8_t *pixel,
                   char caption[IMAGE_GENERATE_CAPTION]);

#endif
