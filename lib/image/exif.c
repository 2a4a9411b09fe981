#include <string.h>

#include "decode.h"

/* A TIFF block, with its own byte order; offsets count from its start. */
struct tiff {
    const uint8_t *at;
    size_t len;
    int big;
};

enum { HEAD = 8, ENTRY = 12, TAG = 0x0112, SHORT = 3 };

static unsigned
read_u16(const struct tiff *tiff, size_t at)
{
    unsigned a = tiff->at[at], b = tiff->at[at + 1];

    return tiff->big ? a << 8 | b : b << 8 | a;
}

int
image_exif_orientation(const uint8_t *bytes, size_t len)
{
    struct tiff tiff;
    size_t directory, n;

    if (len < 6 + HEAD || memcmp(bytes, "Exif\0", 6))
        return 1;
    tiff = (struct tiff){bytes + 6, len - 6, bytes[6] == 'M'};
    if (memcmp(tiff.at, tiff.big ? "MM\0*" : "II*", 4))
        return 1;
    directory = tiff.big
                    ? (size_t)read_u16(&tiff, 4) << 16 | read_u16(&tiff, 6)
                    : (size_t)read_u16(&tiff, 6) << 16 | read_u16(&tiff, 4);
    if (directory > tiff.len - 2)
        return 1;
    n = (tiff.len - directory - 2) / ENTRY;
    if (n > read_u16(&tiff, directory))
        n = read_u16(&tiff, directory);
    for (size_t i = 0; i < n; i++) {
        size_t entry = directory + 2 + i * ENTRY;

        if (read_u16(&tiff, entry) == TAG &&
            read_u16(&tiff, entry + 2) == SHORT) {
            unsigned value = read_u16(&tiff, entry + 8);

            return value >= 1 && value <= 8 ? (int)value : 1;
        }
    }
    return 1;
}

void
image_exif_apply(int orientation, const struct image *from, struct image *to)
{
    const int turned = orientation >= 5;
    const int mirrored = orientation == 2 || orientation == 3 ||
                         orientation == 7 || orientation == 8;
    const int flipped = orientation == 3 || orientation == 4 ||
                        orientation == 6 || orientation == 7;
    const size_t w = from->width, h = from->height;
    uint8_t *out;

    REQUIRE(orientation >= 1 && orientation <= 8 && from != to);
    image_size(to, turned ? h : w, turned ? w : h);
    out = to->pixel;
    for (size_t y = 0; y < to->height; y++)
        for (size_t x = 0; x < to->width; x++, out += 3) {
            size_t column = turned ? y : x, row = turned ? x : y;

            column = mirrored ? w - 1 - column : column;
            row = flipped ? h - 1 - row : row;
            memcpy(out, from->pixel + (row * w + column) * 3, 3);
        }
}
