#include <string.h>

#include "maps.h"
#include "t.h"

static void
round_trip_in_every_layout(void)
{
    static const size_t blocks[] = {1, 8, 16};

    for (int i = 0; i < 3; i++) {
        struct num_map map = {2, 32, 3, 5, blocks[i], 0};
        float *x = normal(num_map_size(&map), 1);
        void *data = packed(&map, x);

        T(map_worst(&map, data, x) == 0, "block %zu: there and back",
          blocks[i]);
        free(data);
        free(x);
    }
}

/* (i, k, y, x) is at ((i c/b + k/b) h w + y w + x) b + k%b. */
static void
elements_are_where_the_header_says(void)
{
    struct num_map map = {2, 32, 3, 5, 8, 0};
    float *x = normal(num_map_size(&map), 2);
    float *data = packed(&map, x);
    size_t i = 1, k = 21, row = 2, col = 3;

    T(data[((i * 4 + k / 8) * 15 + row * 5 + col) * 8 + k % 8] ==
          x[((i * 32 + k) * 3 + row) * 5 + col],
      "an element in the middle");
    free(data);
    free(x);
}

static void
halves_round_to_even(void)
{
    struct num_map map = {1, 4, 1, 1, 1, 1};
    // 1, the tie above it, the tie above the next, just past a tie
    float x[] = {1, 1 + 0x1p-8f, 1 + 0x3p-8f, -1 - 0x1.02p-8f}, back[4];
    uint16_t half[4];

    map_put(&map, x, half);
    map_get(&map, half, back);
    T(half[0] == 0x3f80, "1 is 3f80");
    T(back[0] == 1 && back[1] == 1, "a tie goes to even, down");
    T(back[2] == 1 + 0x4p-8f, "a tie goes to even, up");
    T(back[3] == -1 - 0x2p-8f, "beyond a tie away from it");
    T(num_map_bytes(&map) == 8, "two bytes each");
}

static void
pixels_are_normalised(void)
{
    struct num_map map = {2, 3, 2, 2, 1, 0};
    const float mean[] = {.5f, .4f, .3f}, deviation[] = {.25f, .5f, 1};
    uint8_t u[24];
    float x[24], off = 0;

    for (int i = 0; i < 24; i++)
        u[i] = (uint8_t)(i * 11);
    num_map_pixels(&map, u, mean, deviation, x);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            for (int p = 0; p < 4; p++) {
                float want = ((float)u[(i * 4 + p) * 3 + k] / 255 - mean[k]) /
                             deviation[k];

                off = fmaxf(off, fabsf(x[(i * 3 + k) * 4 + p] - want));
            }
    T(off < 1e-6f, "(u / 255 - mean) / deviation, planes out of pixels");
    map.bf16 = 1;
    rounded(&map, x);
    map.bf16 = 0;
    {
        struct num_map half = {2, 3, 2, 2, 1, 1};
        uint16_t data[24];

        num_map_pixels(&half, u, mean, deviation, data);
        T(map_worst(&half, data, x) == 0, "the same in halves");
    }
}

/* 1 + 2^-8 is half way between two halves, and so is 1 + 3 2^-8. */
static void
sums_are_rounded_once(void)
{
    for (int bf16 = 0; bf16 < 2; bf16++) {
        struct num_map map = {3, 8, 3, 1, 8, bf16};
        float x[72], y[72], want[72];
        void *a, *b;

        for (int i = 0; i < 72; i++) {
            x[i] = 0x1p-8f;
            y[i] = i % 3 ? 1 : 1 + 0x1p-7f;
            want[i] = bf16 ? (i % 3 ? 1 : 1 + 0x1p-6f) : x[i] + y[i];
        }
        a = packed(&map, x);
        b = packed(&map, y);
        num_map_add(&map, a, b);
        T(map_worst(&map, b, want) == 0, "%s: a sum of maps is rounded once",
          bf16 ? "halves" : "f32");
        free(a);
        free(b);
    }
}

int
main(void)
{
    T(num_map_block(3) == 1 && num_map_block(24) == 8, "odd widths are plain");
    round_trip_in_every_layout();
    elements_are_where_the_header_says();
    halves_round_to_even();
    pixels_are_normalised();
    sums_are_rounded_once();
    return t_done();
}
