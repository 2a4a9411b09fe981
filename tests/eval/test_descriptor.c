/* Simple features of pictures with known features. */
#include <stdlib.h>

#include "eval/descriptor.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIZE = 32, CELL = SIZE / EVAL_CELLS, ALL = EVAL_CELLS * EVAL_CELLS };

static uint8_t image[SIZE * SIZE * 3];
static float out[EVAL_DESCRIPTOR];
static const float *const edges = out + ALL * 3;
static const float *const colours = out + ALL * (3 + EVAL_DIRECTIONS);

static void
paint(int (*colour)(int x, int y, int c))
{
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE; x++)
            for (int c = 0; c < 3; c++)
                image[(y * SIZE + x) * 3 + c] = (uint8_t)colour(x, y, c);
    eval_descriptor(SIZE, image, out);
}

static int
orange(int x, int y, int c)
{
    (void)x;
    (void)y;
    return c == 0 ? 255 : c == 1 ? 128 : 0;
}

static int
ramp(int x, int y, int c)
{
    (void)y;
    (void)c;
    return 2 * x;
}

static int
fall(int x, int y, int c)
{
    (void)x;
    (void)c;
    return 255 - 2 * y;
}

static int
halves(int x, int y, int c)
{
    (void)y;
    (void)c;
    return x < SIZE / 2 ? 0 : 255;
}

static double
squares(size_t n, const float *x)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)x[i] * x[i];
    return sum;
}

/* Sums the strength of edges of a direction, over all cells. */
static double
strength(size_t direction)
{
    double sum = 0;

    for (size_t i = 0; i < ALL; i++)
        sum += edges[i * EVAL_DIRECTIONS + direction];
    return sum;
}

static void
one_colour(void)
{
    double off = 0;

    paint(orange);
    for (int i = 0; i < ALL; i++)
        off = fmax(off, fabs(out[3 * i] - 1.0) + fabs(out[3 * i + 1] - .50196) +
                            fabs(out[3 * i + 2]));
    T(off < 1e-4, "in one colour each cell has its mean");
    T(squares((size_t)ALL * EVAL_DIRECTIONS, edges) == 0,
      "in one colour no cell has an edge");
    T_NEAR(colours[3 * 16 + 2 * 4], 2, 1e-6, "all pixels have one colour");
    T_NEAR(squares(64, colours), 4, 1e-5, "no pixel has another colour");
}

static void
edges_have_a_direction(void)
{
    paint(ramp);
    T_NEAR(squares((size_t)ALL * EVAL_DIRECTIONS, edges), 9, 1e-4,
           "all edges together have length 3");
    T(strength(0) > 0 && strength(4) == 0, "from left to right: direction 0");
    // a cell in the middle: 16 equal gradients; at the side one column less
    T_NEAR(edges[9 * EVAL_DIRECTIONS] / edges[8 * EVAL_DIRECTIONS], 4 / 3.,
           1e-5, "the border has no gradient");
    paint(fall);
    T(strength(4) > 0 && strength(0) == 0,
      "downwards, to the dark: direction 4, a quarter turn");
}

static void
cells_are_separate(void)
{
    paint(halves);
    T_NEAR(out[3 * 3], 0, 1e-6, "the left half is black");
    T_NEAR(out[4 * 3], 1, 1e-6, "the right half is white");
    T(edges[3 * EVAL_DIRECTIONS] > 0 && edges[4 * EVAL_DIRECTIONS] > 0 &&
          edges[2 * EVAL_DIRECTIONS] == 0 && edges[5 * EVAL_DIRECTIONS] == 0,
      "the edge is only in the cells next to it");
    T_NEAR(colours[0], sqrt(2), 1e-5, "half of the pixels are black");
    T_NEAR(colours[63], sqrt(2), 1e-5, "half of them are white");
}

/* Mirroring from left to right swaps cells and reflects directions. */
static void
mirrored(void)
{
    float *before = mem_array(EVAL_DESCRIPTOR, sizeof *before);
    double off = 0;
    struct rng rng;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < sizeof image; i++)
        image[i] = (uint8_t)(256 * rng_unit(&rng));
    eval_descriptor(SIZE, image, before);
    for (int y = 0; y < SIZE; y++)
        for (int x = 0; x < SIZE / 2; x++)
            for (int c = 0; c < 3; c++) {
                uint8_t *a = &image[(y * SIZE + x) * 3 + c];
                uint8_t *b = &image[(y * SIZE + SIZE - 1 - x) * 3 + c];
                const uint8_t was = *a;

                *a = *b;
                *b = was;
            }
    eval_descriptor(SIZE, image, out);
    for (size_t y = 0; y < EVAL_CELLS; y++)
        for (size_t x = 0; x < EVAL_CELLS; x++)
            for (size_t c = 0; c < 3; c++)
                off = fmax(
                    off,
                    fabs(
                        out[(y * EVAL_CELLS + x) * 3 + c] -
                        before[(y * EVAL_CELLS + EVAL_CELLS - 1 - x) * 3 + c]));
    T(off < 1e-6, "mirrored cells: %.1e", off);
    for (size_t i = 0; i < 64; i++)
        off = fmax(off,
                   fabs(colours[i] - before[ALL * (3 + EVAL_DIRECTIONS) + i]));
    T(off < 1e-6, "a mirrored image has the same colours: %.1e", off);
    free(before);
}

int
main(void)
{
    one_colour();
    edges_have_a_direction();
    cells_are_separate();
    mirrored();
    return t_done();
}
