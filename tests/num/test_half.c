/* bfloat16: the upper half of an f32, rounded to even. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "halves.h"
#include "maps.h"
#include "t.h"

/* A float by its bits. */
static float
float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

static void
numbers_are_rounded_to_even(void)
{
    static const struct {
        uint32_t bits;
        uint16_t half;
    } table[] = {
        {0x3f800000, 0x3f80}, {0x3f808000, 0x3f80}, {0x3f818000, 0x3f82},
        {0x3f808001, 0x3f81}, {0x3f807fff, 0x3f80}, {0xbf818000, 0xbf82},
        {0x00000000, 0x0000}, {0x80000000, 0x8000}, {0x7f7fffff, 0x7f80},
        {0x7f800000, 0x7f80}, {0xff800000, 0xff80}, {0x00018000, 0x0002},
    };
    enum { N = sizeof table / sizeof *table };
    float plain[N], back[N];
    uint16_t half[N];
    int same = 1;

    for (size_t i = 0; i < N; i++)
        plain[i] = float_of(table[i].bits);
    num_half_put(N, 1, plain, half);
    num_half_get(N, 1, half, back);
    for (size_t i = 0; i < N; i++)
        same &= half[i] == table[i].half &&
                !memcmp(&back[i], &(uint32_t){(uint32_t)half[i] << 16}, 4);
    T(same, "to nearest, ties to even, to infinity beyond the largest");
    plain[0] = NAN;
    num_half_put(1, 1, plain, half);
    num_half_get(1, 1, half, back);
    T(isnan(back[0]), "a NaN stays a NaN");
}

static void
every_half_survives(void)
{
    enum { ALL = 1 << 16 };
    uint16_t *half = mem_array(ALL, sizeof *half);
    uint16_t *back = mem_array(ALL, sizeof *back);
    float *plain = mem_array(ALL, sizeof *plain);
    int same = 1;

    for (size_t i = 0; i < ALL; i++)
        half[i] = (uint16_t)i;
    num_half_get(ALL, 1, half, plain);
    num_half_put(ALL, 1, plain, back);
    for (size_t i = 0; i < ALL; i++)
        same &= half[i] == back[i] || isnan(plain[i]);
    T(same, "each of the 65,536 survives");
    free(half);
    free(back);
    free(plain);
}

static void
sums_are_f32(void)
{
    static const size_t sizes[] = {1, 3, 8, 100};

    for (size_t k = 0; k < 4; k++) {
        const size_t n = sizes[k];
        float *x = normal(n, 1), *y = normal(n, 2), *start = normal(n, 2);
        void *half = halves_of(n, x);
        int same = 1;

        num_half_axpy(n, 1, 0.3f, half, y);
        for (size_t i = 0; i < n; i++)
            same &= y[i] == start[i] + 0.3f * x[i];
        memcpy(y, start, n * sizeof *y);
        num_half_axpy(n, 0, 0.3f, x, y);
        for (size_t i = 0; i < n; i++)
            same &= y[i] == start[i] + 0.3f * x[i];
        T(same, "y + alpha x of %zu, of halves and of f32", n);
        free(x);
        free(y);
        free(start);
        free(half);
    }
}

int
main(void)
{
    numbers_are_rounded_to_even();
    every_half_survives();
    sums_are_f32();
    T(num_half_bytes(3, 1) == 6 && num_half_bytes(3, 0) == 12,
      "halves take two bytes");
    return t_done();
}
