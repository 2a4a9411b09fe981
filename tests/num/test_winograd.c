#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/threads.h"
#include "num/winograd.h"
#include "num/winograd_isa.h"
#include "t.h"
#include "util/err.h"

/* n images of h x w pixels, from c channels to o: tiles that do not fill, one
 * pixel, an odd number of vectors, few and many channels, threads that work
 * apart and together, on one group of tiles and on several. */
static const struct shape {
    size_t n, c, h, w, o;
} shapes[] = {
    {2, 16, 1, 1, 16},   {1, 16, 2, 3, 32},   {3, 32, 4, 4, 16},
    {2, 48, 5, 7, 32},   {1, 16, 33, 33, 48}, {1, 64, 33, 9, 64},
    {2, 144, 6, 8, 144}, {1, 512, 4, 4, 512}, {10, 1024, 9, 9, 32},
    {5, 1024, 9, 9, 80}, {1, 8, 5, 6, 24},    {2, 128, 16, 16, 64},
};

/* The largest error over the rms of y and dx, and of dw. */
static const double bound[2] = {4e-5, 1e-5};

/* The equations of num/conv.h, in double. */
struct naive {
    float *x, *w, *dy;
    double *y, *dx, *dw;
    size_t x_size, y_size, w_size;
};

/* One tap of one pair of channels of one image. */
static void
add_tap(const struct shape *s, struct naive *v, size_t i, size_t o, size_t k,
        size_t tap)
{
    const size_t pixels = s->h * s->w, r = tap / 3, q = tap % 3;
    const size_t at = (o * s->c + k) * 9 + tap;
    const size_t from = (i * s->c + k) * pixels, to = (i * s->o + o) * pixels;
    double sum = 0;

    for (size_t y = r ? 0 : 1; y < s->h && y + r < s->h + 1; y++)
        for (size_t x = q ? 0 : 1; x < s->w && x + q < s->w + 1; x++) {
            const size_t in = from + (y + r - 1) * s->w + x + q - 1;
            const size_t out = to + y * s->w + x;

            v->y[out] += (double)v->w[at] * v->x[in];
            v->dx[in] += (double)v->w[at] * v->dy[out];
            sum += (double)v->x[in] * v->dy[out];
        }
    v->dw[at] += sum;
}

static struct naive
naive_of(const struct shape *s)
{
    struct naive v = {.x_size = s->n * s->c * s->h * s->w,
                      .y_size = s->n * s->o * s->h * s->w,
                      .w_size = s->o * s->c * 9};

    v.x = normal(v.x_size, 1);
    v.w = normal(v.w_size, 2);
    v.dy = normal(v.y_size, 3);
    v.y = mem_array(v.y_size, sizeof *v.y);
    v.dx = mem_array(v.x_size, sizeof *v.dx);
    v.dw = mem_array(v.w_size, sizeof *v.dw);
    for (size_t i = 0; i < s->n; i++)
        for (size_t o = 0; o < s->o; o++)
            for (size_t kt = 0; kt < s->c * 9; kt++)
                add_tap(s, &v, i, o, kt / 9, kt % 9);
    return v;
}

static void
naive_release(struct naive *v)
{
    void *all[] = {v->x, v->w, v->dy, v->y, v->dx, v->dw};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* What an instruction set makes of it, as plain numbers. */
struct result {
    float *y, *dx, *dw;
};

static void
result_release(struct result *r)
{
    free(r->y);
    free(r->dx);
    free(r->dw);
}

static struct num_conv_spec
spec_of(const struct shape *s, const struct winograd_isa *isa, int bf16)
{
    return (struct num_conv_spec){
        .in = {s->n, s->c, s->h, s->w, isa->lanes, bf16},
        .out = s->o,
        .block = isa->lanes,
        .kernel = 3,
        .stride = 1,
        .pad = 1};
}

/* Scratch of a pass, full of NaN: nothing is read before it is written. */
static void *
scratch_of(const struct num_winograd *wino, enum num_conv_pass pass)
{
    size_t bytes = num_winograd_scratch(wino, pass);
    void *scratch = mem_aligned(bytes, 1);

    memset(scratch, 0xff, bytes);
    return scratch;
}

static struct result
run(const struct shape *s, const struct naive *v,
    const struct winograd_isa *isa, int threads, int bf16)
{
    struct num_conv_spec spec = spec_of(s, isa, bf16);
    struct num_map out = num_conv_out(&spec);
    struct num_winograd wino;
    struct result r = {mem_array(v->y_size, sizeof *r.y),
                       mem_array(v->x_size, sizeof *r.dx),
                       mem_array(v->w_size, sizeof *r.dw)};
    void *x = packed(&spec.in, v->x), *dy = packed(&out, v->dy);
    void *y = empty(&out), *dx = empty(&spec.in), *scratch[3];

    num_threads(threads);
    REQUIRE(!num_winograd_init(&wino, &spec, isa));
    for (int i = 0; i < 3; i++)
        scratch[i] = scratch_of(&wino, (enum num_conv_pass)i);
    num_winograd_forward(&wino, x, v->w, NULL, y, scratch[0]);
    num_winograd_back_data(&wino, dy, v->w, dx, scratch[1]);
    num_winograd_back_weights(&wino, x, dy, r.dw, 0, scratch[2]);
    num_map_get(&out, y, r.y);
    num_map_get(&spec.in, dx, r.dx);
    for (int i = 0; i < 3; i++)
        free(scratch[i]);
    free(x);
    free(dy);
    free(y);
    free(dx);
    num_threads(1);
    return r;
}

static double
error_of(size_t n, const float *got, const double *want)
{
    double square = 0, off = 0;

    for (size_t i = 0; i < n; i++) {
        square += want[i] * want[i];
        off = fmax(off, fabs((double)got[i] - want[i]));
    }
    return off / sqrt(square / (double)n);
}

static double
dot(size_t n, const float *a, const float *b)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (double)a[i] * b[i];
    return sum;
}

/* <dy, y> = <dx, x> = <dw, w>: each gradient is that of y. */
static void
gradients_are_of_y(const struct naive *v, const struct result *r,
                   const char *name)
{
    double y = dot(v->y_size, v->dy, r->y), dx = dot(v->x_size, v->x, r->dx);
    double dw = dot(v->w_size, v->w, r->dw);
    double scale =
        sqrt(dot(v->y_size, v->dy, v->dy) * dot(v->y_size, r->y, r->y));

    T_NEAR(dx / scale, y / scale, 1e-6, "%s: <dx, x> is <dy, y>", name);
    T_NEAR(dw / scale, y / scale, 1e-6, "%s: <dw, w> is <dy, y>", name);
}

static void
threads_change_nothing(const struct shape *s, const struct naive *v,
                       const struct winograd_isa *isa, const struct result *one,
                       const char *name)
{
    for (int threads = 2; threads <= 3; threads++) {
        struct result r = run(s, v, isa, threads, 0);
        struct result again = run(s, v, isa, threads, 0);

        T(!memcmp(r.y, one->y, v->y_size * sizeof *r.y) &&
              !memcmp(r.dx, one->dx, v->x_size * sizeof *r.dx),
          "%s: %d threads make the same y and dx", name, threads);
        T(!memcmp(r.dw, again.dw, v->w_size * sizeof *r.dw),
          "%s: %d threads make the same dw each time", name, threads);
        T_NEAR(error_of(v->w_size, r.dw, v->dw), 0, bound[1],
               "%s: %d threads: dw", name, threads);
        result_release(&r);
        result_release(&again);
    }
}

/* Of numbers that are bfloat16 already, results are those of f32, rounded. */
static void
halves_are_rounded_once(const struct shape *s, const struct winograd_isa *isa,
                        struct naive v, const char *name)
{
    struct num_conv_spec spec = spec_of(s, isa, 1);
    struct num_map out = num_conv_out(&spec);
    struct result single, half;

    v.x = normal(v.x_size, 4);
    v.dy = normal(v.y_size, 5);
    rounded(&spec.in, v.x);
    rounded(&out, v.dy);
    single = run(s, &v, isa, 1, 0);
    half = run(s, &v, isa, 1, 1);
    rounded(&out, single.y);
    rounded(&spec.in, single.dx);
    T(!memcmp(single.y, half.y, v.y_size * sizeof *half.y) &&
          !memcmp(single.dx, half.dx, v.x_size * sizeof *half.dx) &&
          !memcmp(single.dw, half.dw, v.w_size * sizeof *half.dw),
      "%s: bfloat16 maps are rounded once", name);
    result_release(&single);
    result_release(&half);
    free(v.x);
    free(v.dy);
}

static void
agrees(const struct shape *s, const struct naive *v,
       const struct winograd_isa *isa)
{
    struct result r = run(s, v, isa, 1, 0);
    char name[128];

    snprintf(name, sizeof name, "%s, %zu x %zux%zux%zu to %zu", isa->name, s->n,
             s->c, s->h, s->w, s->o);
    T_NEAR(error_of(v->y_size, r.y, v->y), 0, bound[0], "%s: y", name);
    T_NEAR(error_of(v->x_size, r.dx, v->dx), 0, bound[0], "%s: dx", name);
    T_NEAR(error_of(v->w_size, r.dw, v->dw), 0, bound[1], "%s: dw", name);
    gradients_are_of_y(v, &r, name);
    threads_change_nothing(s, v, isa, &r, name);
    halves_are_rounded_once(s, isa, *v, name);
    result_release(&r);
}

static void
refuses_other_shapes(const struct winograd_isa *isa)
{
    const struct shape any = {1, 16, 8, 8, 16};
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
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        struct naive v = naive_of(&shapes[k]);

        for (size_t i = 0; i < WINOGRAD_ISAS; i++)
            if (shapes[k].c % num_winograd_isa(i)->lanes == 0)
                agrees(&shapes[k], &v, num_winograd_isa(i));
        naive_release(&v);
    }
    return t_done();
}
