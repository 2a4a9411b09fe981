#ifndef IMAGE_EXIF_H
#define IMAGE_EXIF_H

#include <stddef.h>
#include <stdint.h>

#include "image/image.h"

/*
 * image_exif_orientation() finds the orientation (tag 0x0112 of the first
 * directory) in the payload of an APP1 segment: 1 .. 8, or 1 if the bytes are
 * no EXIF block, are damaged or have no orientation.
 */
int image_exif_orientation(const uint8_t *bytes, size_t len);

/*
 * image_exif_apply() writes `from` to `to` as a viewer shows an image of that
 * orientation (EXIF 2.3, 4.6.4 A): 2 mirrored, 3 upside down, 4 flipped, 5 .. 8
 * the same with rows and columns exchanged.
 */
void image_exif_apply(int orientation, const struct image *from,
                      struct image *to);

#endif
