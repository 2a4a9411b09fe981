#ifndef IMAGE_FINGERPRINT_H
#define IMAGE_FINGERPRINT_H

#include <stdint.h>

#include "image/view.h"

/*
 * A fingerprint of an image: the image itself, scaled to 9 x 8 pixels, and 64
 * bits that say which of these pixels, in grey, is darker than the one to its
 * right (the difference hash).  Scaling, compression and slight changes of
 * light leave most bits as they are.
 */
enum { DATA_FINGERPRINT_WIDTH = 9, DATA_FINGERPRINT_HEIGHT = 8 };

struct data_fingerprint {
    uint64_t hash;
    uint8_t pixel[DATA_FINGERPRINT_WIDTH * DATA_FINGERPRINT_HEIGHT * 3];
};

/* data_fingerprint() computes it; scratch as in data_view(). */
void data_fingerprint(const struct data_image *image,
                      struct data_scratch **scratch,
                      struct data_fingerprint *fingerprint);

#endif
