#include "num/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/threads.h"
#include "plain_conv.h"
#include "t.h"
#include "util/err.h"

/* n images of h x w pixels, from c channels to o. */
struct shape {
    size_t n, c, h, w, o, kernel, stride, pad;
};

/* One pixel, borders on all sides, strides that leave a remainder and kernels
 * that leave pixels out or lie outside of the image, half a tile of channels on
 * either side, lines of less and of more than a product, one block of images,
 * several, some lines of an image, and more blocks than parts. */
static const struct shape shapes[] = {
    {5, 32, 1, 1, 48, 3, 1, 1},    {70, 16, 2, 2, 32, 3, 1, 1},
    {3, 48, 2, 3, 16, 3, 1, 1},    {2, 16, 5, 7, 32, 3, 2, 1},
    {3, 32, 4, 4, 64, 3, 2, 1},    {4, 16, 5, 6, 48, 1, 2, 0},
    {2, 16, 9, 8, 16, 5, 3, 2},    {2, 32, 3, 4, 16, 3, 1, 0},
    {1, 16, 1, 2, 16, 5, 2, 2},    {7, 64, 1, 1, 32, 1, 1, 0},
    {3, 32, 17, 33, 32, 3, 1, 1},  {2, 16, 8, 9, 16, 1, 1, 0},
    {1, 16, 150, 3, 16, 3, 1, 1},  {2, 16, 6, 5, 16, 2, 3, 0},
    {1, 512, 24, 24, 16, 1, 2, 0}, {2, 16, 3, 3, 16, 3, 1, 3},
    {1, 16, 1100, 3, 16, 3, 1, 1},
};

static struct num_conv_spec
spec_of(const struct shape *s)
{
    return (struct num_conv_spec){.in = {s->n, s->c, s->h, s->w, 16, 1},
                                  .out = s->o,
                                  .block = 16,
                                  .kernel = s->kernel,
                                  .stride = s->stride,
                                  .pad = s->pad};
}

/* Whole numbers from -most to most, whose sums of products are exact. */
static float *
whole(size_t n, int most, uint64_t use)
{
    float *x = normal(n, use);

    for (size_t i = 0; i < n; i++)
        x[i] = fmaxf(-(float)most, fminf((float)most, roundf(2 * x[i])));
    return x;
}

/* Plain numbers of a shape, and the same as maps. */
struct data {
    struct num_conv_spec spec;
    struct num_map out;
    size_t x_size, y_size, w_size;
    float *x, *w, *b, *dy, *y, *dx, *dw; /* the last three: expected */
    void *mx, *mdy, *my;                 /* my: y before adding */
};

static struct data
data_of(const struct shape *s)
{
    struct data d = {.spec = spec_of(s)};

    d.out = num_conv_out(&d.spec);
    d.x_size = num_map_size(&d.spec.in);
    d.y_size = num_map_size(&d.out);
    d.w_size = s->o * s->c * s->kernel * s->kernel;
    d.x = whole(d.x_size, 4, 1);
    d.w = whole(d.w_size, 3, 2);
    d.b = whole(s->o, 9, 3);
    d.dy = whole(d.y_size, 4, 4);
    d.y = whole(d.y_size, 9, 5);
    d.dx = mem_array(d.x_size, sizeof *d.dx);
    d.dw = mem_array(d.w_size, sizeof *d.dw);
    d.mx = packed(&d.spec.in, d.x);
    d.mdy = packed(&d.out, d.dy);
    d.my = packed(&d.out, d.y);
    plain_conv_back_data(&d.spec, d.dy, d.w, d.dx);
    plain_conv_back_weights(&d.spec, d.x, d.dy, d.dw, NULL);
    rounded(&d.spec.in, d.dx);
    return d;
}

static void
data_release(struct data *d)
{
    void *all[] = {d->x,  d->w,  d->b,  d->dy,  d->y,
                   d->dx, d->dw, d->mx, d->mdy, d->my};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* Scratch of a pass, full of NaN: nothing is read before it is written. */
static void *
scratch_of(const struct num_tiles *tiles, enum num_conv_pass pass)
{
    const size_t bytes = num_tiles_scratch(tiles, pass);
    void *scratch = mem_aligned(bytes, 1);

    memset(scratch, 0xff, bytes);
    return scratch;
}

static struct num_tiles
tiles_of(const struct num_conv_spec *spec, const struct tile_kernel *kernel,
         int threads)
{
    struct num_tiles tiles;

    num_threads(threads);
    REQUIRE(!num_tiles_init(&tiles, spec, kernel));
    return tiles;
}

/* y, or with add and relu max(0, y + .): exactly. */
static int
forward_is_exact(const struct data *d, const struct tile_kernel *kernel,
                 int threads, int merged)
{
    struct num_conv_spec spec = d->spec;
    struct num_tiles tiles;
    float *want = mem_array(d->y_size, sizeof *want);
    void *y = empty(&d->out), *scratch;
    int same;

    spec.add = spec.relu = merged;
    tiles = tiles_of(&spec, kernel, threads);
    scratch = scratch_of(&tiles, NUM_CONV_FORWARD);
    memcpy(want, d->y, d->y_size * sizeof *want);
    memcpy(y, d->my, num_map_bytes(&d->out));
    plain_conv_forward(&spec, d->x, d->w, merged ? d->b : NULL, want);
    num_tiles_run(&tiles, NUM_CONV_FORWARD,
                  &(struct num_conv_args){.x = d->mx,
                                          .w = d->w,
                                          .b = merged ? d->b : NULL,
                                          .y = y,
                                          .scratch = scratch});
    rounded(&d->out, want);
    same = map_worst(&d->out, y, want) == 0;
    free(want);
    free(y);
    free(scratch);
    return same;
}

static int
back_data_is_exact(const struct data *d, const struct tile_kernel *kernel,
                   int threads)
{
    struct num_tiles tiles = tiles_of(&d->spec, kernel, threads);
    void *dx = empty(&d->spec.in);
    void *scratch = scratch_of(&tiles, NUM_CONV_BACK_DATA);
    int same;

    memset(dx, 0xff, num_map_bytes(&d->spec.in));
    num_tiles_run(&tiles, NUM_CONV_BACK_DATA,
                  &(struct num_conv_args){
                      .dy = d->mdy, .w = d->w, .dx = dx, .scratch = scratch});
    same = map_worst(&d->spec.in, dx, d->dx) == 0;
    free(dx);
    free(scratch);
    return same;
}

/* Overwritten, then added to. */
static int
back_weights_is_exact(const struct data *d, const struct tile_kernel *kernel,
                      int threads)
{
    struct num_tiles tiles = tiles_of(&d->spec, kernel, threads);
    float *dw = mem_array(d->w_size, sizeof *dw);
    void *scratch = scratch_of(&tiles, NUM_CONV_BACK_WEIGHTS);
    int same = 1;

    memset(dw, 0xff, d->w_size * sizeof *dw);
    for (int add = 0; add < 2; add++) {
        num_tiles_run(&tiles, NUM_CONV_BACK_WEIGHTS,
                      &(struct num_conv_args){.x = d->mx,
                                              .dy = d->mdy,
                                              .dw = dw,
                                              .accumulate = add,
                                              .scratch = scratch});
        for (size_t i = 0; i < d->w_size; i++)
            same &= dw[i] == (float)(add + 1) * d->dw[i];
    }
    free(dw);
    free(scratch);
    return same;
}

static void
sums_are_exact(const struct shape *s, const struct tile_kernel *kernel)
{
    struct data d = data_of(s);
    char name[128];

    for (int threads = 1; threads <= 3; threads++) {
        snprintf(name, sizeof name,
                 "%s, %d threads, %zu x %zux%zux%zu to %zu, kernel %zu/%zu",
                 kernel->name, threads, s->n, s->c, s->h, s->w, s->o, s->kernel,
                 s->stride);
        T(forward_is_exact(&d, kernel, threads, 0), "%s: y", name);
        T(forward_is_exact(&d, kernel, threads, 1),
          "%s: y with bias, added and clipped", name);
        T(back_data_is_exact(&d, kernel, threads), "%s: dx", name);
        T(back_weights_is_exact(&d, kernel, threads), "%s: dw", name);
    }
    num_threads(1);
    data_release(&d);
}

static void
reads_no_other_maps(const struct tile_kernel *kernel)
{
    const struct num_conv_spec good = spec_of(&shapes[0]);
    struct num_conv_spec in = good, out = good, single = good;
    struct num_tiles tiles;

    in.in.block = 8;
    out.block = 1;
    single.in.bf16 = 0;
    T(!num_tiles_init(&tiles, &good, kernel), "blocks of 16 of bfloat16");
    T(num_tiles_init(&tiles, &in, kernel) == -1, "blocks of 8 are refused");
    T(num_tiles_init(&tiles, &out, kernel) == -1, "plain maps are refused");
    T(num_tiles_init(&tiles, &single, kernel) == -1, "f32 is refused");
    T(num_tiles_init(&tiles, &good, NULL) == -1,
      "a layer without a kernel is refused");
}

/* Element i of dw, and its sum in double. */
static double
sum_of_weight(const struct num_conv_spec *s, const float *x, const float *dy,
              size_t o, size_t k)
{
    const size_t pixels = s->in.h * s->in.w;
    double sum = 0;

    for (size_t i = 0; i < s->in.n; i++)
        for (size_t p = 0; p < pixels; p++)
            sum += (double)x[(i * s->in.c + k) * pixels + p] *
                   dy[(i * s->out + o) * pixels + p];
    return sum;
}

/* Normal numbers, a kernel of 1x1: sums of 2,048 pixels, and of 512 channels.
 */
static void
sums_are_near(const struct tile_kernel *kernel, int threads, float *dw)
{
    const struct num_conv_spec spec = {.in = {8, 512, 16, 16, 16, 1},
                                       .out = 32,
                                       .block = 16,
                                       .kernel = 1,
                                       .stride = 1};
    const struct num_map out = num_conv_out(&spec);
    struct num_tiles tiles = tiles_of(&spec, kernel, threads);
    float *x = normal(num_map_size(&spec.in), 6);
    float *dy = normal(num_map_size(&out), 7);
    void *mx = packed(&spec.in, x), *mdy = packed(&out, dy);
    void *scratch = scratch_of(&tiles, NUM_CONV_BACK_WEIGHTS);
    double off = 0;

    rounded(&spec.in, x);
    rounded(&out, dy);
    num_tiles_run(&tiles, NUM_CONV_BACK_WEIGHTS,
                  &(struct num_conv_args){
                      .x = mx, .dy = mdy, .dw = dw, .scratch = scratch});
    for (size_t o = 0; o < spec.out; o += 5)
        for (size_t k = 0; k < spec.in.c; k += 17)
            off = fmax(off, fabs(sum_of_weight(&spec, x, dy, o, k) -
                                 dw[o * spec.in.c + k]));
    T_NEAR(off / sqrt(8 * 256), 0, 1e-5, "%s: dw, %d threads", kernel->name,
           threads);
    num_threads(1);
    free(x);
    free(dy);
    free(mx);
    free(mdy);
    free(scratch);
}

static void
threads_change_no_bit(const struct tile_kernel *kernel)
{
    enum { SIZE = 512 * 32 };
    static float one[SIZE], two[SIZE];

    sums_are_near(kernel, 1, one);
    sums_are_near(kernel, 2, two);
    T(!memcmp(one, two, sizeof one), "%s: two threads compute the same dw",
      kernel->name);
}

static void
try_kernel(const struct tile_kernel *kernel)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        sums_are_exact(&shapes[i], kernel);
    threads_change_no_bit(kernel);
}

int
main(void)
{
    reads_no_other_maps(&num_tile_plain);
    try_kernel(&num_tile_plain);
    if (num_tile_kernel())
        try_kernel(num_tile_kernel());
    else
        T_SKIP("by AMX", "no AMX");
    return t_done();
}
