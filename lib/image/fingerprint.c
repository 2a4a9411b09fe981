#include "image/fingerprint.h"

#include "resize.h"

void
data_fingerprint(const struct data_image *image, struct data_scratch **scratch,
                 struct data_fingerprint *fingerprint)
{
    const struct data_box all = {0, 0, image->width, image->height};
    const uint8_t *p = fingerprint->pixel;
    uint64_t hash = 0;

    data_resize(image, &all, DATA_FINGERPRINT_WIDTH, DATA_FINGERPRINT_HEIGHT,
                NULL, 0, scratch, fingerprint->pixel);
    for (size_t i = 0; i < DATA_FINGERPRINT_WIDTH * DATA_FINGERPRINT_HEIGHT;
         i++, p += 3) {
        const int here = 299 * p[0] + 587 * p[1] + 114 * p[2];

        if (i % DATA_FINGERPRINT_WIDTH + 1 < DATA_FINGERPRINT_WIDTH)
            hash = hash << 1 | (here < 299 * p[3] + 587 * p[4] + 114 * p[5]);
    }
    fingerprint->hash = hash;
}
