/* EXIF blocks: an orientation in 1 .. 8 whatever the bytes. */
#include <string.h>

#include "image/decode.h"
#include "util/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    uint8_t block[256] = {'E', 'x', 'i', 'f'};
    int orientation;

    len = len < sizeof block - 6 ? len : sizeof block - 6;
    if (len)
        memcpy(block + 6, data, len);
    orientation = image_exif_orientation(block, 6 + len);
    REQUIRE(orientation >= 1 && orientation <= 8);
    return 0;
}
