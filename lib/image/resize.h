#ifndef IMAGE_RESIZE_H
#define IMAGE_RESIZE_H

#include "image/view.h"

#include "crop.h"

/*
 * data_resize() scales a part of an image, bilinear and antialiased, to the
 * bit as PIL's Image.crop().resize(BILINEAR) does it: each output pixel is a
 * weighted mean under a triangle of half-width max(1, in / out), clipped at
 * the edge of the box; first across, rounded to 8 bits, then down; weights in
 * fixed point with 22 bits.
 *   box            what is read: inside the image
 *   width, height  what the box becomes, >= 1
 *   part           the window of that which is wanted, or NULL for all
 *   flip           1: mirrored left to right, after scaling
 *   out            [part->height, part->width, 3] or [height,width,3]
 * O(pixels read x output taps); what lies outside the part costs nothing.
 */
void data_resize(const struct data_image *image, const struct data_box *box,
                 size_t width, size_t height, const struct data_box *part,
                 int flip, struct data_scratch **scratch, uint8_t *out);

#endif
