/* Damaged JPEGs of every kind: refused, or decoded to pixels that are there. */
#include "fuzz/seeded.h"
#include "image/codec.h"
#include "jpegs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SEEDS = 6, MAX_PIXELS = 1 << 16 };

static const uint8_t *seed[SEEDS];
static size_t seed_len[SEEDS];

static void
make_seeds(void)
{
    static const struct kind kind[SEEDS] = {
        {3, JCS_RGB, JCS_YCbCr, 0, 0, 0},
        {3, JCS_RGB, JCS_YCbCr, 1, 0, 1},
        {1, JCS_GRAYSCALE, JCS_GRAYSCALE, 0, 0, 0},
        {4, JCS_CMYK, JCS_YCCK, 0, 0, 0},
        {4, JCS_CMYK, JCS_CMYK, 1, 0, 0},
        {3, JCS_RGB, JCS_RGB, 0, 0, 0},
    };

    for (size_t i = 0; i < SEEDS; i++) {
        struct data_bytes bytes = write_kind(&kind[i]);

        if (i == SEEDS - 1) {
            struct data_bytes turned = with_exif(&bytes, 6, 1);

            data_bytes_release(&bytes);
            bytes = turned;
        }
        seed[i] = bytes.data;
        seed_len[i] = bytes.len;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static uint8_t file[SEEDED_ROOM];
    static struct image_decoder *decoder;
    static struct image image;
    unsigned sum = 0;
    struct err err;

    if (!seed[0])
        make_seeds();
    len = seeded_input(data, len, SEEDS, seed, seed_len, file);
    if (image_codec_decode(&decoder, file, len, MAX_PIXELS, IMAGE_ACCEPT, NULL,
                           &image, &err))
        return 0;
    REQUIRE(image.width * image.height <= MAX_PIXELS);
    for (size_t i = 0; i < image.width * image.height * 3; i++)
        sum += image.pixel[i];
    return sum == 1;
}
