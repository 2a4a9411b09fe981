/* Products of f32 rows by whole numbers, against sums in double. */
#include "bounded.h"
#include "maps.h"

enum kind { NORMAL, EQUAL, LONE, KINDS };

static const char *const names[] = {"normal", "equal numbers",
                                    "one number 1e6 times as large"};

static const struct shape shapes[] = {{1, 1, 1, 1},       {3, 16, 2, 1},
                                      {7, 15, 4, 1},      {97, 33, 31, 1},
                                      {200, 100, 128, 1}, {17, 65, 1000, 1},
                                      {40, 66, 7, 1e14F}, {40, 66, 9, 1e-14F}};

/* Rows of a kind, the last of them zero where there are several. */
static float *
make_rows(enum kind kind, size_t n, size_t d, float scale, uint64_t seed)
{
    float *x = normal(n * d, seed);

    for (size_t i = 0; i < n * d; i++) {
        x[i] *= i % 5 ? scale : scale / 1000;
        if (kind == EQUAL)
            x[i] = i / d % 2 ? scale : -scale;
        if (kind == LONE && i % d != i / d % d)
            x[i] /= 1e6F;
    }
    if (n > 1)
        memset(x + (n - 1) * d, 0, d * sizeof *x);
    return x;
}

static void
rows_are_within_their_bound(enum kind kind, const struct shape *s)
{
    float *x = make_rows(kind, s->m, s->d, s->scale, 1);
    float *y = make_rows(kind, s->n, s->d, s->scale, 2);

    products_are_within_their_bound(&num_scaled, names[kind], s, x, y);
    T(num_scaled.residual(s->m, s->d, x) <=
          1.01 * sqrt((double)s->d) / 2 / 32767 * 1.001,
      "the residual is as small as in the header");
    free(y);
    free(x);
}

int
main(void)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            rows_are_within_their_bound((enum kind)kind, shapes + i);
    return t_done();
}
