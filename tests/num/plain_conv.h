#pragma once

#include <stddef.h>
#include <string.h>

#include "num/conv.h"

/* The equation of num/conv.h in loops, for plain f32 maps. */

/*
 * For all products w x y of the equation, adds the product of two factors to
 * the third: to y forward, to x for its gradient, to w for its gradient.
 */
static inline void
add_products(const struct num_conv_spec *c, enum num_conv_pass pass, float *x,
             float *w, float *y, size_t i, size_t o)
{
    struct num_map out = num_conv_out(c);
    size_t taps = c->kernel * c->kernel;

    for (size_t p = 0; p < out.h; p++)
        for (size_t q = 0; q < out.w; q++)
            for (size_t kt = 0; kt < c->in.c * taps; kt++) {
                size_t k = kt / taps, r = kt % taps / c->kernel;
                size_t row = p * c->stride + r;
                size_t col = q * c->stride + kt % c->kernel;
                float *px, *pw, *py;

                if (row < c->pad || row >= c->in.h + c->pad || col < c->pad ||
                    col >= c->in.w + c->pad)
                    continue;
                px = x +
                     ((i * c->in.c + k) * c->in.h + row - c->pad) * c->in.w +
                     col - c->pad;
                pw = w + o * c->in.c * taps + kt;
                py = y + ((i * c->out + o) * out.h + p) * out.w + q;
                if (pass == NUM_CONV_FORWARD)
                    *py += *px * *pw;
                else if (pass == NUM_CONV_BACK_DATA)
                    *px += *py * *pw;
                else
                    *pw += *px * *py;
            }
}

static inline void
add_all_products(const struct num_conv_spec *spec, enum num_conv_pass pass,
                 float *x, float *w, float *y)
{
    for (size_t i = 0; i < spec->in.n; i++)
        for (size_t o = 0; o < spec->out; o++)
            add_products(spec, pass, x, w, y, i, o);
}

static inline void
plain_conv_forward(const struct num_conv_spec *spec, const float *x,
                   const float *w, const float *b, float *y)
{
    struct num_map out = num_conv_out(spec);
    size_t size = num_map_size(&out), pixels = out.h * out.w;

    for (size_t at = 0; at < size; at++) {
        y[at] = spec->add ? y[at] : 0;
        if (b)
            y[at] += b[at / pixels % out.c];
    }
    add_all_products(spec, NUM_CONV_FORWARD, (float *)x, (float *)w, y);
    for (size_t at = 0; spec->relu && at < size; at++)
        y[at] = y[at] > 0 ? y[at] : 0;
}

static inline void
plain_conv_back_data(const struct num_conv_spec *spec, const float *dy,
                     const float *w, float *dx)
{
    memset(dx, 0, num_map_size(&spec->in) * sizeof *dx);
    add_all_products(spec, NUM_CONV_BACK_DATA, dx, (float *)w, (float *)dy);
}

static inline void
plain_conv_back_weights(const struct num_conv_spec *spec, const float *x,
                        const float *dy, float *dw, float *db)
{
    struct num_map out = num_conv_out(spec);
    size_t taps = spec->kernel * spec->kernel, pixels = out.h * out.w;

    memset(dw, 0, spec->out * spec->in.c * taps * sizeof *dw);
    add_all_products(spec, NUM_CONV_BACK_WEIGHTS, (float *)x, dw, (float *)dy);
    if (!db)
        return;
    memset(db, 0, spec->out * sizeof *db);
    for (size_t at = 0; at < num_map_size(&out); at++)
        db[at / pixels % out.c] += dy[at];
}
