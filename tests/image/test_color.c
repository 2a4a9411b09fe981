#include <stdlib.h>
#include <string.h>

#include "image/color.h"
#include "t.h"
#include "util/rng.h"

enum { N = 600 };

static uint8_t plane[3 * N], was[3 * N];

static void
noise(void)
{
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < 3 * N; i++)
        plane[i] = was[i] = (uint8_t)rng_below(&rng, 256);
}

/* Applies an operator to one colour. */
static int
is(const uint8_t *p, int r, int g, int b)
{
    return p[0] == r && p[1] == g && p[2] == b;
}

static void
split_and_merge_are_inverse(void)
{
    const uint8_t pixel[6] = {1, 2, 3, 4, 5, 6};
    uint8_t p[6], back[3 * N], out[3 * N];

    image_color_split(2, pixel, p);
    T(!memcmp(p, (uint8_t[]){1, 4, 2, 5, 3, 6}, 6), "split: [n,3] to [3,n]");
    noise();
    image_color_merge(N, plane, out);
    image_color_split(N, out, back);
    T(!memcmp(back, plane, 3 * N), "merge is its inverse");
}

static void
grey_of_known_colours(void)
{
    static const int want[][4] = {{255, 0, 0, 76},
                                  {0, 255, 0, 150},
                                  {0, 0, 255, 29},
                                  {255, 255, 255, 255},
                                  {10, 200, 30, 124}};

    for (size_t i = 0; i < 5; i++) {
        uint8_t p[3] = {(uint8_t)want[i][0], (uint8_t)want[i][1],
                        (uint8_t)want[i][2]};

        image_color_grey(1, p);
        T(is(p, want[i][3], want[i][3], want[i][3]), "grey of %d %d %d is %d",
          want[i][0], want[i][1], want[i][2], want[i][3]);
    }
}

static void
grey_is_the_weighted_sum(void)
{
    int wrong = 0;

    noise();
    image_color_grey(N, plane);
    for (size_t i = 0; i < N; i++)
        wrong +=
            plane[i] != floor(0.5 + (19595. * was[i] + 38470. * was[N + i] +
                                     7471. * was[2 * N + i]) /
                                        65536);
    T(!wrong, "19595 R + 38470 G + 7471 B of 65536, halves up");
}

static void
blends_of_known_colours(void)
{
    uint8_t bright[3] = {100, 101, 200}, dull[3] = {100, 101, 200};
    uint8_t flat[6] = {0, 200, 0, 200, 0, 200}, sat[3] = {255, 0, 0};

    image_color_brightness(1, 1.5, bright);
    T(is(bright, 150, 151, 255), "brightness 1.5: truncated, clipped");
    image_color_brightness(1, 0.25, dull);
    T(is(dull, 25, 25, 50), "brightness 0.25");
    image_color_contrast(2, 0.5, flat);
    T(flat[0] == 50 && flat[1] == 150, "contrast 0.5: halfway to the mean");
    image_color_saturation(1, 0.5, sat);
    T(is(sat, 165, 38, 38), "saturation 0.5 of red: halfway to grey 76");
    image_color_saturation(1, 3, sat);
    T(is(sat, 255, 0, 0), "saturation 3 of red: clipped");
}

static void
factors_one_and_none(void)
{
    noise();
    image_color_brightness(N, 1, plane);
    image_color_contrast(N, 1, plane);
    image_color_saturation(N, 1, plane);
    T(!memcmp(plane, was, 3 * N), "factor 1 changes nothing");
    image_color_grey(N, was);
    image_color_saturation(N, 0, plane);
    T(!memcmp(plane, was, 3 * N), "saturation 0 is grey");
    image_color_brightness(N, 0, plane);
    memset(was, 0, sizeof was);
    T(!memcmp(plane, was, 3 * N), "brightness 0 is black");
}

static void
hue_turns_the_circle(void)
{
    uint8_t red[3] = {255, 0, 0}, olive[3] = {200, 100, 50};
    uint8_t grey[3] = {77, 77, 77};

    image_color_hue(1, 1. / 3, red);
    T(is(red, 0, 255, 0), "a third from red: green");
    image_color_hue(1, -1. / 3, red);
    T(is(red, 255, 0, 0), "a third back from green: red");
    image_color_hue(1, 0.5, olive);
    T(olive[0] < olive[1] && olive[1] < olive[2] && olive[2] == 200,
      "half the circle reverses the order, the largest stays");
    image_color_hue(1, 0.2, grey);
    T(is(grey, 77, 77, 77), "grey has no hue");
}

/* A step of the 8-bit hue is up to six levels, and so is the error of each
 * rotation. */
static void
hue_round_trip(void)
{
    int worst = 0;

    noise();
    image_color_hue(N, 0.1, plane);
    image_color_hue(N, -0.1, plane);
    for (size_t i = 0; i < 3 * N; i++)
        worst = (int)fmax(worst, abs(plane[i] - was[i]));
    T(worst <= 12, "there and back: %d levels, at most 12", worst);
    T(worst > 0, "there and back: more than 0 levels");
}

/* Shifts that truncate to the same whole step are equal. */
static void
hue_steps_are_cut_off(void)
{
    static const double shift[][3] = {
        {0.1, 25.01, 26.01}, {0.5, 127.01, 126.99}, {-0.5, -127.01, -126.99}};
    uint8_t other[3 * N];

    for (size_t i = 0; i < 3; i++) {
        noise();
        memcpy(other, was, sizeof was);
        image_color_hue(N, shift[i][0], plane);
        image_color_hue(N, shift[i][1] / 255, other);
        T(!memcmp(plane, other, 3 * N), "%g of 255 is %d steps", shift[i][0],
          (int)shift[i][1]);
        memcpy(other, was, sizeof was);
        image_color_hue(N, shift[i][2] / 255, other);
        T(memcmp(plane, other, 3 * N), "the shift is not %d steps",
          (int)shift[i][2]);
    }
}

/* PIL's convert("HSV") and back, of one pixel, step by step. */
static void
turned_as_pil(int shift, int r, int g, int b, int out[3])
{
    const int max = r > g ? r > b ? r : b : g > b ? g : b;
    const int min = r < g ? r < b ? r : b : g < b ? g : b;
    const float spread = max > min ? (float)(max - min) : 1;
    const float rc = (float)(max - r) / spread;
    const float gc = (float)(max - g) / spread;
    const float bc = (float)(max - b) / spread;
    float sixths = r == max   ? bc - gc
                   : g == max ? (float)(2. + rc - bc)
                              : (float)(4. + gc - rc);
    float circle = (float)fmod(sixths / 6. + 1, 1);
    const int hue = ((int)(circle * 255.) + shift) & 255;
    const int sat = max == min ? 0 : (int)(spread / (float)max * 255.);
    const int sixth = (int)floor(hue * 6. / 255);
    const float f = (float)(hue * 6. / 255 - sixth), s = (float)(sat / 255.);
    const int p = (int)round(max * (1. - s));
    const int q = (int)round(max * (1. - s * f));
    const int t = (int)round(max * (1. - s * (1. - f)));
    const int level[6][3] = {{max, t, p}, {q, max, p}, {p, max, t},
                             {p, q, max}, {t, p, max}, {max, p, q}};

    memcpy(out, level[sixth % 6], sizeof level[0]);
}

/* All colours with some channel of a few levels, in all orders. */
static void
hue_equals_pil(void)
{
    static const int third[] = {0, 1, 90, 254, 255};
    static uint8_t colour[3 * 65536];
    size_t wrong = 0;

    for (size_t k = 0; k < 15; k++) {
        const int shift = (int)k * 17 - 119, at = (int)k % 3;

        for (size_t i = 0; i < 65536; i++) {
            colour[(size_t)at * 65536 + i] = (uint8_t)third[k / 3];
            colour[(size_t)((at + 1) % 3) * 65536 + i] = (uint8_t)i;
            colour[(size_t)((at + 2) % 3) * 65536 + i] = (uint8_t)(i >> 8);
        }
        image_color_hue(65536, (shift + (shift > 0) - .5) / 255, colour);
        for (size_t i = 0; i < 65536; i++) {
            int rgb[3], want[3];

            rgb[at] = third[k / 3];
            rgb[(at + 1) % 3] = (int)(i & 255);
            rgb[(at + 2) % 3] = (int)(i >> 8);
            turned_as_pil(shift, rgb[0], rgb[1], rgb[2], want);
            for (size_t c = 0; c < 3; c++)
                wrong += colour[c * 65536 + i] != want[c];
        }
    }
    T(!wrong, "%zu channels of 2949120 differ from PIL's", wrong);
}

/* Each level with many factors, also beyond the range of int16. */
static void
blends_are_cut_off_and_clipped(void)
{
    int wrong = 0;

    for (int k = 0; k <= 400; k++) {
        const float f = k < 300 ? (float)k / 100 : (float)(k - 299) * 50;
        uint8_t all[3 * 256];

        for (int i = 0; i < 3 * 256; i++)
            all[i] = (uint8_t)i;
        image_color_brightness(256, f, all);
        for (int i = 0; i < 3 * 256; i++)
            wrong += all[i] != (int)fminf(f * (float)(i & 255), 255);
    }
    T(!wrong, "brightness: trunc(min(f x, 255))");
}

/* noise(), with each plane repeated five times. */
enum { MANY = 5 * N };
static uint8_t many[3 * MANY];

static void
noise_of_many(void)
{
    noise();
    for (size_t i = 0; i < 3 * MANY; i++)
        many[i] = was[i / MANY * N + i % N];
}

/* Few and many pixels use different code with equal results. */
static void
many_and_few_are_blended_alike(void)
{
    int wrong = 0;

    for (int k = 0; k < 300; k++) {
        const double f = k < 100 ? k / 50. : k * .00731;

        noise_of_many();
        image_color_contrast(N, f, plane);
        image_color_brightness(N, f, plane);
        image_color_contrast(MANY, f, many);
        image_color_brightness(MANY, f, many);
        for (size_t i = 0; i < 3 * MANY; i++)
            wrong += many[i] != plane[i / MANY * N + i % N];
    }
    T(!wrong, "contrast and brightness do not depend on the number of pixels");
}

/* PIL's blend in single precision, with factors below and above 2; few and many
 * pixels use different code. */
static void
saturation_is_a_blend(void)
{
    int wrong = 0;

    for (int k = 0; k < 700; k++) {
        const float f = k < 256 ? (float)k / 128 : (float)k * .00443f;

        noise_of_many();
        image_color_saturation(N, f, plane);
        image_color_saturation(MANY, f, many);
        for (size_t i = 0; i < 3 * MANY; i++)
            wrong += many[i] != plane[i / MANY * N + i % N];
        for (size_t i = 0; i < 3 * N; i++) {
            uint8_t grey[3] = {was[i % N], was[N + i % N], was[2 * N + i % N]};
            float x;

            image_color_grey(1, grey);
            x = (float)grey[0] + f * (float)(was[i] - grey[0]);
            wrong += plane[i] != (int)fminf(fmaxf(x, 0), 255);
        }
    }
    T(!wrong, "saturation: trunc(clip(grey + f (x - grey)))");
}

/* Every loop has a tail, for lengths that are no multiple of a vector. */
static void
any_length_gives_the_same(void)
{
    int wrong = 0;

    for (size_t n = 1; n < 70; n++) {
        uint8_t some[3 * 70], alone[3];

        noise();
        for (size_t c = 0; c < 3; c++)
            memcpy(some + c * n, was + c * N, n);
        image_color_hue(n, 0.3, some);
        image_color_saturation(n, 1.7, some);
        image_color_brightness(n, 0.6, some);
        for (size_t c = 0; c < 3; c++)
            alone[c] = was[c * N + n - 1];
        image_color_hue(1, 0.3, alone);
        image_color_saturation(1, 1.7, alone);
        image_color_brightness(1, 0.6, alone);
        for (size_t c = 0; c < 3; c++)
            wrong += some[c * n + n - 1] != alone[c];
    }
    T(!wrong, "a pixel's colour does not depend on its neighbours");
}

int
main(void)
{
    split_and_merge_are_inverse();
    grey_of_known_colours();
    grey_is_the_weighted_sum();
    blends_of_known_colours();
    factors_one_and_none();
    hue_turns_the_circle();
    hue_round_trip();
    hue_steps_are_cut_off();
    hue_equals_pil();
    blends_are_cut_off_and_clipped();
    saturation_is_a_blend();
    many_and_few_are_blended_alike();
    any_length_gives_the_same();
    return t_done();
}
