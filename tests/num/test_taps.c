#include "num/taps.h"

#define OWN(f) num_taps_##f
#define NAME taps
typedef struct num_taps own;
#include "own_conv.h"
#include "plain_conv.h"

/* One pixel, borders on all sides, strides that leave a remainder and kernels
 * that leave pixels out or lie outside of the image, an odd number of vectors,
 * one group of images and several, the last one smaller. */
static const struct shape shapes[] = {
    {5, 32, 1, 1, 48, 3, 1, 1},  {70, 16, 2, 2, 32, 3, 1, 1},
    {3, 48, 2, 3, 16, 3, 1, 1},  {2, 16, 5, 7, 32, 3, 2, 1},
    {3, 32, 4, 4, 64, 3, 2, 1},  {4, 16, 5, 6, 48, 1, 2, 0},
    {2, 16, 9, 8, 16, 5, 3, 2},  {2, 32, 3, 4, 16, 3, 1, 0},
    {1, 16, 1, 2, 16, 5, 2, 2},  {3, 8, 6, 5, 24, 3, 2, 1},
    {7, 512, 1, 1, 32, 1, 1, 0},
};

/* Many products; an emulator would take minutes for them. */
static const struct shape large[] = {
    {66, 64, 16, 16, 32, 3, 2, 1},
    {9, 1024, 2, 2, 80, 3, 1, 1},
};

static const struct shape images[] = {
    {3, 3, 9, 7, 16, 3, 1, 1},
    {2, 3, 13, 11, 48, 7, 2, 3},
    {2, 1, 5, 8, 16, 5, 3, 0},
};

/* The largest error over the rms of y and dx, and of dw. */
static const double bound[2] = {1e-5, 1e-5};

static void
refuses_other_blocks(const struct winograd_isa *isa)
{
    struct num_conv_spec good = spec_of(&shapes[0], isa, 0);
    struct num_conv_spec in = good, out = good;
    struct num_taps taps;

    in.in.block = 2 * isa->lanes;
    out.block = 1;
    T(num_taps_init(&taps, &good, isa) == 0, "%s: blocks", isa->NAME);
    T(num_taps_init(&taps, &in, isa) == -1, "%s: other blocks in", isa->NAME);
    T(num_taps_init(&taps, &out, isa) == -1, "%s: no blocks out", isa->NAME);
}

/* y = max(y + w x + b, 0), for a merged operator. */
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

    plain_conv_forward(&spec, x, w, b, want);
    for (size_t i = 0; i < n; i++)
        want[i] = fmaxf(want[i] + was[i], 0);
    spec.add = spec.relu = 1;
    REQUIRE(!num_taps_init(&taps, &spec, isa));
    scratch = scratch_of(&taps, NUM_CONV_FORWARD);
    num_taps_run(&taps, NUM_CONV_FORWARD,
                 &(struct num_conv_args){
                     .x = mx, .w = w, .b = b, .y = y, .scratch = scratch});
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

/* Images are in plain layout. */
static void
images_give_y(const struct num_conv_spec *spec, const struct num_taps *taps)
{
    const struct num_map out = num_conv_out(spec);
    float *x = normal(num_map_size(&spec->in), 1);
    float *w = normal(spec->out * spec->in.c * spec->kernel * spec->kernel, 2);
    float *want = mem_array(num_map_size(&out), sizeof *want);
    void *mx, *y = empty(&out), *scratch = scratch_of(taps, NUM_CONV_FORWARD);

    rounded(&spec->in, x);
    mx = packed(&spec->in, x);
    plain_conv_forward(spec, x, w, NULL, want);
    num_taps_run(
        taps, NUM_CONV_FORWARD,
        &(struct num_conv_args){.x = mx, .w = w, .y = y, .scratch = scratch});
    T_NEAR(map_worst(&out, y, want), 0, spec->in.bf16 ? 2e-2 : 5e-6,
           "%s: %zu colours, bf16 %d: y", taps->isa->taps, spec->in.c,
           spec->in.bf16);
    free(x);
    free(w);
    free(want);
    free(mx);
    free(y);
    free(scratch);
}

/* And dw, which is added to. */
static void
images_give_dw(const struct num_conv_spec *spec, const struct num_taps *taps)
{
    const struct num_map out = num_conv_out(spec);
    const size_t n = spec->out * spec->in.c * spec->kernel * spec->kernel;
    float *x = normal(num_map_size(&spec->in), 1);
    float *dy = normal(num_map_size(&out), 3);
    float *dw = mem_array(2 * n, sizeof *dw);
    void *mx, *mdy, *scratch = scratch_of(taps, NUM_CONV_BACK_WEIGHTS);

    rounded(&spec->in, x);
    rounded(&out, dy);
    mx = packed(&spec->in, x);
    mdy = packed(&out, dy);
    plain_conv_back_weights(spec, x, dy, dw + n, NULL);
    for (int add = 0; add < 2; add++)
        num_taps_run(taps, NUM_CONV_BACK_WEIGHTS,
                     &(struct num_conv_args){.x = mx,
                                             .dy = mdy,
                                             .dw = dw,
                                             .accumulate = add,
                                             .scratch = scratch});
    for (size_t i = 0; i < n; i++)
        dw[i] /= 2;
    T_NEAR(worst(n, dw, dw + n), 0, 5e-6, "%s: %zu colours, bf16 %d: dw, added",
           taps->isa->taps, spec->in.c, spec->in.bf16);
    free(x);
    free(dy);
    free(dw);
    free(mx);
    free(mdy);
    free(scratch);
}

static void
images_are_read(const struct winograd_isa *isa, const struct shape *s, int bf16)
{
    struct num_conv_spec spec = spec_of(s, isa, bf16);
    struct num_taps taps;

    spec.in.block = 1;
    REQUIRE(!num_taps_init(&taps, &spec, isa));
    T(!num_taps_does(&taps, NUM_CONV_BACK_DATA), "%s: no gradient of images",
      isa->taps);
    images_give_y(&spec, &taps);
    images_give_dw(&spec, &taps);
}

/* The gradient does not depend on the number of threads, and is added. */
static void
gradient_is_independent_of_threads(const struct winograd_isa *isa)
{
    struct naive v = naive_of(&shapes[4]);
    struct result one = run(&shapes[4], &v, isa, 1, 0);
    struct result three = run(&shapes[4], &v, isa, 3, 0);

    T(!memcmp(one.dw, three.dw, v.w_size * sizeof *one.dw),
      "%s: three threads compute the same dw", isa->NAME);
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
        gradient_is_independent_of_threads(num_winograd_isa(i));
        for (size_t k = 0; k < 2 * sizeof images / sizeof *images; k++)
            images_are_read(num_winograd_isa(i), &images[k / 2], k % 2);
    }
    all_agree(sizeof shapes / sizeof *shapes, shapes, bound);
    if (!t_emulated())
        all_agree(sizeof large / sizeof *large, large, bound);
    return t_done();
}
