#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Colour: the operators of torchvision's ColorJitter and RandomGrayscale on
 * PIL images, to the bit.  They work in place on planes,
 *
 *   plane  [3,n]  red, green, blue of n pixels
 *
 * where a mix has 8 bits: PIL's blend in single precision, truncated and
 * clipped:
 *
 *     mix(a, b, f) = trunc(clip(a + f (b - a), 0, 255))
 *     grey         = (19595 R + 38470 G + 7471 B + 32768) >> 16
 *
 * A factor is 0 .. 1e6.  None can fail; all take O(n).
 */

/*
 * image_color_mix() is PIL's blend from a to b by f, extrapolating for f > 1.
 * It truncates first and clips the whole number, with the same result: if
 * floats are clipped and then converted to bytes, it takes four times as long.
 */
static inline uint8_t
image_color_mix(int a, int b, float f)
{
    int x = (int)((float)a + f * (float)(b - a));

    x = x > 0 ? x : 0;
    return (uint8_t)(x < 255 ? x : 255);
}

/* image_color_split() converts [n,3] to [3,n]; image_color_merge() converts
 * back. */
void image_color_split(size_t n, const uint8_t *pixel, uint8_t *plane);
void image_color_merge(size_t n, const uint8_t *plane, uint8_t *pixel);

/* image_color_brightness(): x = mix(0, x, factor). */
void image_color_brightness(size_t n, double factor, uint8_t *plane);

/* image_color_contrast(): x = mix(round(mean grey), x, factor). */
void image_color_contrast(size_t n, double factor, uint8_t *plane);

/* image_color_saturation(): x = mix(grey of the pixel, x, factor). */
void image_color_saturation(size_t n, double factor, uint8_t *plane);

/*
 * image_color_hue() rotates the hue by trunc(255 shift) of 255 steps, in PIL's
 * HSV of 8 bits each, which is coarse: shift 0 changes pixels, too.
 *   -0.5 <= shift <= 0.5
 */
void image_color_hue(size_t n, double shift, uint8_t *plane);

/* image_color_grey() sets all three planes to the grey. */
void image_color_grey(size_t n, uint8_t *plane);
