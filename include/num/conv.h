#pragma once

#include "num/dnn.h"
#include "num/map.h"

/*
 * Convolution of maps, and the two gradients:
 *
 *     y(i, o, p, q) = b_o + sum_{k,r,s} w(o, k, r, s)
 *                           x(i, k, p stride + r - pad, q stride + s - pad)
 *
 * with x = 0 outside.  Weights are plain f32 [out,in,kernel,kernel] (OIHW) for
 * all maps: each call converts them to the layout that it needs, in scratch.
 * Products of bfloat16 maps are summed in f32, and gradients of weights are
 * f32.
 *
 * A table by shape (lib/num/conv.c), which does not depend on any timing,
 * selects the algorithm of each pass:
 *
 *     Winograd   F(4x4, 3x3) of Lavin and Gray 2016, arXiv:1509.09308, if it is
 *                the fastest (lib/num/winograd.h)
 *     tiles      products by AMX, for bfloat16 maps if the processor has it
 *                (lib/num/tiles.h)
 *     taps       a product for each tap (lib/num/taps.h), on small maps, and
 *                without AVX2, for which oneDNN has only loops in plain C
 *     direct     else oneDNN's direct sums
 *
 * The error of Winograd is about 1e-5 of the rms of y, that of the others 1e-6.
 */
enum num_conv_how {
    NUM_CONV_TABLE,
    NUM_CONV_DIRECT,       /* no Winograd: oneDNN's, or taps if that is slow */
    NUM_CONV_WINOGRAD,     /* foil's, if it supports the shape */
    NUM_CONV_TAPS,         /* foil's taps, if they support the shape */
    NUM_CONV_TILES,        /* foil's tiles by AMX, if they support the shape */
    NUM_CONV_DNN_WINOGRAD, /* oneDNN's Winograd, if any: for comparison */
};

enum num_conv_pass {
    NUM_CONV_FORWARD,
    NUM_CONV_BACK_DATA,
    NUM_CONV_BACK_WEIGHTS
};

struct num_conv_spec {
    struct num_map in;
    size_t out, block; /* channels of y, and their block */
    size_t kernel, stride, pad;
    int bias;
    enum num_conv_how how;
    int train;     /* 1: prepare NUM_CONV_BACK_WEIGHTS */
    int back_data; /* 1: prepare NUM_CONV_BACK_DATA */
    int relu;      /* only without train: y = max(y, 0) at the end */
    int add;       /* only without train: adds to y, before relu */
};

struct num_conv;

/* num_conv_out() returns the shape of y. */
struct num_map num_conv_out(const struct num_conv_spec *spec);

/* num_conv_new() prepares the convolution for the current number of threads
 * (num/threads.h), which must not change.  NULL if the processor does not
 * support it: bfloat16 by oneDNN without AVX-512. */
struct num_conv *num_conv_new(struct num_dnn *dnn,
                              const struct num_conv_spec *spec);
void num_conv_free(struct num_conv *conv);

/* num_conv_scratch() returns the bytes of scratch (64-aligned) for any call. */
size_t num_conv_scratch(const struct num_conv *conv);

/* num_conv_name() returns the name of the algorithm of a pass, oneDNN's
 * ("jit:avx512_core") or foil's ("winograd:avx512"); "-" for a pass that is not
 * prepared. */
const char *num_conv_name(const struct num_conv *conv, enum num_conv_pass pass);

/*
 * A norm with ReLU before a convolution can be fused into it: the two passes
 * that read x use
 *
 *     max(scale_k (x - centre_k) + shift_k, 0)
 *
 * instead of x, inside of the image; for bfloat16 maps it is not rounded.
 * num_conv_fuses_norm() returns 1 if both passes support this, as Winograd's
 * do; else a norm is not allowed.
 *   scale, centre, shift  [in.c]
 */
struct num_conv_norm {
    const float *scale, *centre, *shift;
};

int num_conv_fuses_norm(const struct num_conv *conv);

/*
 * A task for each image after a pass has written it to y or dx, while it is in
 * the caches, by any thread and in any order.  The maps that it reads, `bytes`
 * per image, are prefetched before; NULL ends their list.  num_conv_by_image()
 * returns 1 if a pass writes one image after the other; else a task is not
 * allowed.
 */
enum { NUM_CONV_PREFETCHES = 3 };

struct num_conv_task {
    void (*run)(const void *self, size_t i); /* NULL: nothing */
    const void *self;
    const void *prefetch[NUM_CONV_PREFETCHES];
    size_t bytes;
};

int num_conv_by_image(const struct num_conv *conv, enum num_conv_pass pass);

/* num_conv_run() runs a pass: it writes y from x, w and b; or dx from dy and w;
 * or dw and db from x and dy. */
struct num_conv_args {
    const void *x, *dy; /* maps as spec.in, and as num_conv_out() */
    void *y, *dx;
    const float *w, *b;               /* [out,in,kernel,kernel], [out] */
    float *dw, *db;                   /* b and db: only with bias */
    int accumulate;                   /* 1: adds to dw and db; 0: overwrites */
    const struct num_conv_norm *norm; /* of x, or NULL */
    struct num_conv_task after;       /* for y and dx */
    void *scratch;                    /* [num_conv_scratch()] */
};

void num_conv_run(const struct num_conv *conv, enum num_conv_pass pass,
                  const struct num_conv_args *args);
