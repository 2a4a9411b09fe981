/*
 * The loops of winograd_isa.h for one instruction set (level.h):
 *
 *     WIDE   lanes of a vector
 *     FMA    a b + c of vectors
 *     WIDEN  converts WIDE halves to words
 *     NARROW converts words to their lower halves
 */
#if LANES_WIDE == 16
#include <immintrin.h>
#define FMA(a, b, c) \
    ((lanes)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define WIDEN(x) ((lanes_bits)_mm512_cvtepu16_epi32((__m256i)(x)))
#define NARROW(x) ((halves)_mm512_cvtepi32_epi16((__m512i)(x)))
#elif LANES_WIDE == 8
#include <immintrin.h>
#define FMA(a, b, c) \
    ((lanes)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define WIDEN(x) ((lanes_bits)_mm256_cvtepu16_epi32((__m128i)(x)))
#define NARROW(x) __builtin_convertvector(x, halves)
#else
#undef LANES_WIDE
#define LANES_WIDE 8
#define FMA(a, b, c) ((a) * (b) + (c))
#define WIDEN(x) __builtin_convertvector(x, lanes_bits)
#define NARROW(x) __builtin_convertvector(x, halves)
#endif

#define WIDE LANES_WIDE

#include "winograd_maps.h"

LANES_INLINE void
gather_map(const struct taps_map *map, const void *x, float *to, int bf16)
{
    const struct taps_map s = *map;
    const size_t all = s.h * s.w * WIDE;

    for (size_t g = 0; g < s.groups; g++) {
        float *slot = to + g / s.side * s.plane + g % s.side * WIDE;

        for (size_t y = 0; y < s.h; y++)
            for (size_t first = 0; first < s.stride; first++)
                for (size_t i = first; i < s.w; i += s.stride) {
                    store(slot, 0,
                          load(x, g * all + (y * s.w + i) * WIDE, bf16), 0);
                    slot += s.step;
                }
    }
}

static void
taps_gather(const struct taps_map *map, const void *x, float *to)
{
    NUM_BY_TYPE(map->bf16, gather_map, map, x, to);
}

LANES_INLINE void
scatter_line(const struct taps_map *map, size_t group, const float *from,
             const struct winograd_sink *into, size_t at, int bf16)
{
    const struct taps_map s = *map;
    const struct winograd_sink sink = *into;
    lanes bias = {0};

    if (sink.bias)
        memcpy(&bias, sink.bias + group * WIDE, sizeof bias);
    for (size_t first = 0; first < s.stride; first++)
        for (size_t i = first; i < s.w; i += s.stride) {
            lanes y = load(from, 0, 0) + bias;

            if (sink.add)
                y += load(sink.y, at + i * WIDE, bf16);
            store(sink.y, at + i * WIDE, sink.relu ? lanes_positive(y, y) : y,
                  bf16);
            from += s.step;
        }
}

static void
taps_scatter(const struct taps_map *map, size_t image, size_t panel,
             size_t line, const float *from, const struct winograd_sink *sink)
{
    for (size_t v = 0; v < 2 && 2 * panel + v < map->groups; v++) {
        const size_t g = 2 * panel + v;
        const size_t at =
            ((image * map->groups + g) * map->h + line) * map->w * WIDE;

        NUM_BY_TYPE(map->bf16, scatter_line, map, g, from + v * WIDE, sink, at);
    }
}

/* Loads the first n <= WIDE numbers. */
LANES_INLINE lanes
load_first(const float *x, size_t n)
{
    lanes v = {0};

    if (n >= WIDE)
        return load(x, 0, 0);
    memcpy(&v, x, n * sizeof *x);
    return v;
}

LANES_INLINE void
put_first(float *to, size_t n, lanes x)
{
    if (n >= WIDE)
        store(to, 0, x, 0);
    else
        memcpy(to, &x, n * sizeof *to);
}

/* u for a vector of outputs, which are rows of w, [in x taps]. */
static void
taps_forward(const struct taps_weights *t, const float *w, float *u)
{
    const size_t all = t->in * t->taps;

    for (size_t at = 0; at < all; at += WIDE) {
        lanes x[WIDE];

        for (size_t l = 0; l < WIDE; l++)
            x[l] = load_first(w + l * all + at, all - at);
        transpose(x);
        for (size_t j = 0; j < WIDE && at + j < all; j++) {
            const size_t k = (at + j) / t->taps, tap = (at + j) % t->taps;

            if (t->overlaps[tap])
                store(u + (tap * t->in + k) * PANEL, 0, x[j], 0);
        }
    }
}

/* u for a vector of inputs, which for each output are [WIDE,taps] in a row. */
static void
taps_back(const struct taps_weights *t, const float *w, float *u)
{
    for (size_t o = 0; o < t->out && t->taps == 1; o++, w += t->in)
        store(u + o * PANEL, 0, load(w, 0, 0), 0);
    for (size_t o = 0; o < t->out && t->taps > 1; o++, w += t->in * t->taps)
        for (size_t at = 0; at < t->taps; at += WIDE) {
            lanes x[WIDE];

            for (size_t l = 0; l < WIDE; l++)
                x[l] =
                    load_first(w + l * t->taps + at, (WIDE - l) * t->taps - at);
            transpose(x);
            for (size_t j = 0; j < WIDE && at + j < t->taps; j++)
                if (t->overlaps[at + j])
                    store(u + ((at + j) * t->out + o) * PANEL, 0, x[j], 0);
        }
}

static void
taps_in(const struct taps_weights *t, const float *w, size_t panel, float *u)
{
    const size_t columns = t->back ? t->in : t->out;

    for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < columns; v++) {
        const size_t o = panel * PANEL + v * WIDE;

        if (t->back)
            taps_back(t, w + o * t->taps, u + v * WIDE);
        else
            taps_forward(t, w + o * t->in * t->taps, u + v * WIDE);
    }
}

/* dw for a vector of outputs. */
static void
taps_gradient(const struct taps_weights *t, const float *s, int accumulate,
              float *dw)
{
    const size_t all = t->in * t->taps;

    for (size_t at = 0; at < all; at += WIDE) {
        lanes x[WIDE];

        for (size_t j = 0; j < WIDE; j++) {
            const size_t k = (at + j) / t->taps, tap = (at + j) % t->taps;

            x[j] = at + j < all && t->overlaps[tap]
                       ? load(s, (tap * t->in + k) * PANEL, 0)
                       : (lanes){0};
        }
        transpose(x);
        for (size_t l = 0; l < WIDE; l++) {
            float *to = dw + l * all + at;

            put_first(to, all - at,
                      accumulate ? load_first(to, all - at) + x[l] : x[l]);
        }
    }
}

static void
taps_out(const struct taps_weights *t, const float *s, size_t panel,
         int accumulate, float *dw)
{
    for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < t->out; v++)
        taps_gradient(t, s + v * WIDE, accumulate,
                      dw + (panel * PANEL + v * WIDE) * t->in * t->taps);
}

/* Loads the taps of an output, of WIDE inputs, rotated by 180 degrees. */
LANES_INLINE void
taps_rotated(const float *w, lanes tap[TAPS])
{
    for (size_t at = 0; at < TAPS; at += WIDE) {
        lanes x[WIDE];

        for (size_t l = 0; l < WIDE; l++)
            x[l] = load_first(w + l * TAPS + at, (WIDE - l) * TAPS - at);
        transpose(x);
        for (size_t t = at; t < TAPS && t < at + WIDE; t++)
            tap[TAPS - 1 - t] = x[t - at];
    }
}

/* G g G' of a vector of columns. */
LANES_INLINE void
weights_of(const lanes g[TAPS], float *u, size_t plane)
{
    lanes half[SIDE][3];

    for (int j = 0; j < 3; j++) {
        lanes column[3] = {g[j], g[3 + j], g[6 + j]}, all[SIDE];

        by_g(column, all);
        for (int i = 0; i < SIDE; i++)
            half[i][j] = all[i];
    }
    for (size_t i = 0; i < SIDE; i++) {
        lanes all[SIDE];

        by_g(half[i], all);
        for (size_t j = 0; j < SIDE; j++) {
            float *to = u + (i * SIDE + j) * plane;

            // prefetch the next line of each plane
            __builtin_prefetch(to + PANEL, 1);
            store(to, 0, all[j], 0);
        }
    }
}

static void
winograd_weights(const float *w, size_t out, size_t in, int back, size_t panel,
                 size_t from, size_t to, float *u, size_t plane)
{
    const size_t columns = back ? in : out;

    for (size_t c = from; c < to; c += WIDE)
        for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < columns; v++) {
            const size_t o = panel * PANEL + v * WIDE;
            float *at = u + (c - from) * PANEL + v * WIDE;
            lanes tap[WIDE * TAPS];

            if (back)
                for (size_t l = 0; l < WIDE; l++)
                    taps_rotated(w + ((c + l) * in + o) * TAPS, tap + l * TAPS);
            else
                taps_by_output(w + (o * in + c) * TAPS, in, tap);
            for (size_t l = 0; l < WIDE; l++)
                weights_of(tap + l * TAPS, at + l * PANEL, plane);
        }
}

/* G' s G of a vector of columns. */
LANES_INLINE void
gradient_of(const float *s, size_t plane, lanes g[TAPS])
{
    lanes half[3][SIDE];

    for (int j = 0; j < SIDE; j++) {
        lanes all[SIDE], column[3];

        for (int i = 0; i < SIDE; i++)
            all[i] = load(s, (size_t)(i * SIDE + j) * plane, 0);
        by_g_back(all, column);
        for (int i = 0; i < 3; i++)
            half[i][j] = column[i];
    }
    for (size_t i = 0; i < 3; i++)
        by_g_back(half[i], g + 3 * i);
}

static void
winograd_gradient(const float *s, size_t plane, size_t panel, size_t out,
                  size_t in, int accumulate, float *dw)
{
    for (size_t c = 0; c < in; c += WIDE)
        for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < out; v++) {
            float *at = dw + ((panel * PANEL + v * WIDE) * in + c) * TAPS;
            lanes tap[WIDE * TAPS];

            for (size_t l = 0; l < WIDE; l++)
                gradient_of(s + (c + l) * PANEL + v * WIDE, plane,
                            tap + l * TAPS);
            for (size_t k = 0; k < TAPS; k++) {
                lanes *x = tap + k * WIDE;

                transpose(x);
                for (size_t l = 0; l < WIDE; l++) {
                    float *put = at + l * in * TAPS;
                    const lanes old =
                        accumulate ? load(put, k * WIDE, 0) : (lanes){0};

                    store(put, k * WIDE, old + x[l], 0);
                }
            }
        }
}

const struct winograd_isa LEVEL_OF(num_winograd) = {
    .name = "winograd:" LEVEL_TEXT,
    .taps = "taps:" LEVEL_TEXT,
    .lanes = WIDE,
    .products = &LEVEL_OF(num_products),
    .by_stride = {{winograd_weights, all_points, all_tiles},
                  {strided_weights, strided_points, strided_tiles}},
    .spread = spread_tiles,
    .gradient = winograd_gradient,
    .gather = taps_gather,
    .scatter = taps_scatter,
    .taps_in = taps_in,
    .taps_out = taps_out,
};
