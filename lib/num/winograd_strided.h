/*
 * Stride 2 for winograd_loops.c.  Empty without WIDE.
 */
#ifdef WIDE
#include "winograd_maps.h"

/* The point, and its phase, of row i and column j of a transformed square. */
struct spot {
    size_t point, phase;
};

INLINE struct spot
spot_of(size_t i, size_t j)
{
    const size_t row = i % POINTS, column = j % POINTS;

    return (struct spot){row * POINTS + column,
                         i / POINTS * (column < 4 ? 2 : 1) + j / POINTS};
}

/* G g G' of a vector of columns; `phase` floats from one to the next. */
INLINE void
strided_weights_of(const vec g[TAPS], float *u, size_t plane, size_t phase)
{
    vec half[PATCH][3];

    for (int j = 0; j < 3; j++) {
        vec column[3] = {g[j], g[3 + j], g[6 + j]}, all[PATCH];

        strided_by_g(column, all);
        for (int i = 0; i < PATCH; i++)
            half[i][j] = all[i];
    }
    for (size_t i = 0; i < PATCH; i++) {
        vec all[PATCH];

        strided_by_g(half[i], all);
        for (size_t j = 0; j < PATCH; j++) {
            const struct spot at = spot_of(i, j);

            store(u, at.point * plane + at.phase * phase, all[j], 0);
        }
    }
}

static void
strided_weights(const float *w, size_t out, size_t in, size_t panel,
                size_t from, size_t to, float *u, size_t plane)
{
    for (size_t c = from; c < to; c += WIDE)
        for (size_t v = 0; v < 2 && panel * PANEL + v * WIDE < out; v++) {
            const size_t o = panel * PANEL + v * WIDE;
            float *at = u + (c - from) * PANEL + v * WIDE;
            vec tap[WIDE * TAPS];

            taps_by_output(w + (o * in + c) * TAPS, in, tap);
            for (size_t l = 0; l < WIDE; l++)
                strided_weights_of(tap + l * TAPS, at + l * PANEL, plane,
                                   (to - from) * PANEL);
        }
}

/* B' d B of one tile and vector; `phase` floats from one to the next. */
INLINE void
strided_points_of(const struct source *d, int inside, int bf16, float *v,
                  size_t plane, size_t phase)
{
    vec half[PATCH][PATCH];

    for (size_t j = 0; j < PATCH; j++) {
        vec in[PATCH], all[PATCH];

        for (size_t i = 0; i < PATCH; i++)
            in[i] = load_pixel(d, i, j, inside, bf16);
        strided_by_b(in, all);
        for (size_t i = 0; i < PATCH; i++)
            half[i][j] = all[i];
    }
    for (size_t i = 0; i < PATCH; i++) {
        vec all[PATCH];

        strided_by_b(half[i], all);
        for (size_t j = 0; j < PATCH; j++) {
            const struct spot at = spot_of(i, j);

            store(v, at.point * plane + at.phase * phase, all[j], 0);
        }
    }
}

INLINE void
points_of_phases(const struct winograd_tiles *tiles, const void *x, float *v,
                 size_t row, size_t plane, int bf16)
{
    const struct winograd_tiles s = *tiles;

    for (size_t g = 0; g < s.groups; g++) {
        struct place at = place_of_tile(&s, s.first);

        for (size_t t = 0; t < s.count; t++, next_tile(&s, &at)) {
            const struct place from = {at.image, 2 * at.y, 2 * at.x};
            const struct source d = source_of(
                (const char *)x + plane_at(&s, at.image, g) * (bf16 ? 2 : 4),
                s.h, s.w, from, 1, PATCH, NULL);
            float *to = v + t * row + g * WIDE;

            if (is_whole(&d, PATCH))
                strided_points_of(&d, 1, bf16, to, plane, s.groups * WIDE);
            else
                strided_points_of(&d, 0, bf16, to, plane, s.groups * WIDE);
        }
    }
}

static void
strided_points(const struct winograd_tiles *s, const void *x, float *v,
               size_t row, size_t plane)
{
    NUM_BY_TYPE(s->bf16, points_of_phases, s, x, v, row, plane);
}

static void
strided_tiles(const struct winograd_tiles *s, size_t panel, const float *m,
              size_t plane, const struct winograd_sink *sink)
{
    tiles_of_panel(s, panel, m, plane, sink, POINTS);
}

#endif
