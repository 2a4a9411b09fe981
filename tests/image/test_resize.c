#include <stdlib.h>
#include <string.h>

#include "image/resize.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

static struct image_scratch *scratch;

static struct image
noise(size_t width, size_t height, uint64_t key)
{
    struct image image = {.width = width, .height = height};
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, key, 0, 0);
    image.pixel = mem_array(width * height, 3);
    for (size_t i = 0; i < 3 * width * height; i++)
        image.pixel[i] = (uint8_t)rng_below(&rng, 256);
    return image;
}

static struct image_box
all_of(const struct image *image)
{
    return (struct image_box){0, 0, image->width, image->height};
}

/* Computes the weight of input x at output i, in double. */
static double
weight(size_t in, size_t out, size_t i, size_t x)
{
    double scale = (double)in / (double)out, wide = fmax(1, scale), sum = 0;
    double centre = ((double)i + 0.5) * scale, own = 0;

    for (size_t j = 0; j < in; j++) {
        double w = fmax(0, 1 - fabs((double)j + 0.5 - centre) / wide);

        sum += w;
        if (j == x)
            own = w;
    }
    return own / sum;
}

static double
naive(const struct image *image, const struct image_box *box, size_t width,
      size_t height, size_t x, size_t y, size_t c)
{
    double sum = 0;

    for (size_t j = 0; j < box->height; j++)
        for (size_t i = 0; i < box->width; i++)
            sum +=
                weight(box->width, width, x, i) *
                weight(box->height, height, y, j) *
                image->pixel[((box->top + j) * image->width + box->left + i) *
                                 3 +
                             c];
    return sum;
}

/* Two roundings by at most a half each: a difference of at most one level. */
static void
agrees_with_naive(void)
{
    static const size_t size[][2] = {{8, 8}, {3, 13}, {21, 2}, {1, 1}};
    struct image image = noise(19, 14, 1);
    struct image_box box = {2, 1, 16, 11};

    for (size_t s = 0; s < sizeof size / sizeof *size; s++) {
        size_t w = size[s][0], h = size[s][1];
        uint8_t *out = mem_array(w * h, 3);
        double worst = 0;

        image_resize(&image, &box, w, h, NULL, 0, &scratch, out);
        for (size_t i = 0; i < w * h * 3; i++)
            worst =
                fmax(worst, fabs(out[i] - naive(&image, &box, w, h, i / 3 % w,
                                                i / 3 / w, i % 3)));
        T(worst <= 1, "16 x 11 to %zu x %zu: within %.2f of the sum in double",
          w, h, worst);
        free(out);
    }
    free(image.pixel);
}

static void
closed_forms(void)
{
    uint8_t two[6] = {0, 0, 10, 255, 255, 20}, four[12], one[3];
    struct image image = {.pixel = two, .width = 2, .height = 1};
    struct image_box box = all_of(&image);

    image_resize(&image, &box, 4, 1, NULL, 0, &scratch, four);
    T(four[0] == 0 && four[3] == 64 && four[6] == 191 && four[9] == 255,
      "0 255 enlarged to four: 0 63.75 191.25 255, rounded");
    T(four[2] == 10 && four[5] == 13 && four[8] == 18 && four[11] == 20,
      "the blue channel on its own: 10 12.5 17.5 20");
    image_resize(&image, &box, 1, 1, NULL, 0, &scratch, one);
    T(one[0] == 128 && one[2] == 15,
      "reduced to one pixel: the mean, halves up");
}

static void
same_size_is_a_copy(void)
{
    struct image image = noise(31, 17, 2);
    struct image_box box = all_of(&image), part = {4, 3, 20, 11};
    uint8_t *out = mem_array(31 * 17, 3), *window = mem_array(20 * 11, 3);
    int wrong = 0;

    image_resize(&image, &box, 31, 17, NULL, 0, &scratch, out);
    T(!memcmp(out, image.pixel, 31 * 17 * 3), "same size: the same bytes");
    image_resize(&image, &part, 20, 11, NULL, 0, &scratch, window);
    for (size_t y = 0; y < 11; y++)
        wrong +=
            !!memcmp(window + y * 60, image.pixel + ((y + 3) * 31 + 4) * 3, 60);
    T(!wrong, "a box of the same size: cut out");
    free(image.pixel);
    free(out);
    free(window);
}

static void
flip_mirrors(void)
{
    struct image image = noise(23, 9, 3);
    struct image_box box = all_of(&image);
    uint8_t plain[12 * 10 * 3], flipped[12 * 10 * 3];
    int wrong = 0;

    image_resize(&image, &box, 12, 10, NULL, 0, &scratch, plain);
    image_resize(&image, &box, 12, 10, NULL, 1, &scratch, flipped);
    for (size_t y = 0; y < 10; y++)
        for (size_t x = 0; x < 12; x++)
            wrong += !!memcmp(plain + (y * 12 + x) * 3,
                              flipped + (y * 12 + 11 - x) * 3, 3);
    T(!wrong, "flip: column x is column width - 1 - x");
    free(image.pixel);
}

static void
part_is_a_window(void)
{
    struct image image = noise(40, 30, 4);
    struct image_box box = {1, 2, 37, 25}, part = {3, 5, 8, 7};
    uint8_t whole[20 * 16 * 3], window[8 * 7 * 3];
    int wrong = 0;

    image_resize(&image, &box, 20, 16, NULL, 0, &scratch, whole);
    image_resize(&image, &box, 20, 16, &part, 0, &scratch, window);
    for (size_t y = 0; y < 7; y++)
        wrong += !!memcmp(window + y * 24, whole + ((y + 5) * 20 + 3) * 3, 24);
    T(!wrong, "a part equals that window of the whole");
    free(image.pixel);
}

static void
white_stays_white(void)
{
    static const size_t size[] = {1, 2, 7, 64, 1000};
    struct image image = noise(61, 1, 5);
    struct image_box box = all_of(&image);
    uint8_t *out = mem_array(1000, 3);
    int wrong = 0;

    memset(image.pixel, 255, 61 * 3);
    for (size_t s = 0; s < 5; s++) {
        image_resize(&image, &box, size[s], 1, NULL, 0, &scratch, out);
        for (size_t i = 0; i < 3 * size[s]; i++)
            wrong += out[i] != 255;
    }
    T(!wrong, "white stays white at any size");
    free(image.pixel);
    free(out);
}

/* An unchanged size: pixels are only transposed twice. */
static void
same_size_is_the_part(void)
{
    struct image image = noise(23, 21, 7);
    uint8_t out[2][19 * 19 * 3];
    int wrong = 0;

    for (size_t w = 1; w < 20; w++)
        for (size_t h = 1; h < 20; h++) {
            struct image_box box = {3, 2, w, h};

            for (int flip = 0; flip < 2; flip++)
                image_resize(&image, &box, w, h, NULL, flip, &scratch,
                             out[flip]);
            for (size_t i = 0; i < 3 * w * h; i++) {
                size_t c = i % 3, x = i / 3 % w, y = i / 3 / w;
                uint8_t want = image.pixel[((2 + y) * 23 + 3 + x) * 3 + c];

                wrong += out[0][i] != want ||
                         out[1][(y * w + w - 1 - x) * 3 + c] != want;
            }
        }
    T(!wrong, "the same size, of 361 kinds: the pixels of the box, mirrored");
    free(image.pixel);
}

/* All pairs of levels, one above the other, enlarged: the mean is rounded as in
 * double, except next to a half. */
static void
two_lines_are_mixed(void)
{
    enum { H = 37 };
    struct image image = noise(256, 2, 8);
    struct image_box box = all_of(&image);
    uint8_t *out = mem_array((size_t)H * 256, 3);
    int wrong = 0;

    for (int a = 0; a < 256; a++) {
        for (size_t i = 0; i < 3 * 256; i++) {
            image.pixel[i] = (uint8_t)a;
            image.pixel[3 * 256 + i] = (uint8_t)(i / 3);
        }
        image_resize(&image, &box, 256, H, NULL, 0, &scratch, out);
        for (size_t i = 0; i < (size_t)3 * 256 * H; i++) {
            double t = weight(2, H, i / (3 * 256), 1);
            double want = a + t * ((double)(i % (3 * 256) / 3) - a);

            wrong += fabs(out[i] - want) > .5001;
        }
    }
    T(!wrong, "two lines: each mean of each two levels, rounded");
    free(out);
    free(image.pixel);
}

/* Three to nine lines use different code; the width is unchanged, so the mean
 * is rounded once. */
static void
several_lines_are_mixed(void)
{
    enum { W = 47, H = 12 };
    uint8_t out[3 * W * H];
    int wrong = 0;

    for (size_t h = 13; h <= 50; h++) {
        struct image image = noise(W, h, h);
        struct image_box box = all_of(&image);

        image_resize(&image, &box, W, H, NULL, 0, &scratch, out);
        for (size_t i = 0; i < sizeof out; i++) {
            double want = 0;

            for (size_t y = 0; y < h; y++)
                want += weight(h, H, i / (3 * W), y) *
                        image.pixel[3 * W * y + i % (3 * W)];
            wrong += fabs(out[i] - want) > .5001;
        }
        free(image.pixel);
    }
    T(!wrong, "3 to 9 lines: their weighted mean, rounded");
}

int
main(void)
{
    agrees_with_naive();
    closed_forms();
    same_size_is_a_copy();
    flip_mirrors();
    part_is_a_window();
    white_stays_white();
    same_size_is_the_part();
    two_lines_are_mixed();
    several_lines_are_mixed();
    image_scratch_free(scratch);
    return t_done();
}
