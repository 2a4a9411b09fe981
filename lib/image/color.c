#include <math.h>
#include <string.h>

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

/* With fewer values, blend_each() is faster than blend_fixed_each(). */
enum { FIXED_FROM = 2048 };

/* A factor in fixed point: `high` has 6 fractional bits, `low` the next 16. */
struct fixed {
    int16_t high, low;
};

/* Returns floor(f d). */
static inline int16_t
multiply_floor(struct fixed f, int16_t d)
{
    const int16_t rest = (int16_t)((int32_t)d * f.low >> 16);

    return (int16_t)((int16_t)(d * f.high + rest) >> 6);
}

/* Splits a factor; returns 0 if multiply_floor() is not exact for each d in
 * -255 .. 255, or if f d is so near below a whole number that the sum of
 * image_color_mix(), which is rounded to float, could reach it. */
static UTIL_CLONES(int, split_factor, (float f, struct fixed *fixed),
                   (f, fixed))
{
    const float whole = rintf(64 * f);
    int wrong = 0;

    if (f >= 1.95f)
        return 0;
    fixed->high = (int16_t)whole;
    fixed->low = (int16_t)(int)rintf((64 * f - whole) * 65536);
    for (int d = -255; d <= 255; d++) {
        const float rest =
            f * (float)d - (float)multiply_floor(*fixed, (int16_t)d);

        wrong |= (rest < 0) | (rest >= 1 - 0x1p-15f); // no branch, for vectors
    }
    return !wrong;
}

static inline uint8_t
blend_fixed(int16_t a, int16_t b, struct fixed f)
{
    int16_t x = (int16_t)(a + multiply_floor(f, (int16_t)(b - a)));

    x = x > 0 ? x : 0;
    return (uint8_t)(x < 255 ? x : 255);
}

/* blend_each() in fixed point: the same bits in half the time. */
static UTIL_CLONES(void, blend_fixed_each,
                   (size_t n, int16_t from, struct fixed f, uint8_t *x),
                   (n, from, f, x))
{
    for (size_t i = 0; i < n; i++)
        x[i] = blend_fixed(from, x[i], f);
}

static void
blend_all(size_t n, int from, float f, uint8_t *x)
{
    struct fixed fixed;

    if (n >= FIXED_FROM && split_factor(f, &fixed))
        blend_fixed_each(n, (int16_t)from, fixed, x);
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

/* saturate_plane() in fixed point: the same bits in half the time. */
static UTIL_CLONES(void, saturate_fixed,
                   (size_t n, struct fixed f, uint8_t *plane), (n, f, plane))
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++) {
        const int16_t from = (int16_t)grey_of_bytes(r[i], g[i], b[i]);

        r[i] = blend_fixed(from, r[i], f);
        g[i] = blend_fixed(from, g[i], f);
        b[i] = blend_fixed(from, b[i], f);
    }
}

void
image_color_saturation(size_t n, double factor, uint8_t *plane)
{
    struct fixed fixed;

    if (3 * n >= FIXED_FROM && split_factor((float)factor, &fixed))
        saturate_fixed(n, fixed, plane);
    else
        saturate_plane(n, (float)factor, plane);
}

UTIL_CLONES(void, image_color_grey, (size_t n, uint8_t *plane), (n, plane))
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++)
        r[i] = g[i] = b[i] = (uint8_t)grey_of_bytes(r[i], g[i], b[i]);
}

static inline uint8_t
larger_byte(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static inline uint8_t
smaller_byte(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* Returns a mask of all bits or none: code with branches is not vectorised. */
static inline uint8_t
mask_equal(uint8_t a, uint8_t b)
{
    return (uint8_t) - (a == b);
}

static inline uint8_t
choose_byte(uint8_t mask, uint8_t yes, uint8_t no)
{
    return (uint8_t)((yes & mask) | (no & ~mask));
}

enum { CHUNK = 128 };

/* Pixels between RGB and HSV, step by step: simple loops over short arrays are
 * vectorised. */
struct hues {
    uint8_t max[CHUNK], spread[CHUNK]; /* of the channels */
    uint8_t top[CHUNK], span[CHUNK];   /* the same, but 1 for 0 */
    int8_t base[CHUNK];                /* PIL's hue in sixths of the circle: */
    int16_t off[CHUNK];                /* base + off / spread */
    uint8_t hue[CHUNK], sat[CHUNK];
    uint8_t sixth[CHUNK];           /* 0 .. 5 */
    uint16_t part[CHUNK];           /* middle level: part / 65025 of max */
    uint8_t low[CHUNK], mid[CHUNK]; /* the levels below max */
};

/*
 * PIL's hue is bc - gc, 2 + rc - bc or 4 + gc - rc, where rc = (max - r) /
 * spread and so on; one of the two fractions is always 1, so it is a whole
 * number plus or minus the other fraction.  The hue of a grey pixel is
 * meaningless.
 */
static inline void
split_hue(const uint8_t *red, const uint8_t *green, const uint8_t *blue,
          struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        uint8_t r = red[i], g = green[i], b = blue[i];
        uint8_t max = larger_byte(larger_byte(r, g), b);
        uint8_t min = smaller_byte(smaller_byte(r, g), b);
        uint8_t at_r = mask_equal(r, max), at_g = mask_equal(g, max);
        uint8_t low_r = mask_equal(r, min), low_b = mask_equal(b, min);
        uint8_t base_g = choose_byte(low_b, 1, 3),
                base_b = choose_byte(low_r, 3, 5);
        uint8_t base_r = choose_byte(low_b, 1, (uint8_t)-1);
        uint8_t less_r = low_b, less_g = (uint8_t)~low_b;
        uint8_t less =
            choose_byte(at_r, less_r, choose_byte(at_g, less_g, ~low_r));
        uint8_t mid = (uint8_t)(r + g + b - max - min);
        int16_t off = (int16_t)(max - mid);

        h->max[i] = max;
        h->spread[i] = (uint8_t)(max - min);
        h->top[i] = larger_byte(max, 1);
        h->span[i] = larger_byte(h->spread[i], 1);
        h->base[i] = (int8_t)choose_byte(at_r, base_r,
                                         choose_byte(at_g, base_g, base_b));
        h->off[i] = (int16_t)(less ? -off : off);
    }
}

/* Single precision gives the same bytes as PIL's double, as tests check with
 * tests/data. */
static inline void
to_hsv(struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        float turn = (float)h->base[i] + (float)h->off[i] / (float)h->span[i];
        float circle = turn / 6 + (turn < 0 ? 1.f : 0.f);

        h->hue[i] = (uint8_t)(int)(circle * 255);
        h->sat[i] =
            (uint8_t)(int)((float)h->spread[i] * 255 / (float)h->top[i]);
    }
}

static inline void
to_sixth(int shift, struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        uint16_t hue = (uint16_t)((uint8_t)(h->hue[i] + shift) * 6);
        // hue / 255, truncated, for hue < 65535; `low` likewise, rounded
        uint16_t sixth = (uint16_t)((uint16_t)(hue + 1 + (hue >> 8)) >> 8);
        uint16_t low = (uint16_t)(h->max[i] * (255 - h->sat[i]) + 128);
        uint16_t within = (uint16_t)(hue - 255 * sixth);
        uint16_t far = (uint16_t)(sixth % 2 ? within : 255 - within);

        h->low[i] = (uint8_t)((uint16_t)(low + (low >> 8)) >> 8);
        h->part[i] = (uint16_t)(65025 - h->sat[i] * far);
        h->sixth[i] = (uint8_t)(sixth < 6 ? sixth : 0);
    }
}

/* Rounds to the nearest: the product fits in 24 bits and is a multiple of 3, so
 * its quotient is never so near to a half that an f32 rounds it across. */
static inline void
to_mid(struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++)
        h->mid[i] = (uint8_t)(int)((float)h->max[i] * (float)h->part[i] *
                                       (1.f / 65025) +
                                   0.5f);
}

/* Sets each channel to its level. */
static inline void
to_rgb(const struct hues *h, uint8_t *restrict red, uint8_t *restrict green,
       uint8_t *restrict blue)
{
    for (size_t i = 0; i < CHUNK; i++) {
        uint8_t at = h->sixth[i], v = h->max[i], p = h->low[i], q = h->mid[i];
        uint8_t a = mask_equal(at, 0), b = mask_equal(at, 1),
                c = mask_equal(at, 2), d = mask_equal(at, 3);
        uint8_t e = mask_equal(at, 4), f = mask_equal(at, 5);

        red[i] = (uint8_t)((v & (a | f)) | (q & (b | e)) | (p & (c | d)));
        green[i] = (uint8_t)((v & (b | c)) | (q & (a | d)) | (p & (e | f)));
        blue[i] = (uint8_t)((v & (d | e)) | (q & (c | f)) | (p & (a | b)));
    }
}

static UTIL_CLONES(void, turn_hue, (size_t n, int shift, uint8_t *plane),
                   (n, shift, plane))
{
    uint8_t last[3 * CHUNK] = {0};
    struct hues hues;

    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        uint8_t *from = plane + i, *at = m < CHUNK ? last : from;
        const size_t apart = m < CHUNK ? CHUNK : n;

        for (size_t c = 0; c < 3 && m < CHUNK; c++)
            memcpy(last + c * CHUNK, from + c * n, m);
        split_hue(at, at + apart, at + 2 * apart, &hues);
        to_hsv(&hues);
        to_sixth(shift, &hues);
        to_mid(&hues);
        to_rgb(&hues, at, at + apart, at + 2 * apart);
        for (size_t c = 0; c < 3 && m < CHUNK; c++)
            memcpy(from + c * n, last + c * CHUNK, m);
    }
}

void
image_color_hue(size_t n, double shift, uint8_t *plane)
{
    REQUIRE(shift >= -0.5 && shift <= 0.5);
    turn_hue(n, (int)(shift * 255), plane);
}
