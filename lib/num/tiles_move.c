#include <string.h>

#include "util/clones.h"

#include "lanes.h"
#include "tiles_move.h"

enum { GROUP = 16, WORDS = GROUP / 2 }; /* channels of a pixel of a map */

size_t
num_tiles_start(const struct tiles_slots *s, size_t before)
{
    size_t at = 0;

    for (size_t k = 0; k < before && k < s->length; k++)
        at += (s->length - k + s->step - 1) / s->step;
    return at;
}

size_t
num_tiles_slots(const struct tiles_slots *s)
{
    return num_tiles_start(s, s->classes);
}

/* Words before the channels of a pixel. */
LANES_INLINE size_t
pixel_words(const struct num_map *map, size_t image, size_t group, size_t y,
            size_t x)
{
    return (((image * map->c / GROUP + group) * map->h + y) * map->w + x) *
           WORDS;
}

LANES_INLINE size_t
image_words(const struct num_map *map)
{
    return map->c * map->h * map->w / 2;
}

UTIL_CLONES(void, num_tiles_rows,
            (const struct tiles_lines *lines, size_t plane, size_t y,
             uint32_t *to),
            (lines, plane, y, to))
{
    const struct num_map *map = lines->map;
    const struct tiles_slots s = lines->slots;
    const size_t each = image_words(map), other = map->h * map->w * WORDS;
    const int two = 2 * plane + 1 < map->c / GROUP;
    const uint32_t *line = (const uint32_t *)lines->data +
                           pixel_words(map, lines->image, 2 * plane, y, 0);

    for (size_t k = 0; k < s.classes; k++)
        for (size_t u = k; u < s.length; u += s.step) {
            const size_t live = u - s.low < map->w ? lines->live : 0;
            const uint32_t *from = line + (u - s.low) * WORDS;

            for (size_t i = 0; i < live; i++, to += 2 * WORDS, from += each) {
                memcpy(to, from, WORDS * sizeof *to);
                if (two)
                    memcpy(to + WORDS, from + other, WORDS * sizeof *to);
                else
                    memset(to + WORDS, 0, WORDS * sizeof *to);
            }
            memset(to, 0, (lines->now - live) * 2 * WORDS * sizeof *to);
            to += (lines->now - live) * 2 * WORDS;
        }
}

/* Word l of channel l of two pixels; the second may be none. */
LANES_INLINE void
pair_pixels(const uint32_t *from, const uint32_t *next, uint32_t *to)
{
    uint16_t one[GROUP], two[GROUP] = {0};

    memcpy(one, from, sizeof one);
    if (next)
        memcpy(two, next, sizeof two);
    for (size_t l = 0; l < GROUP; l++)
        to[l] = one[l] | (uint32_t)two[l] << 16;
}

UTIL_CLONES(void, num_tiles_pairs,
            (const struct tiles_lines *lines, size_t group, size_t y,
             uint32_t *to),
            (lines, group, y, to))
{
    const struct num_map *map = lines->map;
    const struct tiles_slots s = lines->slots;
    const size_t each = image_words(map);
    const uint32_t *line = (const uint32_t *)lines->data +
                           pixel_words(map, lines->image, group, y, 0);

    for (size_t k = 0; k < s.classes; k++)
        for (size_t u = k; u < s.length; u += s.step) {
            const size_t live = u - s.low < map->w ? lines->live : 0;
            const uint32_t *from = line + (u - s.low) * WORDS;

            for (size_t i = 0; i < lines->now; i += 2, to += GROUP) {
                if (i < live)
                    pair_pixels(from, i + 1 < live ? from + each : NULL, to);
                else
                    memset(to, 0, GROUP * sizeof *to);
                from += 2 * each;
            }
        }
}

UTIL_CLONES(void, num_tiles_across,
            (const struct tiles_lines *lines, size_t group, size_t y,
             uint32_t *to),
            (lines, group, y, to))
{
    const struct num_map *map = lines->map;
    const size_t each = image_words(map), all = map->w * lines->now;
    const uint32_t *line = (const uint32_t *)lines->data +
                           pixel_words(map, lines->image, group, y, 0);
    size_t x = 0, i = 0;

    for (size_t from = 0; from < all; from += TILE_DEPTH, to += TILE_WORDS) {
        uint32_t pairs[TILE_SIDE][GROUP] = {{0}};

        for (size_t m = 0; m < TILE_SIDE && x < map->w; m++) {
            const uint32_t *one = line + x * WORDS + i * each;

            if (i < lines->live)
                pair_pixels(one, i + 1 < lines->live ? one + each : NULL,
                            pairs[m]);
            i += 2;
            x += i >= lines->now;
            i = i < lines->now ? i : 0;
        }
        for (size_t l = 0; l < GROUP; l++)
            for (size_t m = 0; m < TILE_SIDE; m++)
                to[l * TILE_SIDE + m] = pairs[m][l];
    }
}

/* One pixel's 16 channels. */
LANES_INLINE void
deliver_pixel(const struct tiles_sink *sink, const float *bias,
              const float *sums, uint16_t *y)
{
    float sum[GROUP];

    for (size_t l = 0; l < GROUP; l++)
        sum[l] = sums[l] + bias[l];
    for (size_t l = 0; sink->add && l < GROUP; l++)
        sum[l] += half_value(y[l]);
    for (size_t l = 0; sink->relu && l < GROUP; l++)
        sum[l] = sum[l] <= 0 ? 0 : sum[l];
    for (size_t l = 0; l < GROUP; l++)
        y[l] = half_of(sum[l]);
}

UTIL_CLONES(void, num_tiles_deliver,
            (const struct tiles_sink *sink, const struct tiles_place *place,
             const float *sums),
            (sink, place, sums))
{
    const struct num_map *map = sink->map;
    const struct tiles_place at = *place;
    const size_t each = 2 * image_words(map);

    for (size_t v = 0; v < 2 && 2 * at.panel + v < map->c / GROUP; v++) {
        const size_t g = 2 * at.panel + v;
        uint16_t *line =
            (uint16_t *)sink->y + 2 * pixel_words(map, at.image, g, at.line, 0);
        float bias[GROUP] = {0};
        size_t x = at.first + at.from / at.now * at.step, i = at.from % at.now;

        if (sink->bias)
            memcpy(bias, sink->bias + g * GROUP, sizeof bias);
        for (size_t k = 0; k < at.rows; k++) {
            const float *sum = sums + (k / TILE_SIDE * 2 + v) * TILE_WORDS +
                               k % TILE_SIDE * 16;

            deliver_pixel(sink, bias, sum, line + i * each + x * GROUP);
            i++;
            x += i == at.now ? at.step : 0;
            i = i == at.now ? 0 : i;
        }
    }
}

/* Words (k, column) of all taps; `next` floats to number k + 1. */
LANES_INLINE void
pack_taps(size_t taps, size_t apart, const float *w, const float *next,
          uint32_t *to)
{
    for (size_t t = 0; t < taps; t++)
        to[t * apart] =
            half_of(w[t]) | (next ? (uint32_t)half_of(next[t]) << 16 : 0);
}

UTIL_CLONES(void, num_tiles_weights,
            (const struct tiles_weights *t, const float *w, size_t panel,
             uint32_t *to),
            (t, w, panel, to))
{
    const size_t columns = t->back ? t->in : t->out;
    const size_t depth = t->back ? t->out : t->in, taps = t->taps;
    const size_t column = (t->back ? 1 : t->in) * taps;
    const size_t row = (t->back ? t->in : 1) * taps;
    const size_t planes = (depth + TILE_DEPTH - 1) / TILE_DEPTH;
    const size_t apart = planes * 2 * TILE_WORDS;

    memset(to, 0, taps * apart * sizeof *to);
    for (size_t k = 0; k < depth; k += 2)
        for (size_t j = 0; j < 2 * TILE_SIDE; j++) {
            const size_t at = 2 * TILE_SIDE * panel + j;
            uint32_t *word = to +
                             (k / TILE_DEPTH * 2 + j / TILE_SIDE) * TILE_WORDS +
                             k % TILE_DEPTH / 2 * TILE_SIDE + j % TILE_SIDE;
            const float *from = w + at * column + k * row;

            if (at < columns)
                pack_taps(taps, apart, from, k + 1 < depth ? from + row : NULL,
                          word);
        }
}

void
num_tiles_gradient(const struct tiles_weights *t, const float *sums, size_t o,
                   int accumulate, float *dw)
{
    const size_t panels = (t->in + TILE_DEPTH - 1) / TILE_DEPTH;
    const float *row = sums + o / TILE_DEPTH * panels * t->taps * TILE_SUMS +
                       o / TILE_SIDE % 2 * 2 * TILE_WORDS +
                       o % TILE_SIDE * TILE_SIDE;

    dw += o * t->in * t->taps;
    for (size_t k = 0; k < t->in; k++) {
        const float *from = row + k / TILE_DEPTH * t->taps * TILE_SUMS +
                            k / TILE_SIDE % 2 * TILE_WORDS + k % TILE_SIDE;

        for (size_t tap = 0; tap < t->taps; tap++, dw++)
            *dw = (accumulate ? *dw : 0) + from[tap * TILE_SUMS];
    }
}
