#include "eval/descriptor.h"

#include <math.h>
#include <string.h>

#include "num/vec.h"
#include "util/err.h"

enum { CELLS = EVAL_CELLS * EVAL_CELLS };

static const double half_turn = 3.14159265358979323846;

/* Returns the mean of the colours of a pixel, 0 .. 1. */
static double
brightness_of_pixel(size_t size, const uint8_t *image, size_t y, size_t x)
{
    const uint8_t *p = image + (y * size + x) * 3;

    return (p[0] + p[1] + p[2]) / (3 * 255.0);
}

void
eval_descriptor(size_t size, const uint8_t *image, float *out)
{
    const size_t cell = size / EVAL_CELLS;
    const float share = 1 / (255 * (float)(cell * cell));
    float *edges = out + (size_t)CELLS * 3;
    float *colours = edges + (size_t)CELLS * EVAL_DIRECTIONS;
    double length;

    REQUIRE(size && size % EVAL_CELLS == 0);
    memset(out, 0, EVAL_DESCRIPTOR * sizeof *out);
    for (size_t y = 0; y < size; y++)
        for (size_t x = 0; x < size; x++) {
            const uint8_t *p = image + (y * size + x) * 3;
            const size_t at = y / cell * EVAL_CELLS + x / cell;
            double dx = 0, dy = 0, angle;
            size_t direction;

            for (size_t c = 0; c < 3; c++)
                out[at * 3 + c] += share * p[c];
            if (x && x + 1 < size)
                dx = brightness_of_pixel(size, image, y, x + 1) -
                     brightness_of_pixel(size, image, y, x - 1);
            if (y && y + 1 < size)
                dy = brightness_of_pixel(size, image, y + 1, x) -
                     brightness_of_pixel(size, image, y - 1, x);
            angle = atan2(dy, dx);
            if (angle < 0)
                angle += half_turn;
            direction = (size_t)(angle / half_turn * EVAL_DIRECTIONS);
            edges[at * EVAL_DIRECTIONS + direction % EVAL_DIRECTIONS] +=
                (float)hypot(dx, dy);
            colours[p[0] / 64 * 16 + p[1] / 64 * 4 + p[2] / 64]++;
        }
    length = sqrt(num_dot((size_t)CELLS * EVAL_DIRECTIONS, edges, edges));
    if (length > 0)
        num_scale((size_t)CELLS * EVAL_DIRECTIONS, (float)(3 / length), edges);
    for (size_t i = 0; i < 64; i++)
        colours[i] = 2 * sqrtf(colours[i] / (float)(size * size));
}
