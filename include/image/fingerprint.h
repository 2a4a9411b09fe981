#ifndef IMAGE_FINGERPRINT_H
#define IMAGE_FINGERPRINT_H

#include <stdint.h>

#include "image/view.h"

/*
 * A fingerprint of an image: the image scaled to 9 x 8 pixels, and 64 bits,
 * each set if a pixel, in grey, is darker than the one to its right (the
 * difference hash).  Scaling, compression and slight changes of brightness do
 * not change most bits.
 */
enum { IMAGE_FINGERPRINT_WIDTH = 9, IMAGE_FINGERPRINT_HEIGHT = 8 };

struct image_fingerprint {
    uint64_t hash;
    uint8_t pixel[IMAGE_FINGERPRINT_WIDTH * IMAGE_FINGERPRINT_HEIGHT * 3];
};

/* image_fingerprint() computes it, with scratch as in image_view(). */
void image_fingerprint(const struct image *image,
                       struct image_scratch **scratch,
                       struct image_fingerprint *fingerprint);

#endif
