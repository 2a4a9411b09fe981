#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

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

/*
 * PIL's Image.blend(): from a to b by f, beyond them where f > 1.  Cut off
 * first and clipped as a whole number, which comes to the same: a choice
 * between floats becomes a choice between bytes, four times as long.
 */
static inline uint8_t
blend(int a, int b, float f)
{
    int x = (int)((float)a + f * (float)(b - a));

    x = x > 0 ? x : 0;
    return (uint8_t)(x < 255 ? x : 255);
}

UTIL_CLONES static void
blend_each(size_t n, int from, float f, uint8_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = blend(from, x[i], f);
}

#ifdef __x86_64__

static int
has_tables(void)
{
    return __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}

/* x = table[x], from registers that hold the table. */
__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static void
look_up(size_t n, const uint8_t table[256], uint8_t *x)
{
    const __m512i a = _mm512_loadu_si512(table);
    const __m512i b = _mm512_loadu_si512(table + 64);
    const __m512i c = _mm512_loadu_si512(table + 128);
    const __m512i d = _mm512_loadu_si512(table + 192);

    for (size_t i = 0; i < n; i += 64) {
        const __mmask64 in = n - i < 64 ? (1ULL << (n - i)) - 1 : ~0ULL;
        const __m512i at = _mm512_maskz_loadu_epi8(in, x + i);
        const __m512i low = _mm512_permutex2var_epi8(a, at, b);
        const __m512i high = _mm512_permutex2var_epi8(c, at, d);

        _mm512_mask_storeu_epi8(
            x + i, in,
            _mm512_mask_blend_epi8(_mm512_movepi8_mask(at), low, high));
    }
}

#else

static int
has_tables(void)
{
    return 0;
}

static void
look_up(size_t n, const uint8_t table[256], uint8_t *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] = table[x[i]];
}

#endif

/* A level becomes the same one everywhere: a processor that can look up 64 at
 * once blends each of the 256 only. */
static void
blend_all(size_t n, int from, float f, uint8_t *x)
{
    uint8_t table[256];

    if (!has_tables()) {
        blend_each(n, from, f, x);
        return;
    }
    for (int i = 0; i < 256; i++)
        table[i] = (uint8_t)i;
    blend_each(256, from, f, table);
    look_up(n, table, x);
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

static inline uint8_t
largest(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static inline uint8_t
smallest(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

/* A mask of all bits or none: what has branches does not become wide. */
static inline uint8_t
is(uint8_t a, uint8_t b)
{
    return (uint8_t) - (a == b);
}

static inline uint8_t
choose(uint8_t mask, uint8_t yes, uint8_t no)
{
    return (uint8_t)((yes & mask) | (no & ~mask));
}

/* x / 255 as a float division has it, |x| <= 255: both products are exact, so
 * that it is rounded once. */
static inline float
share(int x)
{
    return (float)x * 0x1.01p-8f + (float)x * 0x1.01p-24f;
}

enum { CHUNK = 128 };

/* Pixels on their way from RGB to HSV and back, step by step: simple loops over
 * short arrays become wide. */
struct hues {
    uint8_t max[CHUNK], spread[CHUNK]; /* of the channels */
    int8_t base[CHUNK];                /* PIL's hue in sixths of the circle: */
    int16_t off[CHUNK];                /* base + off / spread */
    uint8_t hue[CHUNK], sat[CHUNK];
    uint8_t sixth[CHUNK], even[CHUNK]; /* 0 .. 5, and whether it is 0, 2, 4 */
    int16_t within[CHUNK];             /* how far in it, of 255; < 0 if even */
    uint8_t low[CHUNK], mid[CHUNK];    /* the levels below max */
};

/*
 * PIL's hue is bc - gc, 2 + rc - bc or 4 + gc - rc, where rc = (max - r) /
 * spread and so on; one of the two fractions is always 1, so it is a whole
 * number and the other one, added or taken away.  Of a grey pixel it means
 * nothing.
 */
static inline void
to_order(const uint8_t *red, const uint8_t *green, const uint8_t *blue,
         struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        uint8_t r = red[i], g = green[i], b = blue[i];
        uint8_t max = largest(largest(r, g), b);
        uint8_t min = smallest(smallest(r, g), b);
        uint8_t at_r = is(r, max), at_g = is(g, max);
        uint8_t low_r = is(r, min), low_b = is(b, min);
        uint8_t base_g = choose(low_b, 1, 3), base_b = choose(low_r, 3, 5);
        uint8_t base_r = choose(low_b, 1, (uint8_t)-1);
        uint8_t less_r = low_b, less_g = (uint8_t)~low_b;
        uint8_t less = choose(at_r, less_r, choose(at_g, less_g, ~low_r));
        uint8_t mid = (uint8_t)(r + g + b - max - min);
        int16_t off = (int16_t)(max - mid);

        h->max[i] = max;
        h->spread[i] = (uint8_t)(max - min);
        h->base[i] = (int8_t)choose(at_r, base_r, choose(at_g, base_g, base_b));
        h->off[i] = (int16_t)(less ? -off : off);
    }
}

/* Single precision gives the same bytes as PIL's double: tests/data knows. */
static inline void
to_hsv(struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        int spread = h->spread[i], max = h->max[i];
        float turn = (float)h->base[i] +
                     (float)h->off[i] / (float)(spread + (spread == 0));
        float circle = turn / 6 + (turn < 0 ? 1.f : 0.f);

        h->hue[i] = (uint8_t)(int)(circle * 255);
        h->sat[i] =
            (uint8_t)(int)((float)(255 * spread) / (float)(max + (max == 0)));
    }
}

static inline void
to_sixth(int shift, struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        uint16_t hue = (uint16_t)((uint8_t)(h->hue[i] + shift) * 6);
        // divisions by 255: of less than 65535, cut off and rounded
        uint16_t sixth = (uint16_t)((uint16_t)(hue + 1 + (hue >> 8)) >> 8);
        uint16_t low = (uint16_t)(h->max[i] * (255 - h->sat[i]) + 128);
        int16_t within = (int16_t)(hue - 255 * sixth);

        h->low[i] = (uint8_t)((uint16_t)(low + (low >> 8)) >> 8);
        h->even[i] = (uint8_t)(1 - sixth % 2);
        h->within[i] = (int16_t)(sixth % 2 ? within : -within);
        h->sixth[i] = (uint8_t)(sixth < 6 ? sixth : 0);
    }
}

static inline void
to_mid(struct hues *h)
{
    for (size_t i = 0; i < CHUNK; i++) {
        float far = (float)h->even[i] + share(h->within[i]);

        h->mid[i] =
            (uint8_t)(int)((float)h->max[i] * (1 - share(h->sat[i]) * far) +
                           0.5f);
    }
}

/* Give each channel its level. */
static inline void
to_rgb(const struct hues *h, uint8_t *restrict red, uint8_t *restrict green,
       uint8_t *restrict blue)
{
    for (size_t i = 0; i < CHUNK; i++) {
        uint8_t at = h->sixth[i], v = h->max[i], p = h->low[i], q = h->mid[i];
        uint8_t a = is(at, 0), b = is(at, 1), c = is(at, 2), d = is(at, 3);
        uint8_t e = is(at, 4), f = is(at, 5);

        red[i] = (uint8_t)((v & (a | f)) | (q & (b | e)) | (p & (c | d)));
        green[i] = (uint8_t)((v & (b | c)) | (q & (a | d)) | (p & (e | f)));
        blue[i] = (uint8_t)((v & (d | e)) | (q & (c | f)) | (p & (a | b)));
    }
}

UTIL_CLONES static void
turn_hue(size_t n, int shift, uint8_t *plane)
{
    uint8_t last[3 * CHUNK] = {0};
    struct hues hues;

    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t m = n - i < CHUNK ? n - i : CHUNK;
        uint8_t *from = plane + i, *at = m < CHUNK ? last : from;
        const size_t apart = m < CHUNK ? CHUNK : n;

        for (size_t c = 0; c < 3 && m < CHUNK; c++)
            memcpy(last + c * CHUNK, from + c * n, m);
        to_order(at, at + apart, at + 2 * apart, &hues);
        to_hsv(&hues);
        to_sixth(shift, &hues);
        to_mid(&hues);
        to_rgb(&hues, at, at + apart, at + 2 * apart);
        for (size_t c = 0; c < 3 && m < CHUNK; c++)
            memcpy(from + c * n, last + c * CHUNK, m);
    }
}

void
data_color_hue(size_t n, double shift, uint8_t *plane)
{
    REQUIRE(shift >= -0.5 && shift <= 0.5);
    turn_hue(n, (int)(shift * 255), plane);
}
