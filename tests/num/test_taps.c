#include "num/taps.h"

#define OWN(f) num_taps_##f
#define NAME taps
typedef struct num_taps own;
#include "own_conv.h"

/* One pixel, borders on all sides, strides that leave a rest and kernels that
 * leave pixels out or lie outside of the image, an odd number of vectors, one
 * group of images and several, the last one smaller. */
static const struct shape shapes[] = {
    {5, 32, 1, 1, 48, 3, 1, 1},   {70, 16, 2, 2, 32, 3, 1, 1},
    {3, 48, 2, 3, 16, 3, 1, 1},   {2, 16, 5, 7, 32, 3, 2, 1},
    {3, 32, 4, 4, 64, 3, 2, 1},   {4, 16, 5, 6, 48, 1, 2, 0},
    {2, 16, 9, 8, 16, 5, 3, 2},   {2, 32, 3, 4, 16, 3, 1, 0},
    {1, 16, 1, 2, 16, 5, 2, 2},   {66, 64, 16, 16, 32, 3, 2, 1},
    {9, 1024, 2, 2, 80, 3, 1, 1}, {3, 8, 6, 5, 24, 3, 2, 1},
    {7, 512, 1, 1, 32, 1, 1, 0},
};

/* The largest error over the rms of y and dx, and of dw. */
static const double bound[2] = {1e-5, 1e-5};

static void
refuses_other_blocks(const struct winograd_isa *isa)
{
    struct num_conv_spec good = spec_of(&shapes[0], isa, 0);
    struct num_conv_spec in = good, out = good;
    struct num_taps taps;

    in.in.block = out.block = 1;
    T(num_taps_init(&taps, &good, isa) == 0, "%s: blocks", isa->NAME);
    T(num_taps_init(&taps, &in, isa) == -1, "%s: no blocks in", isa->NAME);
    T(num_taps_init(&taps, &out, isa) == -1, "%s: no blocks out", isa->NAME);
}

/* y = max(y + w x + b, 0), as a merged operator wants it. */
static void
adds_and_clips(const struct winograd_isa *isa)
{
    struct num_conv_spec spec = spec_of(&shapes[2], isa, 0);
    struct num_map out = num_conv_out(&spec);
    const size_t n = num_map_size(&out);
    float *x = normal(num_map_size(&spec.in), 1);
    float *w = normal(spec.out * spec.in.c * 9, 2), *b = normal(spec.out, 3);
    float *was = normal(n, 4), *want = mem_array(n, sizeof *want);
    void *mx = packed(&spec.in, x), *y = packed(&out, was), *scratch;
    struct num_taps taps;

    num_conv_forward_plain(&spec, x, w, b, want);
    for (size_t i = 0; i < n; i++)
        want[i] = fmaxf(want[i] + was[i], 0);
    spec.add = spec.relu = 1;
    REQUIRE(!num_taps_init(&taps, &spec, isa));
    scratch = scratch_of(&taps, NUM_CONV_FORWARD);
    num_taps_forward(&taps, mx, w, b, y, scratch);
    T_NEAR(map_worst(&out, y, want), 0, 5e-6, "%s: y = max(y + ., 0)",
           isa->NAME);
    free(x);
    free(w);
    free(b);
    free(was);
    free(want);
    free(mx);
    free(y);
    free(scratch);
}

/* The gradient does not depend on the number of threads, and is added. */
static void
gradient_is_one(const struct winograd_isa *isa)
{
    struct naive v = naive_of(&shapes[4]);
    struct result one = run(&shapes[4], &v, isa, 1, 0);
    struct result three = run(&shapes[4], &v, isa, 3, 0);

    T(!memcmp(one.dw, three.dw, v.w_size * sizeof *one.dw),
      "%s: three threads make the same dw", isa->NAME);
    result_release(&one);
    result_release(&three);
    naive_release(&v);
}

int
main(void)
{
    for (size_t i = 0; i < WINOGRAD_ISAS; i++) {
        refuses_other_blocks(num_winograd_isa(i));
        adds_and_clips(num_winograd_isa(i));
        gradient_is_one(num_winograd_isa(i));
    }
    all_agree(sizeof shapes / sizeof *shapes, shapes, bound);
    return t_done();
}
