#include <string.h>

#include "util/clones.h"

#include "lanes.h"
#include "tiles_move.h"

enum { GROUP = 16, WORDS = GROUP / 2 }; /* channels of a pixel of a map */

/* Offset of the channels of a pixel, in words. */
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

/* Writes the words of two pixels, word l of channel l; the second may be NULL.
 */
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

/* Stores one pixel's 16 channels. */
LANES_INLINE void
store_pixel(const struct tiles_sink *sink, const float *bias, const float *sums,
            uint16_t *y)
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

UTIL_CLONES(void, num_tiles_store,
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

            store_pixel(sink, bias, sum, line + i * each + x * GROUP);
            i++;
            x += i == at.now ? at.step : 0;
            i = i == at.now ? 0 : i;
        }
    }
}

/* Rounds a line of weights, `count` by all taps, with zeros to the end of a
 * tile. */
LANES_INLINE void
round_weights(const struct tiles_weights *t, const float *w, size_t count,
              uint16_t *to)
{
    const size_t live = count * t->taps, all = TILE_DEPTH * t->taps;

    for (size_t i = 0; i < live; i++)
        to[i] = half_of(w[i]);
    if (live < all)
        memset(to + live, 0, (all - live) * sizeof *to);
}

/* Word i of each tap has two weights, `step` words before the next one. */
LANES_INLINE void
pack_weights(const struct tiles_weights *t, const uint16_t *low,
             const uint16_t *high, size_t words, size_t step, size_t side,
             uint32_t *to)
{
    const size_t planes = num_divide_up(t->back ? t->out : t->in, TILE_DEPTH);

    for (size_t tap = 0; tap < t->taps; tap++)
        for (size_t i = 0; i < words; i++)
            to[tap * planes * 2 * TILE_WORDS + i * side] =
                low[i * step + tap] | (uint32_t)high[i * step + tap] << 16;
}

/* Packs the tiles of a plane of depth from k on: column by column, each a row
 * of w. */
LANES_INLINE void
pack_columns(const struct tiles_weights *t, const float *w, size_t panel,
             size_t k, uint32_t *to)
{
    uint16_t half[TILE_DEPTH * TILES_TAPS];

    for (size_t j = 0; j < TILE_DEPTH; j++) {
        const size_t o = panel * TILE_DEPTH + j;

        round_weights(t, w + (o * t->in + k) * t->taps,
                      o < t->out ? num_least(TILE_DEPTH, t->in - k) : 0, half);
        pack_weights(t, half, half + t->taps, TILE_SIDE, 2 * t->taps, TILE_SIDE,
                     to + j / TILE_SIDE * TILE_WORDS + j % TILE_SIDE);
    }
}

/* The same for backward: two rows of w are a row of tiles. */
LANES_INLINE void
pack_rows(const struct tiles_weights *t, const float *w, size_t panel,
          size_t from, uint32_t *to)
{
    const size_t column = panel * TILE_DEPTH;
    const size_t count = num_least(TILE_DEPTH, t->in - column);
    uint16_t half[2][TILE_DEPTH * TILES_TAPS];

    for (size_t k = 0; k < TILE_DEPTH; k++) {
        const size_t o = from + k;

        round_weights(t, w + (o * t->in + column) * t->taps,
                      o < t->out ? count : 0, half[k % 2]);
        for (size_t v = 0; k % 2 && v < 2; v++)
            pack_weights(t, half[0] + v * TILE_SIDE * t->taps,
                         half[1] + v * TILE_SIDE * t->taps, TILE_SIDE, t->taps,
                         1, to + v * TILE_WORDS + k / 2 * TILE_SIDE);
    }
}

UTIL_CLONES(void, num_tiles_weights,
            (const struct tiles_weights *t, const float *w, size_t panel,
             uint32_t *to),
            (t, w, panel, to))
{
    const size_t depth = t->back ? t->out : t->in;

    for (size_t k = 0; k < depth; k += TILE_DEPTH, to += 2 * TILE_WORDS)
        if (t->back)
            pack_rows(t, w, panel, k, to);
        else
            pack_columns(t, w, panel, k, to);
}

UTIL_CLONES(void, num_tiles_gradient,
            (const struct tiles_weights *t, const float *sums, size_t panel,
             size_t plane, size_t first, size_t taps, int accumulate,
             float *dw),
            (t, sums, panel, plane, first, taps, accumulate, dw))
{
    const size_t o = panel * TILE_DEPTH, k = plane * TILE_DEPTH;
    const size_t rows = num_least(TILE_DEPTH, t->out - o);
    const size_t columns = num_least(TILE_DEPTH, t->in - k);

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            const float *from =
                sums + (i / TILE_SIDE * 2 + j / TILE_SIDE) * TILE_WORDS +
                i % TILE_SIDE * TILE_SIDE + j % TILE_SIDE;
            float *to = dw + ((o + i) * t->in + k + j) * t->taps + first;

            for (size_t tap = 0; tap < taps; tap++)
                to[tap] = (accumulate ? to[tap] : 0) + from[tap * TILE_SUMS];
        }
}
