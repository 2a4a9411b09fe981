#include "num/winograd.h"

#define OWN(f) num_winograd_##f
#define NAME name
typedef struct num_winograd own;
#include "own_conv.h"

/* Tiles that do not fill, one pixel, an odd number of vectors, few and many
 * channels, threads that work apart and together, on one group of tiles and on
 * several. */
static const struct shape shapes[] = {
    {2, 16, 1, 1, 16, 3, 1, 1},    {1, 16, 2, 3, 32, 3, 1, 1},
    {3, 32, 4, 4, 16, 3, 1, 1},    {2, 48, 5, 7, 32, 3, 1, 1},
    {1, 16, 33, 33, 48, 3, 1, 1},  {1, 64, 33, 9, 64, 3, 1, 1},
    {2, 144, 6, 8, 144, 3, 1, 1},  {1, 272, 4, 4, 256, 3, 1, 1},
    {23, 4112, 2, 3, 16, 3, 1, 1}, {1, 8, 5, 6, 24, 3, 1, 1},
    {2, 128, 16, 16, 64, 3, 1, 1},
};

/* The largest error over the rms of y and dx, and of dw. */
static const double bound[2] = {5e-5, 1e-5};

static void
refuses_other_shapes(const struct winograd_isa *isa)
{
    const struct shape any = {1, 16, 8, 8, 16, 3, 1, 1};
    struct num_conv_spec good = spec_of(&any, isa, 0), bad[5];
    struct num_winograd wino;

    for (size_t i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].kernel = 1;
    bad[1].stride = 2;
    bad[2].pad = 0;
    bad[3].in.block = 1;
    bad[4].block = 1;
    T(num_winograd_init(&wino, &good, isa) == 0, "%s: 3x3", isa->name);
    for (size_t i = 0; i < 5; i++)
        T(num_winograd_init(&wino, &bad[i], isa) == -1,
          "%s: not shape %zu of those that are none of its own", isa->name, i);
}

int
main(void)
{
    for (size_t i = 0; i < WINOGRAD_ISAS; i++)
        refuses_other_shapes(num_winograd_isa(i));
    all_agree(sizeof shapes / sizeof *shapes, shapes, bound);
    return t_done();
}
