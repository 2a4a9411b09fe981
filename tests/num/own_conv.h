#pragma once

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "maps.h"
#include "num/threads.h"
#include "num/winograd.h"
#include "num/winograd_isa.h"
#include "t.h"
#include "util/err.h"

/*
 * Shared by the tests of foil's convolutions: the definition in double, the
 * three passes of an instruction set, and their checks.  The including file
 * defines OWN(f) as the function f of the convolution, own as its struct, and
 * NAME as the field that names it.
 */

/* n images of h x w pixels, from c channels to o. */
struct shape {
    size_t n, c, h, w, o, kernel, stride, pad;
};

/* The equations of num/conv.h, in double. */
struct naive {
    struct num_conv_spec spec;
    float *x, *w, *dy;
    double *y, *dx, *dw;
    size_t x_size, y_size, w_size;
};

static struct num_conv_spec
spec_of(const struct shape *s, const struct winograd_isa *isa, int bf16)
{
    return (struct num_conv_spec){
        .in = {s->n, s->c, s->h, s->w, isa->lanes, bf16},
        .out = s->o,
        .block = isa->lanes,
        .kernel = s->kernel,
        .stride = s->stride,
        .pad = s->pad};
}

/* One tap of one pair of channels of one image. */
static void
add_tap(const struct shape *s, struct naive *v, size_t i, size_t o, size_t k,
        size_t tap)
{
    const struct num_map map = num_conv_out(&v->spec);
    const size_t r = tap / s->kernel, q = tap % s->kernel;
    const size_t at = (o * s->c + k) * s->kernel * s->kernel + tap;
    const size_t from = (i * s->c + k) * s->h * s->w;
    const size_t to = (i * s->o + o) * map.h * map.w;
    double sum = 0;

    for (size_t p = 0; p < map.h; p++)
        for (size_t z = 0; z < map.w; z++) {
            const size_t y = p * s->stride + r - s->pad;
            const size_t x = z * s->stride + q - s->pad;
            const size_t in = from + y * s->w + x, out = to + p * map.w + z;

            if (y >= s->h || x >= s->w) // or below 0
                continue;
            v->y[out] += (double)v->w[at] * v->x[in];
            v->dx[in] += (double)v->w[at] * v->dy[out];
            sum += (double)v->x[in] * v->dy[out];
        }
    v->dw[at] += sum;
}

static struct naive
naive_of(const struct shape *s)
{
    const size_t taps = s->kernel * s->kernel;
    struct naive v = {.spec = spec_of(s, num_winograd_isa(2), 0)};
    struct num_map out = num_conv_out(&v.spec);

    v.x_size = num_map_size(&v.spec.in);
    v.y_size = num_map_size(&out);
    v.w_size = s->o * s->c * taps;

    v.x = normal(v.x_size, 1);
    v.w = normal(v.w_size, 2);
    v.dy = normal(v.y_size, 3);
    v.y = mem_array(v.y_size, sizeof *v.y);
    v.dx = mem_array(v.x_size, sizeof *v.dx);
    v.dw = mem_array(v.w_size, sizeof *v.dw);
    for (size_t i = 0; i < s->n; i++)
        for (size_t o = 0; o < s->o; o++)
            for (size_t kt = 0; kt < s->c * taps; kt++)
                add_tap(s, &v, i, o, kt / taps, kt % taps);
    return v;
}

static void
naive_release(struct naive *v)
{
    void *all[] = {v->x, v->w, v->dy, v->y, v->dx, v->dw};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

/* The result of an instruction set, as plain numbers. */
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

/* Scratch of a pass, full of NaN: nothing is read before it is written. */
static void *
scratch_of(const own *conv, enum num_conv_pass pass)
{
    size_t bytes = OWN(scratch)(conv, pass);
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
    own conv;
    struct result r = {mem_array(v->y_size, sizeof *r.y),
                       mem_array(v->x_size, sizeof *r.dx),
                       mem_array(v->w_size, sizeof *r.dw)};
    void *x = packed(&spec.in, v->x), *dy = packed(&out, v->dy);
    void *y = empty(&out), *dx = empty(&spec.in), *scratch[3];

    num_threads(threads);
    REQUIRE(!OWN(init)(&conv, &spec, isa));
    for (int i = 0; i < 3; i++)
        scratch[i] = scratch_of(&conv, (enum num_conv_pass)i);
    for (int i = 0; i < 3; i++)
        OWN(run)
    (&conv, (enum num_conv_pass)i,
     &(struct num_conv_args){.x = x,
                             .dy = dy,
                             .y = y,
                             .dx = dx,
                             .w = v->w,
                             .dw = r.dw,
                             .scratch = scratch[i]});
    map_get(&out, y, r.y);
    map_get(&spec.in, dx, r.dx);
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
                       double bound, const char *name)
{
    for (int threads = 2; threads <= 3; threads++) {
        struct result r = run(s, v, isa, threads, 0);
        struct result again = run(s, v, isa, threads, 0);

        T(!memcmp(r.y, one->y, v->y_size * sizeof *r.y) &&
              !memcmp(r.dx, one->dx, v->x_size * sizeof *r.dx),
          "%s: %d threads compute the same y and dx", name, threads);
        T(!memcmp(r.dw, again.dw, v->w_size * sizeof *r.dw),
          "%s: %d threads compute the same dw each time", name, threads);
        T_NEAR(error_of(v->w_size, r.dw, v->dw), 0, bound, "%s: %d threads: dw",
               name, threads);
        result_release(&r);
        result_release(&again);
    }
}

/* Of bfloat16 inputs, results are those of f32, rounded. */
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

/* Loops of an instruction set do not depend on threads: threads are tried with
 * one whose blocks have 8 channels, which fit all shapes. */
enum { THREADED_ISA = 1 };

/* bound: of y and dx, and of dw. */
static void
agrees(const struct shape *s, const struct naive *v,
       const struct winograd_isa *isa, const double bound[2])
{
    struct result r = run(s, v, isa, 1, 0);
    char name[128];

    snprintf(name, sizeof name, "%s, %zu x %zux%zux%zu to %zu, kernel %zu/%zu",
             isa->NAME, s->n, s->c, s->h, s->w, s->o, s->kernel, s->stride);
    T_NEAR(error_of(v->y_size, r.y, v->y), 0, bound[0], "%s: y", name);
    T_NEAR(error_of(v->x_size, r.dx, v->dx), 0, bound[0], "%s: dx", name);
    T_NEAR(error_of(v->w_size, r.dw, v->dw), 0, bound[1], "%s: dw", name);
    gradients_are_of_y(v, &r, name);
    if (isa == num_winograd_isa(THREADED_ISA))
        threads_change_nothing(s, v, isa, &r, bound[1], name);
    halves_are_rounded_once(s, isa, *v, name);
    result_release(&r);
}

/* All shapes with each instruction set that has blocks for them. */
static void
all_agree(size_t n, const struct shape *shapes, const double bound[2])
{
    for (size_t k = 0; k < n; k++) {
        struct naive v = naive_of(&shapes[k]);

        for (size_t i = 0; i < WINOGRAD_ISAS; i++)
            if (shapes[k].c % num_winograd_isa(i)->lanes == 0)
                agrees(&shapes[k], &v, num_winograd_isa(i), bound);
        naive_release(&v);
    }
}
