#pragma once

#include <stddef.h>

#include "num/conv.h"

#include "level.h"
#include "products.h"

/*
 * The loops of lib/num/winograd.c and lib/num/taps.c that are compiled for each
 * instruction set, from winograd_loops.c (level.h).  None uses threads.
 *
 * A transformed tile has 36 points (winograd.h).  Plane p has point p of all
 * tiles; planes are `plane` floats apart.  A panel has 2 x lanes adjacent
 * columns; those beyond the channels are not accessed.
 */
enum { WINOGRAD_POINTS = 36, WINOGRAD_TILE = 4 };

/* With stride 2 a tile has 25 points, each with the channels of up to four
 * phases, one after the other.  A phase has the pixels of the same row and
 * column modulo 2.
 */
enum { STRIDED_POINTS = 25, STRIDED_PHASES = 4 };

/* The number of phases of a point; those of even rows or columns have no point
 * at infinity. */
static inline size_t
strided_phases(size_t point)
{
    return (size_t)(point / 5 < 4 ? 2 : 1) * (point % 5 < 4 ? 2 : 1);
}

/* Tiles of a map from number `first` on, image by image, row by row. */
struct winograd_tiles {
    size_t h, w, down, across; /* pixels and tiles of an image */
    size_t groups;             /* c / lanes */
    int bf16;
    size_t first, count, all; /* all: of the map */
};

/* The output of tiles or lines: a map. */
struct winograd_sink {
    void *y;
    const float *bias; /* of the first channel of the map, or NULL */
    int add, relu;
};

/* An image's pixels as rows (taps.h), `step` floats apart.  A pixel has `side`
 * adjacent vectors of channels, and the next ones `plane` floats further. */
struct taps_map {
    size_t h, w, groups, stride; /* groups: c / lanes */
    int bf16;
    size_t step, side, plane;
};

/* w [out,in,taps]; overlaps[tap] is 0 if a tap is never inside the image. */
struct taps_weights {
    size_t out, in, taps;
    int back;
    const unsigned char *overlaps;
};

/* The transforms of the forward pass; back_data and norms only with stride 1.
 */
struct winograd_transforms {
    /* u(p, phase n + c - from, .) = G g G' with n = to - from and w
     * [out,in,3,3].  Columns are outputs (inputs if `back`), rows the others;
     * from, to: multiples of `lanes`.
     */
    void (*weights)(const float *w, size_t out, size_t in, int back,
                    size_t panel, size_t from, size_t to, float *u,
                    size_t plane);

    /* v(p, t, phase channels + c) = B' d B; `row` floats from a tile to the
     * next.  d is x, or x normalised by `norm`.  tiles->h and ->w are of x, its
     * tiles those of y. */
    void (*points)(const struct winograd_tiles *tiles, const void *x,
                   const struct num_conv_norm *norm, float *v, size_t row,
                   size_t plane);

    /* y = A' m A, for the channels of a panel; m(p, t, .). */
    void (*tiles)(const struct winograd_tiles *tiles, size_t panel,
                  const float *m, size_t plane,
                  const struct winograd_sink *sink);
};

struct winograd_isa {
    const char *name, *taps; /* "winograd:avx512", "taps:avx512" */
    size_t lanes;
    const struct num_products *products;

    struct winograd_transforms by_stride[2]; /* stride 1, stride 2 */

    /* n(panel, p, t, .) = A dy A'; `each` floats from a panel to the next. */
    void (*spread)(const struct winograd_tiles *tiles, const void *dy, float *n,
                   size_t plane, size_t each);

    /* dw (+)= G' s G, for the columns of a panel; s(p, c, .). */
    void (*gradient)(const float *s, size_t plane, size_t panel, size_t out,
                     size_t in, int accumulate, float *dw);

    /* For taps.c: convert an image to rows, and a line of rows of a panel to
     * the map. */
    void (*gather)(const struct taps_map *map, const void *x, float *to);
    void (*scatter)(const struct taps_map *map, size_t image, size_t panel,
                    size_t line, const float *from,
                    const struct winograd_sink *sink);

    /* u(tap, c, .) = w for a panel; dw (+)= s(tap, c, .). */
    void (*taps_in)(const struct taps_weights *t, const float *w, size_t panel,
                    float *u);
    void (*taps_out)(const struct taps_weights *t, const float *s, size_t panel,
                     int accumulate, float *dw);
};

LEVELS_DECLARE(winograd_isa, num_winograd);
