/* Products of f32 rows by three of bfloat16, against sums in double. */
#include "bounded.h"
#include "maps.h"

static const struct shape shapes[] = {
    {1, 1, 1, 1},       {3, 64, 2, 1},        {33, 70, 31, 1},
    {130, 129, 33, 1},  {200, 512, 128, 1},   {17, 65, 1000, 1},
    {40, 66, 7, 1e15F}, {40, 66, 300, 1e-16F}};

static void
normal_rows_are_within_their_bound(const struct shape *s)
{
    float *x = normal(s->m * s->d, 1), *y = normal(s->n * s->d, 2);

    for (size_t i = 0; i < s->m * s->d; i++)
        x[i] *= i % 5 ? s->scale : s->scale / 1000;
    for (size_t i = 0; i < s->n * s->d; i++)
        y[i] *= s->scale;
    products_are_within_their_bound(&num_split, "normal", s, x, y);
    free(y);
    free(x);
}

int
main(void)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        normal_rows_are_within_their_bound(shapes + i);
    return t_done();
}
