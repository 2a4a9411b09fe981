#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/conv.h"
#include "num/threads.h"
#include "plain_conv.h"
#include "t.h"

/* Difficult shapes: odd sizes, one pixel, strides that leave a remainder,
 * kernels larger than the image. */
static const struct num_conv_spec specs[] = {
    // n, c, h, w, block, bf16; out, block, kernel, stride, pad, bias
    {{2, 3, 9, 7, 1, 0}, 16, 16, 3, 1, 1, 0, .how = NUM_CONV_TABLE},
    {{3, 3, 13, 11, 1, 0}, 16, 16, 7, 2, 3, 1, .how = NUM_CONV_TABLE},
    {{2, 16, 7, 5, 16, 0}, 32, 16, 3, 2, 1, 0, .how = NUM_CONV_TABLE},
    {{1, 32, 1, 1, 16, 0}, 16, 16, 3, 1, 1, 1, .how = NUM_CONV_TABLE},
    {{2, 32, 6, 5, 16, 0}, 48, 16, 1, 2, 0, 0, .how = NUM_CONV_TABLE},
    {{2, 8, 5, 9, 8, 0}, 24, 8, 3, 1, 1, 1, .how = NUM_CONV_TABLE},
    {{2, 5, 5, 4, 1, 0}, 7, 1, 3, 2, 1, 0, .how = NUM_CONV_TABLE},
    {{3, 4, 4, 4, 1, 0}, 4, 1, 3, 1, 1, 0, .how = NUM_CONV_TABLE},
    {{2, 20, 7, 8, 1, 0}, 12, 1, 3, 2, 1, 0, .how = NUM_CONV_TABLE},
    {{2, 12, 5, 6, 1, 0}, 20, 1, 1, 1, 0, 0, .how = NUM_CONV_TABLE},
    {{2, 9, 9, 8, 1, 0}, 33, 1, 3, 1, 1, 0, .how = NUM_CONV_TABLE},
    {{2, 33, 6, 6, 1, 0}, 9, 1, 5, 2, 2, 0, .how = NUM_CONV_TABLE},
    {{3, 32, 9, 7, 16, 0}, 48, 16, 3, 1, 1, 0, .how = NUM_CONV_WINOGRAD},
    {{2, 64, 8, 8, 16, 0}, 32, 16, 3, 1, 1, 1, .how = NUM_CONV_WINOGRAD},
    {{2, 3, 9, 7, 1, 1}, 16, 16, 3, 1, 1, 0, .how = NUM_CONV_TABLE},
    {{2, 32, 9, 7, 16, 1}, 48, 16, 3, 2, 1, 1, .how = NUM_CONV_TABLE},
    {{2, 16, 7, 5, 16, 0}, 32, 16, 3, 2, 1, 1, .how = NUM_CONV_TAPS},
    {{40, 32, 4, 4, 16, 1}, 32, 16, 3, 2, 1, 1, .how = NUM_CONV_TAPS},
};

struct data {
    struct num_map out;
    size_t weights;
    float *x, *w, *b, *dy; /* plain */
    void *mx, *mdy;        /* the same as maps */
    char *scratch;
};

static struct data
data_of(const struct num_conv_spec *spec, const struct num_conv *conv)
{
    struct data d = {.out = num_conv_out(spec)};

    d.weights = spec->out * spec->in.c * spec->kernel * spec->kernel;
    d.x = normal(num_map_size(&spec->in), 1);
    d.w = normal(d.weights, 2);
    d.b = spec->bias ? normal(spec->out, 3) : NULL;
    d.dy = normal(num_map_size(&d.out), 4);
    rounded(&spec->in, d.x);
    rounded(&d.out, d.dy);
    d.mx = packed(&spec->in, d.x);
    d.mdy = packed(&d.out, d.dy);
    d.scratch = mem_aligned(num_conv_scratch(conv), 1);
    return d;
}

static void
data_release(struct data *d)
{
    void *all[] = {d->x, d->w, d->b, d->dy, d->mx, d->mdy, d->scratch};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* f32 sums of a thousand products, Winograd's transforms, halves of w and y */
static double
tolerance(const struct num_conv_spec *spec)
{
    if (spec->in.bf16)
        return 2e-2;
    return spec->how == NUM_CONV_WINOGRAD ? 5e-5 : 5e-6;
}

static void
forward_is_the_sum(const struct num_conv_spec *spec,
                   const struct num_conv *conv, struct data *d,
                   const char *name)
{
    float *want = mem_array(num_map_size(&d->out), sizeof *want);
    void *y = empty(&d->out);

    plain_conv_forward(spec, d->x, d->w, d->b, want);
    num_conv_run(
        conv, NUM_CONV_FORWARD,
        &(struct num_conv_args){
            .x = d->mx, .w = d->w, .b = d->b, .y = y, .scratch = d->scratch});
    T_NEAR(map_worst(&d->out, y, want), 0, tolerance(spec), "%s: y", name);
    free(want);
    free(y);
}

static void
gradient_of_x_is_the_sum(const struct num_conv_spec *spec,
                         const struct num_conv *conv, struct data *d,
                         const char *name)
{
    float *want = mem_array(num_map_size(&spec->in), sizeof *want);
    void *dx = empty(&spec->in);

    plain_conv_back_data(spec, d->dy, d->w, want);
    num_conv_run(conv, NUM_CONV_BACK_DATA,
                 &(struct num_conv_args){
                     .dy = d->mdy, .w = d->w, .dx = dx, .scratch = d->scratch});
    T_NEAR(map_worst(&spec->in, dx, want), 0, tolerance(spec), "%s: dx", name);
    free(want);
    free(dx);
}

static void
gradient_of_w_is_the_sum(const struct num_conv_spec *spec,
                         const struct num_conv *conv, struct data *d,
                         const char *name)
{
    float *want = mem_array(d->weights, sizeof *want);
    float *got = mem_array(d->weights, sizeof *got);
    float *db = spec->bias ? mem_array(2 * spec->out, sizeof *db) : NULL;
    float *want_b = spec->bias ? db + spec->out : NULL;
    struct num_conv_args args = {
        .x = d->mx, .dy = d->mdy, .dw = got, .db = db, .scratch = d->scratch};

    plain_conv_back_weights(spec, d->x, d->dy, want, want_b);
    num_conv_run(conv, NUM_CONV_BACK_WEIGHTS, &args);
    T_NEAR(worst(d->weights, got, want), 0, tolerance(spec), "%s: dw", name);
    if (db)
        T_NEAR(worst(spec->out, db, want_b), 0, tolerance(spec), "%s: db",
               name);
    args.accumulate = 1;
    num_conv_run(conv, NUM_CONV_BACK_WEIGHTS, &args);
    for (size_t i = 0; i < d->weights; i++)
        got[i] /= 2;
    T_NEAR(worst(d->weights, got, want), 0, tolerance(spec), "%s: dw added",
           name);
    for (size_t o = 0; db && o < spec->out; o++)
        db[o] /= 2;
    if (db)
        T_NEAR(worst(spec->out, db, want_b), 0, tolerance(spec), "%s: db added",
               name);
    free(want);
    free(got);
    free(db);
}

static void
agrees_with_plain(struct num_dnn *dnn, const struct num_conv_spec *shape)
{
    struct num_conv_spec spec = *shape;
    struct num_conv *conv;
    struct data d;
    char name[96];

    snprintf(name, sizeof name, "%zux%zux%zu to %zu, k %zu, stride %zu%s%s, %d",
             spec.in.c, spec.in.h, spec.in.w, spec.out, spec.kernel,
             spec.stride, spec.in.bf16 ? ", halves" : "",
             spec.how == NUM_CONV_WINOGRAD ? ", Winograd" : "",
             omp_get_max_threads());
    if (spec.in.bf16 && !num_dnn_bf16()) {
        T_SKIP(name, "no AVX-512");
        return;
    }
    spec.train = 1;
    spec.back_data = spec.in.c > 3;
    conv = num_conv_new(dnn, &spec);
    T(conv != NULL, "%s: %s", name, num_conv_name(conv, NUM_CONV_FORWARD));
    d = data_of(&spec, conv);
    forward_is_the_sum(&spec, conv, &d, name);
    if (spec.back_data)
        gradient_of_x_is_the_sum(&spec, conv, &d, name);
    gradient_of_w_is_the_sum(&spec, conv, &d, name);
    data_release(&d);
    num_conv_free(conv);
}

/* y = max(0, y + b + sum), as in inference. */
static void
adds_and_clips(struct num_dnn *dnn, int winograd)
{
    struct num_conv_spec spec = {.in = {2, 32, 7, 9, 16, 0},
                                 .out = 32,
                                 .block = 16,
                                 .kernel = 3,
                                 .stride = 1,
                                 .pad = 1,
                                 .bias = 1,
                                 .relu = 1,
                                 .add = 1,
                                 .how = winograd ? NUM_CONV_WINOGRAD
                                                 : NUM_CONV_DIRECT};
    struct num_conv *conv = num_conv_new(dnn, &spec);
    struct data d = data_of(&spec, conv);

    num_conv_run(
        conv, NUM_CONV_FORWARD,
        &(struct num_conv_args){
            .x = d.mx, .w = d.w, .b = d.b, .y = d.mdy, .scratch = d.scratch});
    plain_conv_forward(&spec, d.x, d.w, d.b, d.dy);
    T_NEAR(map_worst(&d.out, d.mdy, d.dy), 0, tolerance(&spec),
           "added to y, then clipped%s", winograd ? ", Winograd" : "");
    data_release(&d);
    num_conv_free(conv);
}

/* A kernel that is 1 in the middle copies the image. */
static void
identity_kernel_copies(struct num_dnn *dnn)
{
    struct num_conv_spec spec = {.in = {1, 32, 6, 6, 16, 0},
                                 .out = 32,
                                 .block = 16,
                                 .kernel = 3,
                                 .stride = 1,
                                 .pad = 1,
                                 .how = NUM_CONV_DIRECT};
    struct num_conv *conv = num_conv_new(dnn, &spec);
    struct data d = data_of(&spec, conv);

    memset(d.w, 0, d.weights * sizeof *d.w);
    for (size_t k = 0; k < 32; k++)
        d.w[(k * 32 + k) * 9 + 4] = 1;
    num_conv_run(conv, NUM_CONV_FORWARD,
                 &(struct num_conv_args){
                     .x = d.mx, .w = d.w, .y = d.mdy, .scratch = d.scratch});
    T(map_worst(&d.out, d.mdy, d.x) == 0, "the identity kernel");
    T(!strcmp(num_conv_name(conv, NUM_CONV_BACK_DATA), "-"),
      "a pass that is not computed has no name");
    data_release(&d);
    num_conv_free(conv);
}

/* Loops in plain C would take a hundred times as long. */
static void
nothing_is_slow(struct num_dnn *dnn)
{
    static const size_t shapes[][4] = {
        // c, out, kernel, stride
        {3, 16, 3, 1},  {3, 64, 7, 2},  {16, 16, 3, 1},
        {16, 32, 3, 2}, {16, 32, 1, 2}, {64, 16, 1, 1},
    };

    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const size_t *s = shapes[i / 2];
        struct num_conv_spec spec = {
            .in = {2, s[0], 16, 16, num_map_block(s[0]), 0},
            .out = s[1],
            .block = num_map_block(s[1]),
            .kernel = s[2],
            .stride = s[3],
            .pad = s[2] / 2,
            .how = i % 2 ? NUM_CONV_DIRECT : NUM_CONV_TABLE,
            .train = 1,
            .back_data = s[0] > 3};
        struct num_conv *conv = num_conv_new(dnn, &spec);
        const char *name[3];
        int slow = 0;

        for (int pass = 0; pass < 3; pass++) {
            name[pass] = num_conv_name(conv, (enum num_conv_pass)pass);
            slow += !strncmp(name[pass], "ref", 3);
        }
        T(!slow, "%zu to %zu, k %zu/%zu: %s, %s, %s", s[0], s[1], s[2], s[3],
          name[0], name[1], name[2]);
        num_conv_free(conv);
    }
}

int
main(void)
{
    struct num_dnn *dnn = num_dnn_new();

    for (int threads = 1; threads <= 2; threads++) {
        num_threads(threads);
        for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
            agrees_with_plain(dnn, &specs[i]);
    }
    num_threads(1);
    adds_and_clips(dnn, 0);
    adds_and_clips(dnn, 1);
    identity_kernel_copies(dnn);
    nothing_is_slow(dnn);
    num_conv_free(NULL);
    num_dnn_free(dnn);
    num_dnn_free(NULL);
    return t_done();
}
