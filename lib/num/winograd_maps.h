/* Transforms between maps and points, for winograd_loops.c.  Empty without
 * WIDE. */
#if defined WIDE && !defined NUM_WINOGRAD_MAPS_H
#define NUM_WINOGRAD_MAPS_H
#include "num/half.h"

#include "winograd_vec.h"

enum {
    AHEAD = 6, /* tiles to prefetch */
    LINE = 64, /* bytes */
    RING = 8   /* columns of two tiles of inputs */
};

/* A tile: its image, and its first pixel. */
struct place {
    size_t image, y, x;
};

LANES_INLINE struct place
place_of_tile(const struct winograd_tiles *s, size_t t)
{
    size_t all = s->down * s->across, in = t % all;

    return (struct place){t / all, in / s->across * OWN, in % s->across * OWN};
}

LANES_INLINE void
next_tile(const struct winograd_tiles *s, struct place *at)
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

/* Offset of group g of an image, in elements. */
LANES_INLINE size_t
plane_at(const struct winograd_tiles *s, size_t image, size_t g)
{
    return (image * s->groups + g) * s->h * s->w * WIDE;
}

/* Prefetches four rows of pixels of tile t + AHEAD, if there is one, from row
 * `below` on, and advances *ahead.  Without it loops over maps wait for memory
 * most of the time. */
LANES_INLINE void
prefetch_tile(const struct winograd_tiles *s, size_t t, struct place *ahead,
              const void *map, size_t g, int bf16, int write, size_t below)
{
    const size_t width = bf16 ? 2 : 4, row = s->w * WIDE;
    const char *plane =
        (const char *)map + plane_at(s, ahead->image, g) * width;

    if (s->first + t + AHEAD >= (write ? s->first + s->count : s->all))
        return;
    for (size_t i = 0; i < OWN; i++) {
        const size_t y = num_least(ahead->y + below + i, s->h - 1);
        const char *at = plane + (y * row + ahead->x * WIDE) * width;

        for (size_t j = 0; j < OWN * WIDE * width; j += LINE)
            if (write)
                __builtin_prefetch(at + j, 1);
            else
                __builtin_prefetch(at + j, 0);
    }
    next_tile(s, ahead);
}

/* A fused norm of the pixels of a group: max(scale (x - centre) + shift, 0),
 * rounded as in lib/num/norm.c. */
struct norm_terms {
    lanes scale, centre, shift;
};

LANES_INLINE struct norm_terms
norm_terms_of(const struct num_conv_norm *norm, size_t g)
{
    struct norm_terms terms;

    memcpy(&terms.scale, norm->scale + g * WIDE, sizeof terms.scale);
    memcpy(&terms.centre, norm->centre + g * WIDE, sizeof terms.centre);
    memcpy(&terms.shift, norm->shift + g * WIDE, sizeof terms.shift);
    return terms;
}

/* A square of side x side pixels of a plane, from `up` rows above and `up`
 * columns left of a tile on.  Pixels outside of the image are 0: those outside
 * of rows [top,bottom) or of columns [left,right) of the square. */
struct source {
    const void *plane;
    size_t at;   /* the first element of the square; may be before the plane */
    size_t line; /* elements from a row to the next */
    size_t top, bottom, left, right;
    const struct norm_terms *norm; /* fused, or NULL */
};

LANES_INLINE struct source
source_of(const void *plane, size_t h, size_t w, struct place at, size_t up,
          size_t side, const struct norm_terms *norm)
{
    return (struct source){
        .plane = plane,
        .at = (at.y * w + at.x - up * w - up) * WIDE,
        .line = w * WIDE,
        .top = at.y < up ? up - at.y : 0,
        .bottom = num_least(side, h + up - at.y),
        .left = at.x < up ? up - at.x : 0,
        .right = num_least(side, w + up - at.x),
        .norm = norm,
    };
}

/* Loads pixel (i, j) of a square, which is in the image. */
LANES_INLINE lanes
load_inner(const struct source *d, size_t i, size_t j, int bf16)
{
    const lanes x = load(d->plane, d->at + i * d->line + j * WIDE, bf16);
    lanes y;

    if (!d->norm)
        return x;
    y = d->norm->scale * (x - d->norm->centre) + d->norm->shift;
    return lanes_positive(y, y);
}

LANES_INLINE int
is_whole(const struct source *d, size_t side)
{
    return !d->top && d->bottom == side && !d->left && d->right == side;
}

/* Loads any pixel of a square; inside = 1: the whole square is in the image. */
LANES_INLINE lanes
load_pixel(const struct source *d, size_t i, size_t j, int inside, int bf16)
{
    if (inside ||
        (i >= d->top && i < d->bottom && j >= d->left && j < d->right))
        return load_inner(d, i, j, bf16);
    return (lanes){0};
}

/* Computes B' of columns [from, SIDE) of a tile's inputs.  The columns of a row
 * of tiles are in a ring buffer; the tile starts at `at`. */
LANES_INLINE void
transform_columns(const struct source *d, int bf16, size_t from, size_t at,
                  lanes ring[RING][SIDE])
{
    for (size_t j = from; j < SIDE; j++) {
        const int inside = j >= d->left && j < d->right;
        lanes in[SIDE];

        for (size_t i = 0; i < SIDE; i++)
            in[i] = inside && i >= d->top && i < d->bottom
                        ? load_inner(d, i, j, bf16)
                        : (lanes){0};
        by_b(in, ring[(at + j) % RING]);
    }
}

/* v(6 i + j) = B' d B. */
LANES_INLINE void
transform_rows(size_t at, lanes ring[RING][SIDE], float *v, size_t plane)
{
    for (size_t i = 0; i < SIDE; i++) {
        lanes in[SIDE], out[SIDE];

        for (size_t j = 0; j < SIDE; j++)
            in[j] = ring[(at + j) % RING][i];
        by_b(in, out);
        for (size_t j = 0; j < SIDE; j++)
            store(v, (i * SIDE + j) * plane, out[j], 0);
    }
}

/* The first two columns of a tile are the last two of the tile before, except
 * for the `first` of a row. */
LANES_INLINE void
points_of(const struct source *d, int bf16, int first, size_t at,
          lanes ring[RING][SIDE], float *v, size_t plane)
{
    const struct source inner = {d->plane, d->at, d->line, 0,
                                 SIDE,     0,     SIDE,    d->norm};

    if (first)
        transform_columns(d, bf16, 0, at, ring);
    else if (is_whole(d, SIDE))
        transform_columns(&inner, bf16, 2, at, ring);
    else
        transform_columns(d, bf16, 2, at, ring);
    transform_rows(at, ring, v, plane);
}

LANES_INLINE void
transform_points(const struct winograd_tiles *tiles, const void *x,
                 const struct num_conv_norm *norm, float *v, size_t row,
                 size_t plane, int bf16)
{
    const struct winograd_tiles s = *tiles;

    for (size_t g = 0; g < s.groups; g++) {
        struct place at = place_of_tile(&s, s.first);
        struct place ahead = place_of_tile(&s, s.first + AHEAD);
        struct norm_terms terms;
        lanes ring[RING][SIDE];

        if (norm)
            terms = norm_terms_of(norm, g);

        for (size_t t = 0; t < s.count; t++, next_tile(&s, &at)) {
            const struct source d =
                source_of(num_half_at(x, plane_at(&s, at.image, g), bf16), s.h,
                          s.w, at, 1, SIDE, norm ? &terms : NULL);
            float *to = v + t * row + g * WIDE;
            const int first = t == 0 || at.x == 0;

            prefetch_tile(&s, t, &ahead, x, g, bf16, 0, 1);
            if (at.x % RING == 0)
                points_of(&d, bf16, first, 0, ring, to, plane);
            else
                points_of(&d, bf16, first, OWN, ring, to, plane);
        }
    }
}

static void
all_points(const struct winograd_tiles *s, const void *x,
           const struct num_conv_norm *norm, float *v, size_t row, size_t plane)
{
    if (norm)
        NUM_BY_TYPE(s->bf16, transform_points, s, x, norm, v, row, plane);
    else
        NUM_BY_TYPE(s->bf16, transform_points, s, x, NULL, v, row, plane);
}

/* A' of SIDE or POINTS sums. */
LANES_INLINE void
to_pixels(const lanes *m, size_t side, lanes y[OWN])
{
    if (side == SIDE)
        by_a(m, y);
    else
        strided_by_a(m, y);
}

/* y = A' m A for one tile and vector, of side x side points; stores `down` x
 * `across` pixels. */
LANES_INLINE void
tile_of(const float *m, size_t plane, const struct winograd_sink *sink,
        lanes bias, size_t from, size_t line, size_t down, size_t across,
        size_t side, int bf16)
{
    lanes half[OWN][SIDE];

    for (size_t j = 0; j < side; j++) {
        lanes in[SIDE], out[OWN];

        for (size_t i = 0; i < side; i++)
            in[i] = load(m, (i * side + j) * plane, 0);
        to_pixels(in, side, out);
        for (size_t i = 0; i < OWN; i++)
            half[i][j] = out[i];
    }
    for (size_t i = 0; i < down; i++) {
        lanes out[OWN];

        to_pixels(half[i], side, out);
        for (size_t j = 0; j < across; j++) {
            const size_t at = from + (i * line + j) * WIDE;
            lanes y = out[j] + bias;

            if (sink->add)
                y += load(sink->y, at, bf16);
            store(sink->y, at, sink->relu ? lanes_positive(y, y) : y, bf16);
        }
    }
}

LANES_INLINE void
tiles_of_group(const struct winograd_tiles *tiles, size_t g, const float *m,
               size_t plane, const struct winograd_sink *into, size_t side,
               int bf16)
{
    const struct winograd_tiles s = *tiles;
    const struct winograd_sink sink = *into;
    struct place at = place_of_tile(&s, s.first);
    struct place ahead = place_of_tile(&s, s.first + AHEAD);
    lanes bias = {0};

    if (sink.bias)
        memcpy(&bias, sink.bias + g * WIDE, sizeof bias);
    for (size_t t = 0; t < s.count; t++, next_tile(&s, &at)) {
        const size_t down = num_least(s.h - at.y, OWN);
        const size_t across = num_least(s.w - at.x, OWN);
        const size_t from =
            plane_at(&s, at.image, g) + (at.y * s.w + at.x) * WIDE;

        prefetch_tile(&s, t, &ahead, sink.y, g, bf16, 1, 0);
        if (down == OWN && across == OWN)
            tile_of(m + t * PANEL, plane, &sink, bias, from, s.w, OWN, OWN,
                    side, bf16);
        else
            tile_of(m + t * PANEL, plane, &sink, bias, from, s.w, down, across,
                    side, bf16);
    }
}

LANES_INLINE void
tiles_of_panel(const struct winograd_tiles *s, size_t panel, const float *m,
               size_t plane, const struct winograd_sink *sink, size_t side)
{
    for (size_t v = 0; v < 2 && 2 * panel + v < s->groups; v++)
        NUM_BY_TYPE(s->bf16, tiles_of_group, s, 2 * panel + v, m + v * WIDE,
                    plane, sink, side);
}

static void
all_tiles(const struct winograd_tiles *s, size_t panel, const float *m,
          size_t plane, const struct winograd_sink *sink)
{
    tiles_of_panel(s, panel, m, plane, sink, SIDE);
}

/* n = A dy A' of one tile. */
LANES_INLINE void
spread_tile(const struct source *y, int inside, int bf16, float *n,
            size_t plane)
{
    lanes half[OWN][SIDE];

    for (size_t i = 0; i < OWN; i++) {
        lanes in[OWN];

        for (size_t j = 0; j < OWN; j++)
            in[j] = load_pixel(y, i, j, inside, bf16);
        by_a_back(in, half[i]);
    }
    for (size_t j = 0; j < SIDE; j++) {
        lanes in[OWN], out[SIDE];

        for (size_t i = 0; i < OWN; i++)
            in[i] = half[i][j];
        by_a_back(in, out);
        for (size_t i = 0; i < SIDE; i++)
            store(n, (i * SIDE + j) * plane, out[i], 0);
    }
}

LANES_INLINE void
spread_group(const struct winograd_tiles *tiles, size_t g, const void *dy,
             float *n, size_t plane, int bf16)
{
    const struct winograd_tiles s = *tiles;
    struct place at = place_of_tile(&s, s.first);
    struct place ahead = place_of_tile(&s, s.first + AHEAD);

    for (size_t t = 0; t < s.count; t++, next_tile(&s, &at)) {
        const struct source y =
            source_of(num_half_at(dy, plane_at(&s, at.image, g), bf16), s.h,
                      s.w, at, 0, OWN, NULL);

        prefetch_tile(&s, t, &ahead, dy, g, bf16, 0, 0);
        if (is_whole(&y, OWN))
            spread_tile(&y, 1, bf16, n + t * PANEL, plane);
        else
            spread_tile(&y, 0, bf16, n + t * PANEL, plane);
    }
}

static void
spread_tiles(const struct winograd_tiles *s, const void *dy, float *n,
             size_t plane, size_t each)
{
    for (size_t g = 0; g < s->groups; g++) {
        float *to = n + g / 2 * each + g % 2 * WIDE;

        NUM_BY_TYPE(s->bf16, spread_group, s, g, dy, to, plane);
    }
}

/* The point, and its phase, of row i and column j of a transformed square. */
struct spot {
    size_t point, phase;
};

LANES_INLINE struct spot
spot_of(size_t i, size_t j)
{
    const size_t row = i % POINTS, column = j % POINTS;

    return (struct spot){row * POINTS + column,
                         i / POINTS * (column < 4 ? 2 : 1) + j / POINTS};
}

/* G g G' of a vector of columns; `phase` floats from one to the next. */
LANES_INLINE void
strided_weights_of(const lanes g[TAPS], float *u, size_t plane, size_t phase)
{
    lanes half[PATCH][3];

    for (int j = 0; j < 3; j++) {
        lanes column[3] = {g[j], g[3 + j], g[6 + j]}, all[PATCH];

        strided_by_g(column, all);
        for (int i = 0; i < PATCH; i++)
            half[i][j] = all[i];
    }
    for (size_t i = 0; i < PATCH; i++) {
        lanes all[PATCH];

        strided_by_g(half[i], all);
        for (size_t j = 0; j < PATCH; j++) {
            const struct spot at = spot_of(i, j);

            store(u, at.point * plane + at.phase * phase, all[j], 0);
        }
    }
}

static void
strided_weights(const float *w, size_t out, size_t in, int back, size_t panel,
                size_t from, size_t to, float *u, size_t plane)
{
    (void)back;
    for (size_t c = from; c < to; c += WIDE)
        for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < out; v++) {
            const size_t o = panel * PANEL + v * WIDE;
            float *at = u + (c - from) * PANEL + v * WIDE;
            lanes tap[WIDE * TAPS];

            taps_by_output(w + (o * in + c) * TAPS, in, tap);
            for (size_t l = 0; l < WIDE; l++)
                strided_weights_of(tap + l * TAPS, at + l * PANEL, plane,
                                   (to - from) * PANEL);
        }
}

/* B' d B of one tile and vector; `phase` floats from one to the next. */
LANES_INLINE void
strided_points_of(const struct source *d, int inside, int bf16, float *v,
                  size_t plane, size_t phase)
{
    lanes half[PATCH][PATCH];

    for (size_t j = 0; j < PATCH; j++) {
        lanes in[PATCH], all[PATCH];

        for (size_t i = 0; i < PATCH; i++)
            in[i] = load_pixel(d, i, j, inside, bf16);
        strided_by_b(in, all);
        for (size_t i = 0; i < PATCH; i++)
            half[i][j] = all[i];
    }
    for (size_t i = 0; i < PATCH; i++) {
        lanes all[PATCH];

        strided_by_b(half[i], all);
        for (size_t j = 0; j < PATCH; j++) {
            const struct spot at = spot_of(i, j);

            store(v, at.point * plane + at.phase * phase, all[j], 0);
        }
    }
}

LANES_INLINE void
points_of_phases(const struct winograd_tiles *tiles, const void *x, float *v,
                 size_t row, size_t plane, int bf16)
{
    const struct winograd_tiles s = *tiles;

    for (size_t g = 0; g < s.groups; g++) {
        struct place at = place_of_tile(&s, s.first);

        for (size_t t = 0; t < s.count; t++, next_tile(&s, &at)) {
            const struct place from = {at.image, 2 * at.y, 2 * at.x};
            const struct source d =
                source_of(num_half_at(x, plane_at(&s, at.image, g), bf16), s.h,
                          s.w, from, 1, PATCH, NULL);
            float *to = v + t * row + g * WIDE;

            if (is_whole(&d, PATCH))
                strided_points_of(&d, 1, bf16, to, plane, s.groups * WIDE);
            else
                strided_points_of(&d, 0, bf16, to, plane, s.groups * WIDE);
        }
    }
}

static void
strided_points(const struct winograd_tiles *s, const void *x,
               const struct num_conv_norm *norm, float *v, size_t row,
               size_t plane)
{
    (void)norm;
    NUM_BY_TYPE(s->bf16, points_of_phases, s, x, v, row, plane);
}

static void
strided_tiles(const struct winograd_tiles *s, size_t panel, const float *m,
              size_t plane, const struct winograd_sink *sink)
{
    tiles_of_panel(s, panel, m, plane, sink, POINTS);
}

#endif
