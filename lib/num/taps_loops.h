/*
 * The loops of lib/num/taps.c, for winograd_loops.c.  Empty without WIDE.
 */
#ifdef WIDE
#include "winograd_vec.h"

INLINE void
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

INLINE void
scatter_line(const struct taps_map *map, size_t group, const float *from,
             const struct winograd_sink *into, size_t at, int bf16)
{
    const struct taps_map s = *map;
    const struct winograd_sink sink = *into;
    vec bias = {0};

    if (sink.bias)
        memcpy(&bias, sink.bias + group * WIDE, sizeof bias);
    for (size_t first = 0; first < s.stride; first++)
        for (size_t i = first; i < s.w; i += s.stride) {
            vec y = load(from, 0, 0) + bias;

            if (sink.add)
                y += load(sink.y, at + i * WIDE, bf16);
            store(sink.y, at + i * WIDE, sink.relu ? positive(y) : y, bf16);
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

/* Shuffle indices that exchange elements of two rows `d` rows apart. */
#define UPPER(d, l) ((l) & (d) ? WIDE + (l) - (d) : (l))
#define LOWER(d, l) ((l) & (d) ? WIDE + (l) : (l) + (d))
#define EIGHT(which, d, l)                                          \
    which(d, l), which(d, l + 1), which(d, l + 2), which(d, l + 3), \
        which(d, l + 4), which(d, l + 5), which(d, l + 6), which(d, l + 7)
#if WIDE == 16
#define ALL(which, d) EIGHT(which, d, 0), EIGHT(which, d, 8)
#else
#define ALL(which, d) EIGHT(which, d, 0)
#endif
#define EXCHANGE(d)                                                  \
    for (int i = 0; i < WIDE; i++)                                   \
        if (!(i & d)) {                                              \
            const vec a = x[i], b = x[i + d];                        \
                                                                     \
            x[i] = __builtin_shufflevector(a, b, ALL(UPPER, d));     \
            x[i + d] = __builtin_shufflevector(a, b, ALL(LOWER, d)); \
        }

/* Transposes a square of numbers. */
INLINE void
transpose(vec x[WIDE])
{
    EXCHANGE(1)
    EXCHANGE(2)
    EXCHANGE(4)
#if WIDE == 16
    EXCHANGE(8)
#endif
}

/* Loads the taps of WIDE inputs of WIDE outputs, from rows of w, [in x taps].
 */
INLINE void
taps_by_output(const float *w, size_t in, vec tap[WIDE * TAPS])
{
    for (size_t k = 0; k < TAPS; k++) {
        vec *x = tap + k * WIDE;

        for (size_t l = 0; l < WIDE; l++)
            x[l] = load(w + l * in * TAPS, k * WIDE, 0);
        transpose(x);
    }
}

/* Loads the first n <= WIDE numbers. */
INLINE vec
load_first(const float *x, size_t n)
{
    vec v = {0};

    if (n >= WIDE)
        return load(x, 0, 0);
    memcpy(&v, x, n * sizeof *x);
    return v;
}

INLINE void
put_first(float *to, size_t n, vec x)
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
        vec x[WIDE];

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
            vec x[WIDE];

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
        vec x[WIDE];

        for (size_t j = 0; j < WIDE; j++) {
            const size_t k = (at + j) / t->taps, tap = (at + j) % t->taps;

            x[j] = at + j < all && t->overlaps[tap]
                       ? load(s, (tap * t->in + k) * PANEL, 0)
                       : (vec){0};
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

#endif
