#include <string.h>

#include "util/clones.h"
#include "util/err.h"

#include "color.h"

UTIL_CLONES void
data_color_split(size_t n, const uint8_t *pixel, uint8_t *plane)
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++) {
        r[i] = pixel[3 * i];
        g[i] = pixel[3 * i + 1];
        b[i] = pixel[3 * i + 2];
    }
}

UTIL_CLONES void
data_color_merge(size_t n, const uint8_t *plane, uint8_t *pixel)
{
    const uint8_t *r = plane, *g = r + n, *b = g + n;
    uint8_t *restrict out = pixel;

    for (size_t i = 0; i < n; i++) {
        out[3 * i] = r[i];
        out[3 * i + 1] = g[i];
        out[3 * i + 2] = b[i];
    }
}

static inline int
grey(int r, int g, int b)
{
    return (19595 * r + 38470 * g + 7471 * b + 32768) >> 16;
}

/* PIL's Image.blend(): from a to b by f, beyond them where f > 1. */
static inline uint8_t
blend(int a, int b, float f)
{
    float x = (float)a + f * (float)(b - a);

    x = x > 0 ? x : 0;
    x = x < 255 ? x : 255;
    return (uint8_t)(int)x;
}

UTIL_CLONES static void
blend_all(size_t n, int from, float f, uint8_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = blend(from, x[i], f);
}

void
data_color_brightness(size_t n, double factor, uint8_t *plane)
{
    blend_all(3 * n, 0, (float)factor, plane);
}

UTIL_CLONES static uint64_t
grey_sum(size_t n, const uint8_t *plane)
{
    const uint8_t *r = plane, *g = r + n, *b = g + n;
    uint64_t sum = 0;

    // in chunks whose sum fits 32 bits: narrow lanes are twice as fast
    for (size_t i = 0; i < n;) {
        size_t end = n - i < 65536 ? n : i + 65536;
        uint32_t part = 0;

        for (; i < end; i++)
            part += (uint32_t)grey(r[i], g[i], b[i]);
        sum += part;
    }
    return sum;
}

void
data_color_contrast(size_t n, double factor, uint8_t *plane)
{
    double mean = (double)grey_sum(n, plane) / (double)n;

    blend_all(3 * n, (int)(mean + 0.5), (float)factor, plane);
}

UTIL_CLONES static void
saturate(size_t n, float f, uint8_t *plane)
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++) {
        int from = grey(r[i], g[i], b[i]);

        r[i] = blend(from, r[i], f);
        g[i] = blend(from, g[i], f);
        b[i] = blend(from, b[i], f);
    }
}

void
data_color_saturation(size_t n, double factor, uint8_t *plane)
{
    saturate(n, (float)factor, plane);
}

UTIL_CLONES void
data_color_grey(size_t n, uint8_t *plane)
{
    uint8_t *restrict r = plane, *restrict g = r + n, *restrict b = g + n;

    for (size_t i = 0; i < n; i++)
        r[i] = g[i] = b[i] = (uint8_t)grey(r[i], g[i], b[i]);
}

static inline int
largest(int a, int b)
{
    return a > b ? a : b;
}

static inline int
smallest(int a, int b)
{
    return a < b ? a : b;
}

/*
 * Hue, saturation and value in PIL's arithmetic, single and double precision
 * where it has them.  Its hue is bc - gc, 2 + rc - bc or 4 + gc - rc, where
 * rc = (max - r) / spread and so on; one of the two fractions is always 1, so
 * it is base + sign x the other one.  Of a grey pixel it means nothing.
 */
static inline void
to_hsv(size_t n, const uint8_t *red, const uint8_t *green, const uint8_t *blue,
       uint8_t *hue, uint8_t *sat, uint8_t *value)
{
    for (size_t i = 0; i < n; i++) {
        int r = red[i], g = green[i], b = blue[i];
        int max = largest(largest(r, g), b), min = smallest(smallest(r, g), b);
        int at_r = b == min ? 1 : -1, at_g = b == min ? 1 : 3;
        int at_b = r == min ? 3 : 5;
        int base = r == max ? at_r : g == max ? at_g : at_b;
        int forward = r == max ? b != min : g == max ? b == min : r == min;
        float spread = (float)(max - min + (max == min));
        float other = (float)(2 * max + min - r - g - b) / spread;
        double turn =
            ((float)base + (float)(2 * forward - 1) * other) / 6.0 + 1.0;
        float whole = (float)(turn - (int)turn);
        float part = (float)(max - min) / (float)(max + !max);

        hue[i] = (uint8_t)(int)(whole * 255.0);
        sat[i] = (uint8_t)(int)(part * 255.0);
        value[i] = (uint8_t)max;
    }
}

/*
 * The sixth of the circle that the hue is in, 0 .. 5, and the three levels
 * below the largest that a channel can have there.
 */
static inline void
to_levels(size_t n, const uint8_t *hue, const uint8_t *sat,
          const uint8_t *value, uint8_t *at, uint8_t *p, uint8_t *q, uint8_t *t)
{
    for (size_t i = 0; i < n; i++) {
        int sector = hue[i] * 6 / 255;
        float f = (float)(hue[i] * 6 - sector * 255) / 255;
        float s = (float)sat[i] / 255, v = (float)value[i];

        at[i] = (uint8_t)(sector < 6 ? sector : 0);
        p[i] = (uint8_t)(int)(v * (1 - s) + 0.5f);
        q[i] = (uint8_t)(int)(v * (1 - s * f) + 0.5f);
        t[i] = (uint8_t)(int)(v * (1 - s * (1 - f)) + 0.5f);
    }
}

/* A mask of all bits or none: what has branches does not become wide. */
static inline uint8_t
is(uint8_t a, uint8_t b)
{
    return (uint8_t) - (a == b);
}

/* Give each channel its level. */
static inline void
to_rgb(size_t n, const uint8_t *at, const uint8_t *v, const uint8_t *p,
       const uint8_t *q, const uint8_t *t, uint8_t *restrict red,
       uint8_t *restrict green, uint8_t *restrict blue)
{
    for (size_t i = 0; i < n; i++) {
        uint8_t a = at[i];

        red[i] = (uint8_t)((v[i] & (is(a, 0) | is(a, 5))) | (q[i] & is(a, 1)) |
                           (p[i] & (is(a, 2) | is(a, 3))) | (t[i] & is(a, 4)));
        green[i] =
            (uint8_t)((v[i] & (is(a, 1) | is(a, 2))) | (q[i] & is(a, 3)) |
                      (t[i] & is(a, 0)) | (p[i] & (is(a, 4) | is(a, 5))));
        blue[i] = (uint8_t)((v[i] & (is(a, 3) | is(a, 4))) | (q[i] & is(a, 5)) |
                            (t[i] & is(a, 2)) | (p[i] & (is(a, 0) | is(a, 1))));
    }
}

UTIL_CLONES static void
turn_hue(size_t n, int shift, uint8_t *plane)
{
    enum { CHUNK = 128 };
    uint8_t hue[CHUNK], sat[CHUNK], v[CHUNK], at[CHUNK];
    uint8_t p[CHUNK], q[CHUNK], t[CHUNK];

    // step by step in short arrays: simple loops, which become wide
    for (size_t i = 0; i < n; i += CHUNK) {
        size_t m = n - i < CHUNK ? n - i : CHUNK;
        uint8_t *r = plane + i, *g = r + n, *b = g + n;

        to_hsv(m, r, g, b, hue, sat, v);
        for (size_t j = 0; j < m; j++)
            hue[j] = (uint8_t)(hue[j] + shift);
        to_levels(m, hue, sat, v, at, p, q, t);
        to_rgb(m, at, v, p, q, t, r, g, b);
    }
}

void
data_color_hue(size_t n, double shift, uint8_t *plane)
{
    REQUIRE(shift >= -0.5 && shift <= 0.5);
    turn_hue(n, (int)(shift * 255), plane);
}
