#include <string.h>

#include "util/clones.h"

#include "color.h"

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
to_order(const uint8_t *red, const uint8_t *green, const uint8_t *blue,
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

/* Single precision has the same bytes as PIL's double, as tests check with
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
        // division by 255, truncated, and below by rounding; of less than 65535
        uint16_t sixth = (uint16_t)((uint16_t)(hue + 1 + (hue >> 8)) >> 8);
        uint16_t low = (uint16_t)(h->max[i] * (255 - h->sat[i]) + 128);
        uint16_t within = (uint16_t)(hue - 255 * sixth);
        uint16_t far = (uint16_t)(sixth % 2 ? within : 255 - within);

        h->low[i] = (uint8_t)((uint16_t)(low + (low >> 8)) >> 8);
        h->part[i] = (uint16_t)(65025 - h->sat[i] * far);
        h->sixth[i] = (uint8_t)(sixth < 6 ? sixth : 0);
    }
}

/* Rounds to the nearest: the product has 24 bits, and is a multiple of 3, which
 * an f32 distinguishes from the next half. */
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

UTIL_CLONES(void, image_hue_turn, (size_t n, int shift, uint8_t *plane),
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
        to_order(at, at + apart, at + 2 * apart, &hues);
        to_hsv(&hues);
        to_sixth(shift, &hues);
        to_mid(&hues);
        to_rgb(&hues, at, at + apart, at + 2 * apart);
        for (size_t c = 0; c < 3 && m < CHUNK; c++)
            memcpy(from + c * n, last + c * CHUNK, m);
    }
}
