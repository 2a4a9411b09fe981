/*
 * The way between maps and points, for winograd_loops.h.  Empty without WIDE.
 */
#ifdef WIDE
#include "winograd_vec.h"

/* A tile: its image, and its first pixel. */
struct place {
    size_t image, y, x;
};

INLINE struct place
place_of(const struct winograd_tiles *s, size_t t)
{
    size_t all = s->down * s->across, in = t % all;

    return (struct place){t / all, in / s->across * OWN, in % s->across * OWN};
}

INLINE void
next(const struct winograd_tiles *s, struct place *at)
{
    at->x += OWN;
    if (at->x < s->across * OWN)
        return;
    at->x = 0;
    at->y += OWN;
    if (at->y < s->down * OWN)
        return;
    at->y = 0;
    at->image++;
}

/* Elements before the group g of an image. */
INLINE size_t
plane_at(const struct winograd_tiles *s, size_t image, size_t g)
{
    return (image * s->groups + g) * s->h * s->w * WIDE;
}

/* Where the inputs of a tile are: `line` elements from a row to the next. */
struct source {
    const void *at;
    size_t line;
};

/* The square of `side` pixels from `up` rows above and left of a tile, with 0
 * outside of the image; copied to `room` where some are outside. */
INLINE struct source
source_of(const void *image, size_t h, size_t w, struct place at, size_t up,
          size_t side, int bf16, void *room)
{
    const size_t width = (bf16 ? 2 : 4) * WIDE, y = at.y - up, x = at.x - up;
    const char *from = (const char *)image + (y * w + x) * width;

    if (y < h && x < w && y + side <= h && x + side <= w)
        return (struct source){from, w * WIDE};
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            vec pixel = {0};

            if (y + i < h && x + j < w)
                pixel = load(from + (i * w + j) * width, 0, bf16);
            store(room, (i * side + j) * WIDE, pixel, bf16);
        }
    return (struct source){room, side * WIDE};
}

/* v(6 i + j) = B' d B. */
INLINE void
points_of(struct source d, int bf16, float *v, size_t plane)
{
    vec half[SIDE][SIDE];

    for (size_t j = 0; j < SIDE; j++) {
        vec in[SIDE], out[SIDE];

        for (size_t i = 0; i < SIDE; i++)
            in[i] = load(d.at, i * d.line + j * WIDE, bf16);
        by_b(in, out);
        for (size_t i = 0; i < SIDE; i++)
            half[i][j] = out[i];
    }
    for (size_t i = 0; i < SIDE; i++) {
        vec out[SIDE];

        by_b(half[i], out);
        for (size_t j = 0; j < SIDE; j++)
            store(v, (i * SIDE + j) * plane, out[j], 0);
    }
}

INLINE void
points(const struct winograd_tiles *tiles, const void *x, int bf16, float *v,
       size_t row, size_t plane)
{
    const struct winograd_tiles s = *tiles;
    const size_t width = bf16 ? 2 : 4;

    for (size_t g = 0; g < s.groups; g++) {
        struct place at = place_of(&s, s.first);

        for (size_t t = 0; t < s.count; t++, next(&s, &at)) {
            float room[SIDE * SIDE * WIDE];
            const char *image =
                (const char *)x + plane_at(&s, at.image, g) * width;

            points_of(source_of(image, s.h, s.w, at, 1, SIDE, bf16, room), bf16,
                      v + t * row + g * WIDE, plane);
        }
    }
}

static void
all_points(const struct winograd_tiles *s, const void *x, float *v, size_t row,
           size_t plane)
{
    if (s->bf16)
        points(s, x, 1, v, row, plane);
    else
        points(s, x, 0, v, row, plane);
}

/* y = A' m A of one tile and vector, of which `down` x `across` pixels are
 * put where they belong. */
INLINE void
tile_of(const float *m, size_t plane, const struct winograd_sink *sink,
        vec bias, size_t from, size_t line, size_t down, size_t across,
        int bf16)
{
    vec half[OWN][SIDE];

    for (size_t j = 0; j < SIDE; j++) {
        vec in[SIDE], out[OWN];

        for (size_t i = 0; i < SIDE; i++)
            in[i] = load(m, (i * SIDE + j) * plane, 0);
        by_a(in, out);
        for (size_t i = 0; i < OWN; i++)
            half[i][j] = out[i];
    }
    for (size_t i = 0; i < down; i++) {
        vec out[OWN];

        by_a(half[i], out);
        for (size_t j = 0; j < across; j++) {
            const size_t at = from + (i * line + j) * WIDE;
            vec y = out[j] + bias;

            if (sink->add)
                y += load(sink->y, at, bf16);
            store(sink->y, at, sink->relu ? positive(y) : y, bf16);
        }
    }
}

INLINE size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

INLINE void
tiles_of_group(const struct winograd_tiles *tiles, size_t g, const float *m,
               size_t plane, const struct winograd_sink *into, int bf16)
{
    const struct winograd_tiles s = *tiles;
    const struct winograd_sink sink = *into;
    struct place at = place_of(&s, s.first);
    vec bias = {0};

    if (sink.bias)
        memcpy(&bias, sink.bias + g * WIDE, sizeof bias);
    for (size_t t = 0; t < s.count; t++, next(&s, &at)) {
        const size_t down = least(s.h - at.y, OWN);
        const size_t across = least(s.w - at.x, OWN);
        const size_t from =
            plane_at(&s, at.image, g) + (at.y * s.w + at.x) * WIDE;

        if (down == OWN && across == OWN)
            tile_of(m + t * PANEL, plane, &sink, bias, from, s.w, OWN, OWN,
                    bf16);
        else
            tile_of(m + t * PANEL, plane, &sink, bias, from, s.w, down, across,
                    bf16);
    }
}

static void
all_tiles(const struct winograd_tiles *s, size_t panel, const float *m,
          size_t plane, const struct winograd_sink *sink)
{
    for (size_t v = 0; v < 2 && 2 * panel + v < s->groups; v++)
        if (s->bf16)
            tiles_of_group(s, 2 * panel + v, m + v * WIDE, plane, sink, 1);
        else
            tiles_of_group(s, 2 * panel + v, m + v * WIDE, plane, sink, 0);
}

/* n = A dy A' of one tile. */
INLINE void
spread_tile(struct source y, int bf16, float *n, size_t plane)
{
    vec half[OWN][SIDE];

    for (size_t i = 0; i < OWN; i++) {
        vec in[OWN];

        for (size_t j = 0; j < OWN; j++)
            in[j] = load(y.at, i * y.line + j * WIDE, bf16);
        by_a_back(in, half[i]);
    }
    for (size_t j = 0; j < SIDE; j++) {
        vec in[OWN], out[SIDE];

        for (size_t i = 0; i < OWN; i++)
            in[i] = half[i][j];
        by_a_back(in, out);
        for (size_t i = 0; i < SIDE; i++)
            store(n, (i * SIDE + j) * plane, out[i], 0);
    }
}

INLINE void
spread_group(const struct winograd_tiles *tiles, size_t g, const void *dy,
             float *n, size_t plane, int bf16)
{
    const struct winograd_tiles s = *tiles;
    struct place at = place_of(&s, s.first);

    for (size_t t = 0; t < s.count; t++, next(&s, &at)) {
        float room[OWN * OWN * WIDE];
        const char *image =
            (const char *)dy + plane_at(&s, at.image, g) * (bf16 ? 2 : 4);

        spread_tile(source_of(image, s.h, s.w, at, 0, OWN, bf16, room), bf16,
                    n + t * PANEL, plane);
    }
}

/* The rest of a panel whose second half has no channels. */
static void
spread_nothing(size_t count, float *n, size_t plane)
{
    for (size_t p = 0; p < WINOGRAD_POINTS; p++)
        for (size_t t = 0; t < count; t++)
            memset(n + p * plane + t * PANEL, 0, WIDE * sizeof *n);
}

static void
spread(const struct winograd_tiles *s, const void *dy, float *n, size_t plane,
       size_t each)
{
    for (size_t g = 0; g < s->groups; g++) {
        float *to = n + g / 2 * each + g % 2 * WIDE;

        if (s->bf16)
            spread_group(s, g, dy, to, plane, 1);
        else
            spread_group(s, g, dy, to, plane, 0);
    }
    if (s->groups % 2)
        spread_nothing(s->count, n + s->groups / 2 * each + WIDE, plane);
}

#endif
