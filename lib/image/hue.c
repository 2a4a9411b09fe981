#include <string.h>

#include "util/clones.h"

#include "color.h"
#include "wide.h"

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

UTIL_CLONES(void, image_hue_plain, (size_t n, int shift, uint8_t *plane),
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

#ifdef IMAGE_WIDE

/*
 * The same in whole numbers.  Divisors are bytes, with reciprocals of 24 bits
 * in a table: 255 x / n of x <= n is exact to 8 fractional bits, truncated,
 * which are 0 only if it is whole.
 */
struct tables {
    int filled;
    uint8_t high[256], low[256], part[256]; /* of 2^8 65280 / n, rounded up */
    uint8_t tie[256];   /* of 255 off / spread: how halves are rounded */
    uint8_t far[256];   /* of a hue: 255 PIL's f or 1 - f */
    uint8_t level[256]; /* of a hue: the channels of max and of mid */
};

/* Cached, as filling takes as long as 2,000 pixels. */
static _Thread_local struct tables cached_tables;

enum { RED_MAX = 1, GREEN_MAX = 2, BLUE_MAX = 4 };
enum { RED_MID = 8, GREEN_MID = 16, BLUE_MID = 32 };

/* Cases of a hue with halves; those of base 1 + and -1 + always round up. */
enum { RED_LESS = 1, GREEN_LESS = 2, BLUE_MORE = 4, BLUE_LESS = 8 };

/*
 * 42.5 off / spread is a half for 43 values, (2 k - 1) / 2.  How PIL's single
 * precision rounds these differs from value to value: a bit is set if it rounds
 * as if the fraction were a little smaller.
 */
static void
fill_ties(uint8_t tie[256])
{
    static const int base[4] = {1, 3, 3, 5}, sign[4] = {-1, -1, 1, -1};

    memset(tie, 0, 256);
    for (int k = 1; k <= 43; k++)
        for (int i = 0; i < 4; i++) {
            const int q = sign[i] * (2 * k - 1);
            const float turn = (float)base[i] + (float)q / 85;
            const int hue = (int)(turn / 6 * 255);

            if ((hue < (85 * base[i] + q) / 2) == (q > 0))
                tie[6 * k - 3] |= (uint8_t)(1 << i);
        }
}

static void
fill_tables(struct tables *table)
{
    static const uint8_t level[6] = {RED_MAX | GREEN_MID,  GREEN_MAX | RED_MID,
                                     GREEN_MAX | BLUE_MID, BLUE_MAX | GREEN_MID,
                                     BLUE_MAX | RED_MID,   RED_MAX | BLUE_MID};

    fill_ties(table->tie);
    for (unsigned n = 0; n < 256; n++) {
        const unsigned each = n ? ((65280U << 8) + n - 1) / n : 0;
        const unsigned sixth = n * 6 / 255, within = n * 6 % 255;

        table->high[n] = (uint8_t)(each >> 16);
        table->low[n] = (uint8_t)(each >> 8);
        table->part[n] = (uint8_t)each;
        table->far[n] = (uint8_t)(sixth % 2 ? within : 255 - within);
        table->level[n] = level[sixth % 6];
    }
    table->filled = 1;
}

/* Returns 255 x / n in 256ths. */
IMAGE_WIDE_INLINE struct wide_words
ratio(__m512i x, __m512i n, const struct tables *table)
{
    const __m512i none = _mm512_setzero_si512();
    const struct wide_words whole =
        wide_words(wide_look_up(n, table->low), wide_look_up(n, table->high));
    const struct wide_words part =
        wide_words(none, wide_look_up(n, table->part));
    const struct wide_words by = wide_words(x, none);

    return (struct wide_words){
        _mm512_add_epi16(_mm512_mullo_epi16(by.low, whole.low),
                         _mm512_mulhi_epu16(by.low, part.low)),
        _mm512_add_epi16(_mm512_mullo_epi16(by.high, whole.high),
                         _mm512_mulhi_epu16(by.high, part.high))};
}

/* Returns 42.5 off / spread from its 255-fold, to the nearest, halves up; or
 * down if `down` is 1, a 256th. */
IMAGE_WIDE_INLINE __m512i
sixth(__m512i x, __m512i down)
{
    const __m512i whole = _mm512_srli_epi16(_mm512_subs_epu16(x, down), 8);

    return _mm512_mulhi_epu16(_mm512_add_epi16(whole, _mm512_set1_epi16(3)),
                              _mm512_set1_epi16(10923));
}

/* The case of a hue: 42.5 base, and its kind of halves. */
struct branch {
    __m512i base, half;
};

IMAGE_WIDE_INLINE struct branch
branch_of(__m512i r, __m512i g, __m512i b, __m512i max, __m512i min)
{
    const __mmask64 at_r = _mm512_cmpeq_epi8_mask(r, max);
    const __mmask64 at_g = _mm512_cmpeq_epi8_mask(g, max) & ~at_r;
    const __mmask64 at_b = ~(at_r | at_g);
    const __mmask64 low_r = _mm512_cmpeq_epi8_mask(r, min);
    const __mmask64 low_b = _mm512_cmpeq_epi8_mask(b, min);
    const __mmask64 at_3 = (at_g & ~low_b) | (at_b & low_r);
    __m512i base = _mm512_set1_epi8((char)212); // of 5, and of -1 + 6
    __m512i half = _mm512_maskz_set1_epi8(at_r & low_b, RED_LESS);

    base = _mm512_mask_mov_epi8(base, ~at_b & low_b, _mm512_set1_epi8(42));
    base = _mm512_mask_mov_epi8(base, at_3, _mm512_set1_epi8(127));
    half =
        _mm512_mask_mov_epi8(half, at_g & ~low_b, _mm512_set1_epi8(GREEN_LESS));
    half = _mm512_mask_mov_epi8(half, at_b, _mm512_set1_epi8(BLUE_LESS));
    half =
        _mm512_mask_mov_epi8(half, at_b & low_r, _mm512_set1_epi8(BLUE_MORE));
    return (struct branch){base, half};
}

/* Returns PIL's hue: 42.5 times base + off / spread or base - off / spread. */
IMAGE_WIDE_INLINE __m512i
hue_of(const struct branch *branch, struct wide_words off,
       const struct tables *table)
{
    const __m512i less = _mm512_set1_epi8(RED_LESS | GREEN_LESS | BLUE_LESS);
    const __m512i tie = wide_look_up(wide_bytes(_mm512_srli_epi16(off.low, 8),
                                                _mm512_srli_epi16(off.high, 8)),
                                     table->tie);
    const struct wide_words down = wide_words(
        _mm512_maskz_set1_epi8(_mm512_test_epi8_mask(tie, branch->half), 1),
        _mm512_setzero_si512());
    const __m512i by =
        wide_bytes(sixth(off.low, down.low), sixth(off.high, down.high));

    return _mm512_mask_sub_epi8(_mm512_add_epi8(branch->base, by),
                                _mm512_test_epi8_mask(branch->half, less),
                                branch->base, by);
}

/* Returns max (255 - sat) / 255 to the nearest. */
IMAGE_WIDE_INLINE __m512i
low_of(__m512i max, __m512i sat)
{
    const __m512i rest = _mm512_sub_epi16(_mm512_set1_epi16(255), sat);
    const __m512i twice = _mm512_mullo_epi16(max, rest);

    return _mm512_mulhi_epu16(_mm512_add_epi16(twice, _mm512_set1_epi16(128)),
                              _mm512_set1_epi16(257));
}

/* Returns max (65025 - sat far) / 65025 to the nearest, as to_mid() does. */
IMAGE_WIDE_INLINE __m512i
mid_of(__m512i max, __m512i sat, __m512i far)
{
    const __m512i part = _mm512_sub_epi16(_mm512_set1_epi16((short)65025),
                                          _mm512_mullo_epi16(sat, far));
    const __m512i low = _mm512_mullo_epi16(max, part);
    const __m512i high = _mm512_mulhi_epu16(max, part);
    const __m512i x[2] = {_mm512_unpacklo_epi16(low, high),
                          _mm512_unpackhi_epi16(low, high)};
    __m512i y[2];

    for (int i = 0; i < 2; i++) {
        const __m512 rounded = _mm512_fmadd_ps(
            _mm512_cvtepi32_ps(x[i]), _mm512_set1_ps(1.f / 65025),
            _mm512_set1_ps(0x1.8p23f)); // has the whole number in its last bits

        y[i] = _mm512_and_si512(_mm512_castps_si512(rounded),
                                _mm512_set1_epi32(255));
    }
    return _mm512_packus_epi32(y[0], y[1]);
}

/* Stores a channel: low, or max or mid if its bits are set. */
IMAGE_WIDE_INLINE void
channel_to(uint8_t *x, __mmask64 in, __m512i level, int at_max, int at_mid,
           const __m512i to[3])
{
    const __mmask64 max =
        _mm512_test_epi8_mask(level, _mm512_set1_epi8((char)at_max));
    const __mmask64 mid =
        _mm512_test_epi8_mask(level, _mm512_set1_epi8((char)at_mid));
    const __m512i some = _mm512_mask_mov_epi8(to[0], mid, to[1]);

    _mm512_mask_storeu_epi8(x, in, _mm512_mask_mov_epi8(some, max, to[2]));
}

/* Pixels in HSV; a single loop for both directions would overlap fewer
 * instructions. */
enum { SOME = 1024 };

struct hsv {
    uint8_t hue[SOME], sat[SOME], max[SOME];
};

IMAGE_WIDE static void
to_hsv_wide(size_t n, const uint8_t *red, const uint8_t *green,
            const uint8_t *blue, const struct tables *table, struct hsv *hsv)
{
    for (size_t i = 0; i < n; i += 64) {
        const __mmask64 in = wide_first(n - i);
        const __m512i r = _mm512_maskz_loadu_epi8(in, red + i);
        const __m512i g = _mm512_maskz_loadu_epi8(in, green + i);
        const __m512i b = _mm512_maskz_loadu_epi8(in, blue + i);
        const __m512i max = _mm512_max_epu8(_mm512_max_epu8(r, g), b);
        const __m512i min = _mm512_min_epu8(_mm512_min_epu8(r, g), b);
        const __m512i spread = _mm512_sub_epi8(max, min);
        const __m512i ends = _mm512_xor_si512(max, min);
        const __m512i mid =
            _mm512_xor_si512(_mm512_xor_si512(r, g), _mm512_xor_si512(b, ends));
        const struct branch branch = branch_of(r, g, b, max, min);
        const struct wide_words off =
            ratio(_mm512_sub_epi8(max, mid), spread, table);
        const struct wide_words sat = ratio(spread, max, table);

        _mm512_storeu_si512(hsv->hue + i, hue_of(&branch, off, table));
        _mm512_storeu_si512(hsv->max + i, max);
        _mm512_storeu_si512(hsv->sat + i,
                            wide_bytes(_mm512_srli_epi16(sat.low, 8),
                                       _mm512_srli_epi16(sat.high, 8)));
    }
}

IMAGE_WIDE static void
to_rgb_wide(size_t n, const struct hsv *hsv, int shift,
            const struct tables *table, uint8_t *red, uint8_t *green,
            uint8_t *blue)
{
    const __m512i none = _mm512_setzero_si512();

    for (size_t i = 0; i < n; i += 64) {
        const __mmask64 in = wide_first(n - i);
        const __m512i hue = _mm512_add_epi8(_mm512_loadu_si512(hsv->hue + i),
                                            _mm512_set1_epi8((char)shift));
        const __m512i max = _mm512_loadu_si512(hsv->max + i);
        const __m512i level = wide_look_up(hue, table->level);
        const struct wide_words far =
            wide_words(wide_look_up(hue, table->far), none);
        const struct wide_words sat =
            wide_words(_mm512_loadu_si512(hsv->sat + i), none);
        const struct wide_words top = wide_words(max, none);
        const __m512i to[3] = {
            wide_bytes(low_of(top.low, sat.low), low_of(top.high, sat.high)),
            wide_bytes(mid_of(top.low, sat.low, far.low),
                       mid_of(top.high, sat.high, far.high)),
            max};

        channel_to(red + i, in, level, RED_MAX, RED_MID, to);
        channel_to(green + i, in, level, GREEN_MAX, GREEN_MID, to);
        channel_to(blue + i, in, level, BLUE_MAX, BLUE_MID, to);
    }
}

static void
turn_wide(size_t n, int shift, uint8_t *plane)
{
    struct tables *table = &cached_tables;
    struct hsv hsv;

    if (!table->filled)
        fill_tables(table);
    for (size_t i = 0; i < n; i += SOME) {
        const size_t m = n - i < SOME ? n - i : SOME;
        uint8_t *r = plane + i, *g = r + n, *b = g + n;

        to_hsv_wide(m, r, g, b, table, &hsv);
        to_rgb_wide(m, &hsv, shift, table, r, g, b);
    }
}

#endif

void
image_hue_turn(size_t n, int shift, uint8_t *plane)
{
#ifdef IMAGE_WIDE
    if (image_wide_ok()) {
        turn_wide(n, shift, plane);
        return;
    }
#endif
    image_hue_plain(n, shift, plane);
}
