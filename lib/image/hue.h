#ifndef IMAGE_HUE_H
#define IMAGE_HUE_H

#include <stddef.h>
#include <stdint.h>

/*
 * data_hue_turn() turns the hue of n pixels by `shift` of 255 steps, in place,
 * as PIL's HSV of 8 bits does it (lib/image/color.h).  data_hue_plain() defines
 * it; the other gives the same bits, with AVX-512 VBMI in half the time.
 *   plane  [3,n]
 *   shift  -127 .. 127
 */
void data_hue_turn(size_t n, int shift, uint8_t *plane);
void data_hue_plain(size_t n, int shift, uint8_t *plane);

#endif
