#include <math.h>

#include "util/clones.h"
#include "util/err.h"

#include "color.h"

UTIL_CLONES(void, image_color_split,
            (size_t n, const uint8_t *pixel, uint8_t *plane), (n, pixel, plane))
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++) {
        r[i] = pixel[3 * i];
        g[i] = pixel[3 * i + 1];
        b[i] = pixel[3 * i + 2];
    }
}

UTIL_CLONES(void, image_color_merge,
            (size_t n, const uint8_t *plane, uint8_t *pixel), (n, plane, pixel))
{
    const uint8_t *r = plane, *g = r + n, *b = g + n;
    uint8_t *restrict out = pixel;

    for (size_t i = 0; i < n; i++) {
        out[3 * i] = r[i];
        out[3 * i + 1] = g[i];
        out[3 * i + 2] = b[i];
    }
}

/* Returns (19595 r + 38470 g + 7471 b + 32768) >> 16; the bytes of the factors
 * are summed separately to fit 16 bits. */
static inline uint16_t
grey_of_bytes(uint8_t r, uint8_t g, uint8_t b)
{
    const uint16_t high = (uint16_t)(76 * r + 150 * g + 29 * b + 128);
    const uint16_t low = (uint16_t)(139 * r + 70 * g + 47 * b);

    return (uint16_t)((uint16_t)(high + (low >> 8)) >> 8);
}

static UTIL_CLONES(void, blend_each, (size_t n, int from, float f, uint8_t *x),
                   (n, from, f, x))
{
    for (size_t i = 0; i < n; i++)
        x[i] = image_color_mix(from, x[i], f);
}

/* The fewest values for which words_of() pays. */
enum { ENOUGH = 2048 };

/* A factor in words: 6 fractional bits, and the next 16. */
struct words {
    int16_t high, low;
};

/* Returns floor(f d). */
static inline int16_t
multiply_floor(struct words f, int16_t d)
{
    const int16_t rest = (int16_t)((int32_t)d * f.low >> 16);

    return (int16_t)((int16_t)(d * f.high + rest) >> 6);
}

/*
 * Splits a factor; returns 0 if multiply_floor() is not exact for each d in
 * -255 .. 255, or if a + f d could round up to a whole number:
 * image_color_mix() rounds twice.
 */
static UTIL_CLONES(int, words_of, (float f, struct words *words), (f, words))
{
    const float whole = rintf(64 * f);
    int wrong = 0;

    if (f >= 1.95f)
        return 0;
    words->high = (int16_t)whole;
    words->low = (int16_t)(int)rintf((64 * f - whole) * 65536);
    for (int d = -255; d <= 255; d++) {
        const float rest =
            f * (float)d - (float)multiply_floor(*words, (int16_t)d);

        wrong |= (rest < 0) | (rest >= 1 - 0x1p-15f); // no branch, for vectors
    }
    return !wrong;
}

static inline uint8_t
blend_words(int16_t a, int16_t b, struct words f)
{
    int16_t x = (int16_t)(a + multiply_floor(f, (int16_t)(b - a)));

    x = x > 0 ? x : 0;
    return (uint8_t)(x < 255 ? x : 255);
}

/* blend_each() with words: the same bits in half the time. */
static UTIL_CLONES(void, blend_each_words,
                   (size_t n, int16_t from, struct words f, uint8_t *x),
                   (n, from, f, x))
{
    for (size_t i = 0; i < n; i++)
        x[i] = blend_words(from, x[i], f);
}

static void
blend_all(size_t n, int from, float f, uint8_t *x)
{
    struct words words;

    if (n >= ENOUGH && words_of(f, &words))
        blend_each_words(n, (int16_t)from, words, x);
    else
        blend_each(n, from, f, x);
}

void
image_color_brightness(size_t n, double factor, uint8_t *plane)
{
    blend_all(3 * n, 0, (float)factor, plane);
}

static UTIL_CLONES(uint64_t, grey_sum, (size_t n, const uint8_t *plane),
                   (n, plane))
{
    const uint8_t *r = plane, *g = r + n, *b = g + n;
    uint64_t sum = 0;

    // sums of chunks fit 32 bits: narrow lanes are twice as fast
    for (size_t i = 0; i < n;) {
        size_t end = n - i < 65536 ? n : i + 65536;
        uint32_t part = 0;

        for (; i < end; i++)
            part += (uint32_t)grey_of_bytes(r[i], g[i], b[i]);
        sum += part;
    }
    return sum;
}

void
image_color_contrast(size_t n, double factor, uint8_t *plane)
{
    double mean = (double)grey_sum(n, plane) / (double)n;

    blend_all(3 * n, (int)(mean + 0.5), (float)factor, plane);
}

static UTIL_CLONES(void, saturate_plane, (size_t n, float f, uint8_t *plane),
                   (n, f, plane))
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++) {
        int from = grey_of_bytes(r[i], g[i], b[i]);

        r[i] = image_color_mix(from, r[i], f);
        g[i] = image_color_mix(from, g[i], f);
        b[i] = image_color_mix(from, b[i], f);
    }
}

/* saturate_plane() with words: the same bits in half the time. */
static UTIL_CLONES(void, saturate_words,
                   (size_t n, struct words f, uint8_t *plane), (n, f, plane))
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++) {
        const int16_t from = (int16_t)grey_of_bytes(r[i], g[i], b[i]);

        r[i] = blend_words(from, r[i], f);
        g[i] = blend_words(from, g[i], f);
        b[i] = blend_words(from, b[i], f);
    }
}

void
image_color_saturation(size_t n, double factor, uint8_t *plane)
{
    struct words words;

    if (3 * n >= ENOUGH && words_of((float)factor, &words))
        saturate_words(n, words, plane);
    else
        saturate_plane(n, (float)factor, plane);
}

UTIL_CLONES(void, image_color_grey, (size_t n, uint8_t *plane), (n, plane))
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++)
        r[i] = g[i] = b[i] = (uint8_t)grey_of_bytes(r[i], g[i], b[i]);
}

void
image_color_hue(size_t n, double shift, uint8_t *plane)
{
    REQUIRE(shift >= -0.5 && shift <= 0.5);
    image_hue_turn(n, (int)(shift * 255), plane);
}
