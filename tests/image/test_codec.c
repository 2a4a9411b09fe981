#include <stdlib.h>
#include <string.h>

#include "image/codec.h"
#include "pngs.h"
#include "t.h"

enum { W = PICTURE_W, H = PICTURE_H, N = W * H };

static struct err err;
static struct image_decoder *decoder;
static struct image image;

/* Reproducible random numbers. */
static void
fill(uint8_t *bytes, size_t n)
{
    uint32_t x = 12345;

    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(x >> 24);
    }
}

static int
decode(const struct data_bytes *bytes)
{
    size_t width, height;
    const int rc = image_codec_decode(&decoder, bytes->data, bytes->len, 1000,
                                      IMAGE_REFUSE, NULL, &image, &err);

    if (!rc)
        REQUIRE(!image_codec_header(&decoder, bytes->data, bytes->len, 1000,
                                    &width, &height, &err) &&
                width == image.width && height == image.height);
    return rc;
}

/* Checks that a decoded file has these pixels. */
static int
is(const struct form *form, const uint8_t *want)
{
    struct data_bytes bytes = write_png(form);
    const int same = !decode(&bytes) && image.width == W && image.height == H &&
                     !memcmp(image.pixel, want, 3 * N);

    data_bytes_release(&bytes);
    return same;
}

static void
png_of_all_forms(void)
{
    static uint8_t rgb[3 * N], rgba[4 * N], grey[N], want[3 * N];

    fill(rgb, sizeof rgb);
    T(is(&(struct form){PNG_COLOR_TYPE_RGB, 8, 0, rgb, 3 * W, 0, 0, 0, 0}, rgb),
      "colour is restored");
    T(is(&(struct form){PNG_COLOR_TYPE_RGB, 8, 1, rgb, 3 * W, 0, 0, 0, 0}, rgb),
      "interlaced, too");
    fill(grey, sizeof grey);
    for (size_t i = 0; i < 3 * N; i++)
        want[i] = grey[i / 3];
    T(is(&(struct form){PNG_COLOR_TYPE_GRAY, 8, 0, grey, W, 0, 0, 0, 0}, want),
      "grey has three equal channels");
    fill(rgba, sizeof rgba);
    rgba[3] = 0;
    rgba[7] = 255;
    for (size_t i = 0; i < 3 * N; i++) {
        const double c = rgba[i / 3 * 4 + i % 3], a = rgba[i / 3 * 4 + 3];

        want[i] = (uint8_t)floor(c * a / 255 + 255 - a + .5);
    }
    T(is(&(struct form){PNG_COLOR_TYPE_RGBA, 8, 0, rgba, 4 * W, 0, 0, 0, 0},
         want),
      "what is transparent lies on white");
    T(image.pixel[0] == 255 && image.pixel[3] == rgba[4],
      "only white, or no white");
}

static void
png_of_all_depths(void)
{
    static uint8_t rgb[3 * N], want[3 * N], wide[6 * N], bits[H * 2];

    fill(rgb, sizeof rgb);
    for (size_t i = 0; i < 3 * N; i++) { // high byte first
        wide[2 * i] = rgb[i];
        wide[2 * i + 1] = rgb[i];
    }
    T(is(&(struct form){PNG_COLOR_TYPE_RGB, 16, 0, wide, 6 * W, 0, 0, 0, 0},
         rgb),
      "16 bits become 8");
    wide[0] = 100;
    wide[1] = 255; // 100.996 of 255
    memcpy(want, rgb, sizeof rgb);
    want[0] = 101;
    T(is(&(struct form){PNG_COLOR_TYPE_RGB, 16, 0, wide, 6 * W, 0, 0, 0, 0},
         want),
      "rounded");
    fill(bits, sizeof bits);
    for (size_t i = 0; i < 3 * N; i++) {
        const size_t x = i / 3 % W, y = i / 3 / W;

        want[i] = bits[2 * y + x / 8] >> (7 - x % 8) & 1 ? 255 : 0;
    }
    T(is(&(struct form){PNG_COLOR_TYPE_GRAY, 1, 0, bits, 2, 0, 0, 0, 0}, want),
      "one bit is black or white");
}

static void
png_with_a_palette(void)
{
    png_color palette[4] = {
        {10, 20, 30}, {200, 100, 0}, {0, 0, 0}, {255, 255, 255}};
    uint8_t alpha[2] = {0, 128}, index[N], want[3 * N];
    const struct form plain = {
        PNG_COLOR_TYPE_PALETTE, 8, 0, index, W, palette, 4, 0, NULL};
    const struct form clear = {
        PNG_COLOR_TYPE_PALETTE, 8, 0, index, W, palette, 4, 2, alpha};

    for (size_t i = 0; i < N; i++) {
        index[i] = (uint8_t)(i % 4);
        memcpy(want + 3 * i, &palette[i % 4], 3);
    }
    T(is(&plain, want), "a palette is looked up");
    for (size_t i = 0; i < N; i++) {
        if (i % 4 == 0)
            memset(want + 3 * i, 255, 3);
        if (i % 4 == 1) // 128 / 255 of the colour on white
            memcpy(want + 3 * i, (const uint8_t[]){227, 177, 127}, 3);
    }
    T(is(&clear, want), "its colours may be transparent");
}

static void
webp(void)
{
    static uint8_t rgba[4 * N];
    struct data_bytes bytes;
    size_t same = 0;

    fill(rgba, sizeof rgba);
    for (size_t i = 0; i < N; i++)
        rgba[4 * i + 3] = i % 3 ? 255 : 0;
    bytes = write_webp(rgba);
    T(!decode(&bytes) && image.width == W && image.height == H,
      "WebP is decoded");
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < 3; c++)
            same += image.pixel[3 * i + c] == (i % 3 ? rgba[4 * i + c] : 255);
    T(same == 3 * N, "what is transparent lies on white");
    data_bytes_release(&bytes);
    for (size_t i = 0; i < N; i++)
        rgba[4 * i + 3] = 255;
    bytes = write_webp(rgba);
    T(!decode(&bytes) && image.pixel[4] == rgba[5],
      "a WebP without alpha has its pixels");
    data_bytes_release(&bytes);
}

static int
refuses(struct data_bytes *bytes, const char *why)
{
    const int refused = decode(bytes) && strstr(err.msg, why);

    if (!refused)
        printf("# %s\n", err.msg);
    return refused;
}

/* Each kind of damage is detected, by the header if possible. */
static void
other_files_are_refused(void)
{
    static uint8_t rgba[4 * N];
    struct data_bytes png = write_png(
        &(struct form){PNG_COLOR_TYPE_RGBA, 8, 0, rgba, 4 * W, 0, 0, 0, 0});
    struct data_bytes webp = write_webp(rgba), none = {0};
    size_t whole, width, height, taken = 0;

    T(refuses(&none, "is empty"), "an empty file is refused");
    none.data = (uint8_t *)"GIF89a and more";
    none.len = 15;
    T(refuses(&none, "is not a JPEG, PNG or WebP image"), "GIF is refused");
    T(image_codec_decode(&decoder, png.data, png.len, N - 1, IMAGE_REFUSE, NULL,
                         &image, &err) &&
          strstr(err.msg,
                 "claims 13x9 pixels, more than the 116 of --max-pixels"),
      "too large a PNG is refused: %s", err.msg);
    T(image_codec_header(&decoder, webp.data, webp.len, N - 1, &width, &height,
                         &err) &&
          strstr(err.msg, "claims 13x9 pixels"),
      "too large a WebP is refused by its header");
    memcpy(png.data + 16, "\x7f\xff\xff\xff\x7f\xff\xff\xff", 8);
    T(image_codec_header(&decoder, png.data, png.len, (size_t)1 << 40, &width,
                         &height, &err),
      "a modified PNG is refused by its header: %s", err.msg);
    data_bytes_release(&png);
    png = write_png(
        &(struct form){PNG_COLOR_TYPE_RGBA, 8, 0, rgba, 4 * W, 0, 0, 0, 0});
    whole = png.len;
    for (png.len = 0; png.len < whole - 12; png.len++) // IEND does not matter
        taken += !decode(&png);
    T(!taken, "a PNG that is cut off anywhere is refused");
    whole = webp.len;
    for (webp.len = 0; webp.len < whole - 1; webp.len++)
        taken += !decode(&webp);
    T(!taken, "a WebP that is cut off anywhere is refused");
    data_bytes_release(&png);
    data_bytes_release(&webp);
}

int
main(void)
{
    png_of_all_forms();
    png_of_all_depths();
    png_with_a_palette();
    webp();
    other_files_are_refused();
    image_jpeg_free(decoder);
    image_release(&image);
    return t_done();
}
