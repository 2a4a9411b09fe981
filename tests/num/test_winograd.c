#include "num/winograd.h"

#define OWN(f) num_winograd_##f
#define NAME name
typedef struct num_winograd own;
#include "own_conv.h"

/* Partial tiles, one pixel, an odd number of vectors, few and many channels,
 * threads that work separately and together, on one group of tiles and on
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
    num_winograd_run(
        &wino, NUM_CONV_FORWARD,
        &(struct num_conv_args){.x = x, .w = v->w, .y = y, .scratch = scratch});
    map_get(&out, y, plain);
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

/* max(scale (x - centre) + shift, 0) of plain numbers. */
static void
normalise(const struct shape *s, const struct num_conv_norm *norm, float *x)
{
    for (size_t i = 0; i < s->n * s->c; i++)
        for (size_t j = 0; j < s->h * s->w; j++) {
            const size_t k = i % s->c, at = i * s->h * s->w + j;
            const float off = x[at] - norm->centre[k];
            const float y = norm->scale[k] * off + norm->shift[k];

            x[at] = y > 0 ? y : 0;
        }
}

/* Results after a norm that is not written are those of a written one, to the
 * bit. */
static void
fuses_a_norm(const struct shape *s, const struct winograd_isa *isa)
{
    const struct num_conv_spec spec = spec_of(s, isa, 0);
    const struct num_map out = num_conv_out(&spec);
    const size_t w_size = s->o * s->c * 9;
    float *x = normal(num_map_size(&spec.in), 1), *w = normal(w_size, 2);
    float *terms = normal(3 * s->c, 3), *g = normal(num_map_size(&out), 4);
    const struct num_conv_norm norm = {terms, terms + s->c, terms + 2 * s->c};
    float *dw[2] = {normal(w_size, 5), normal(w_size, 6)};
    void *y[2] = {empty(&out), empty(&out)}, *dy = packed(&out, g), *in;
    struct num_winograd wino;

    REQUIRE(!num_winograd_init(&wino, &spec, isa));
    for (int written = 0; written < 2; written++) {
        struct num_conv_args args = {.norm = written ? NULL : &norm,
                                     .w = w,
                                     .dy = dy,
                                     .y = y[written],
                                     .dw = dw[written]};

        if (written)
            normalise(s, &norm, x);
        in = packed(&spec.in, x);
        args.x = in;
        args.scratch = scratch_of(&wino, NUM_CONV_FORWARD);
        num_winograd_run(&wino, NUM_CONV_FORWARD, &args);
        free(args.scratch);
        args.scratch = scratch_of(&wino, NUM_CONV_BACK_WEIGHTS);
        num_winograd_run(&wino, NUM_CONV_BACK_WEIGHTS, &args);
        free(args.scratch);
        free(in);
    }
    T(!memcmp(y[0], y[1], num_map_bytes(&out)) &&
          !memcmp(dw[0], dw[1], w_size * sizeof *w),
      "%s, %zu x %zux%zux%zu: a norm before it", isa->name, s->n, s->c, s->h,
      s->w);
    free(x);
    free(w);
    free(terms);
    free(g);
    free(dy);
    for (int i = 0; i < 2; i++) {
        free(y[i]);
        free(dw[i]);
    }
}

static void
norms_are_fused(void)
{
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        for (size_t i = 0; i < WINOGRAD_ISAS; i++)
            if (shapes[k].c % num_winograd_isa(i)->lanes == 0)
                fuses_a_norm(&shapes[k], num_winograd_isa(i));
}

/* The task of an image: it copies it. */
struct copies {
    const char *from;
    char *to;
    size_t each;
    int calls[16];
};

static void
copy_image(const void *self, size_t i)
{
    struct copies *copies = *(struct copies *const *)self;

#pragma omp atomic
    copies->calls[i]++;
    memcpy(copies->to + i * copies->each, copies->from + i * copies->each,
           copies->each);
}

/* After each image of a pass its task finds it written. */
static void
images_are_complete(const struct shape *s, enum num_conv_pass pass, int threads)
{
    const int back = pass == NUM_CONV_BACK_DATA;
    const struct num_conv_spec spec = spec_of(s, num_winograd_isa(0), 0);
    const struct num_map out = num_conv_out(&spec);
    const struct num_map *to = back ? &spec.in : &out;
    float *x = normal(num_map_size(back ? &out : &spec.in), 1);
    float *w = normal(s->o * s->c * 9, 2);
    void *in = packed(back ? &out : &spec.in, x), *got = empty(to);
    struct copies copies = {got, empty(to), num_map_bytes(to) / s->n, {0}};
    struct copies *self = &copies;
    struct num_conv_args args = {
        .x = in,
        .dy = in,
        .y = got,
        .dx = got,
        .w = w,
        .after = {copy_image, &self, {in}, copies.each}};
    struct num_winograd wino;
    int once = 1;

    num_threads(threads);
    REQUIRE(!num_winograd_init(&wino, &spec, num_winograd_isa(0)));
    T(wino.pass[pass].by_image, "%d threads: by image", threads);
    args.scratch = scratch_of(&wino, pass);
    num_winograd_run(&wino, pass, &args);
    for (size_t i = 0; i < s->n; i++)
        once &= copies.calls[i] == 1;
    T(once && !memcmp(got, copies.to, num_map_bytes(to)),
      "%zux%zu, %s: each image is whole, once", s->h, s->w,
      back ? "back" : "forward");
    num_threads(1);
    free(x);
    free(w);
    free(in);
    free(got);
    free(copies.to);
    free(args.scratch);
}

static void
works_by_image(void)
{
    static const struct shape some[] = {{13, 16, 3, 3, 32, 3, 1, 1},
                                        {13, 32, 25, 25, 16, 3, 1, 1}};
    const struct num_conv_spec few =
        spec_of(&shapes[1], num_winograd_isa(0), 0);
    struct num_winograd wino;

    for (size_t k = 0; k < 2; k++)
        for (int threads = 1; threads <= 3; threads++) {
            images_are_complete(&some[k], NUM_CONV_FORWARD, threads);
            images_are_complete(&some[k], NUM_CONV_BACK_DATA, threads);
        }
    REQUIRE(!num_winograd_init(&wino, &few, num_winograd_isa(0)));
    T(!wino.pass[NUM_CONV_FORWARD].by_image, "few images: in groups");
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
          "%s: refuses shape %zu of other convolutions", isa->name, i);
}

int
main(void)
{
    for (size_t i = 0; i < WINOGRAD_ISAS; i++)
        refuses_other_shapes(num_winograd_isa(i));
    all_agree(sizeof shapes / sizeof *shapes, shapes, bound);
    stride_2_agrees();
    norms_are_fused();
    works_by_image();
    does_forward_alone_with_stride_2();
    return t_done();
}
