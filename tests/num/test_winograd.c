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

/* The same with stride 2. */
static const struct shape strided[] = {
    {2, 16, 1, 1, 16, 3, 2, 1},   {1, 16, 2, 3, 32, 3, 2, 1},
    {3, 32, 8, 8, 16, 3, 2, 1},   {2, 48, 9, 14, 32, 3, 2, 1},
    {1, 16, 33, 34, 48, 3, 2, 1}, {2, 144, 11, 6, 144, 3, 2, 1},
    {1, 272, 8, 8, 256, 3, 2, 1}, {6, 4112, 2, 3, 16, 3, 2, 1},
    {1, 8, 5, 6, 24, 3, 2, 1},
};

static float *
forward_of(const struct shape *s, const struct naive *v,
           const struct winograd_isa *isa, int threads, int bf16)
{
    const struct num_conv_spec spec = spec_of(s, isa, bf16);
    const struct num_map out = num_conv_out(&spec);
    struct num_winograd wino;
    float *plain = mem_array(v->y_size, sizeof *plain);
    void *x = packed(&spec.in, v->x), *y = empty(&out), *scratch;

    num_threads(threads);
    REQUIRE(!num_winograd_init(&wino, &spec, isa));
    scratch = scratch_of(&wino, NUM_CONV_FORWARD);
    num_winograd_forward(&wino, x, v->w, NULL, y, scratch);
    num_map_get(&out, y, plain);
    num_threads(1);
    free(scratch);
    free(x);
    free(y);
    return plain;
}

static void
strided_halves_are_rounded_once(const struct shape *s,
                                const struct winograd_isa *isa, struct naive v,
                                const char *name)
{
    struct num_conv_spec spec = spec_of(s, isa, 1);
    struct num_map out = num_conv_out(&spec);
    float *single, *half;

    v.x = normal(v.x_size, 4);
    rounded(&spec.in, v.x);
    single = forward_of(s, &v, isa, 1, 0);
    half = forward_of(s, &v, isa, 1, 1);
    rounded(&out, single);
    T(!memcmp(single, half, v.y_size * sizeof *half),
      "%s: bfloat16 maps are rounded once", name);
    free(single);
    free(half);
    free(v.x);
}

static void
strided_agrees(const struct shape *s, const struct naive *v,
               const struct winograd_isa *isa)
{
    const double off = 3e-5;
    float *y = forward_of(s, v, isa, 1, 0), *more;
    char name[128];

    snprintf(name, sizeof name, "%s, %zu x %zux%zux%zu to %zu, stride 2",
             isa->name, s->n, s->c, s->h, s->w, s->o);
    T_NEAR(error_of(v->y_size, y, v->y), 0, off, "%s: y", name);
    strided_halves_are_rounded_once(s, isa, *v, name);
    for (int threads = 2; threads <= 3; threads++) {
        more = forward_of(s, v, isa, threads, 0);
        T(!memcmp(more, y, v->y_size * sizeof *y),
          "%s: %d threads make the same y", name, threads);
        free(more);
    }
    free(y);
}

static void
stride_2_agrees(void)
{
    for (size_t k = 0; k < sizeof strided / sizeof *strided; k++) {
        struct naive v = naive_of(&strided[k]);

        for (size_t i = 0; i < WINOGRAD_ISAS; i++)
            if (strided[k].c % num_winograd_isa(i)->lanes == 0)
                strided_agrees(&strided[k], &v, num_winograd_isa(i));
        naive_release(&v);
    }
}

static void
does_forward_alone_with_stride_2(void)
{
    const struct winograd_isa *isa = num_winograd_isa(0);
    struct num_winograd wino;

    for (size_t stride = 1; stride <= 2; stride++) {
        const struct shape any = {1, 16, 8, 8, 16, 3, stride, 1};
        const struct num_conv_spec spec = spec_of(&any, isa, 0);

        REQUIRE(!num_winograd_init(&wino, &spec, isa));
        T(num_winograd_does(&wino, NUM_CONV_FORWARD), "stride %zu: forward",
          stride);
        T(num_winograd_does(&wino, NUM_CONV_BACK_DATA) == (stride == 1) &&
              num_winograd_does(&wino, NUM_CONV_BACK_WEIGHTS) == (stride == 1),
          "stride %zu: gradients or not", stride);
    }
}

static void
refuses_other_shapes(const struct winograd_isa *isa)
{
    const struct shape any = {1, 16, 8, 8, 16, 3, 1, 1};
    struct num_conv_spec good = spec_of(&any, isa, 0), bad[5];
    struct num_winograd wino;

    for (size_t i = 0; i < 5; i++)
        bad[i] = good;
    bad[0].kernel = 1;
    bad[1].stride = 3;
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
    stride_2_agrees();
    does_forward_alone_with_stride_2();
    return t_done();
}
