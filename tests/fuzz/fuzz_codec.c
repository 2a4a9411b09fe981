/* Damaged PNGs and WebPs: refused with a sentence, or decoded to pixels that
 * are there, of the size that the header says. */
#include <stdlib.h>

#include "fuzz/seeded.h"
#include "image/codec.h"
#include "pngs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

enum { SEEDS = 6, MAX_PIXELS = 1 << 14 };

static const uint8_t *seed[SEEDS];
static size_t seed_len[SEEDS];

static void
make_seeds(void)
{
    static png_color palette[4] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {0, 0, 0}};
    static uint8_t alpha[2] = {0, 128}, some[8 * PICTURE_W * PICTURE_H];
    const struct form form[SEEDS - 1] = {
        {PNG_COLOR_TYPE_RGB, 8, 0, some, 3 * PICTURE_W, NULL, 0, 0, NULL},
        {PNG_COLOR_TYPE_RGBA, 8, 1, some, 4 * PICTURE_W, NULL, 0, 0, NULL},
        {PNG_COLOR_TYPE_GRAY, 16, 0, some, 2 * PICTURE_W, NULL, 0, 0, NULL},
        {PNG_COLOR_TYPE_GRAY, 1, 1, some, 2, NULL, 0, 0, NULL},
        {PNG_COLOR_TYPE_PALETTE, 2, 0, some, 4, palette, 4, 2, alpha},
    };

    for (size_t i = 0; i < sizeof some; i++)
        some[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < SEEDS; i++) {
        struct data_bytes bytes =
            i + 1 < SEEDS ? write_png(&form[i]) : write_webp(some);

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
    size_t width, height;
    unsigned sum = 0;
    struct err err = {""};

    if (!seed[0])
        make_seeds();
    len = seeded_input(data, len, SEEDS, seed, seed_len, file);
    if (image_codec_of(file, len) == IMAGE_CODEC_JPEG)
        return 0; // fuzz_jpeg
    if (image_codec_decode(&decoder, file, len, MAX_PIXELS, IMAGE_ACCEPT, NULL,
                           &image, &err)) {
        REQUIRE(*err.msg);
        return 0;
    }
    REQUIRE(!image_codec_header(&decoder, file, len, MAX_PIXELS, &width,
                                &height, &err) &&
            width == image.width && height == image.height &&
            width * height <= MAX_PIXELS);
    for (size_t i = 0; i < width * height * 3; i++)
        sum += image.pixel[i];
    return sum == 1;
}
