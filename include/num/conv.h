#ifndef NUM_CONV_H
#define NUM_CONV_H

#include "num/dnn.h"
#include "num/map.h"

/*
 * Convolution of maps, and the two gradients:
 *
 *     y(i, o, p, q) = b_o + sum_{k,r,s} w(o, k, r, s)
 *                           x(i, k, p stride + r - pad, q stride + s - pad)
 *
 * with x = 0 outside.  Weights are plain f32 [out,in,kernel,kernel] (OIHW)
 * whatever the maps are: each call brings them into the layout it wants, in
 * the scratch it is given.  Products of bfloat16 maps are summed in f32, and
 * gradients of weights are f32.
 *
 * A table by shape (lib/num/conv.c), which does not depend on any timing, gives
 * the algorithm of each pass:
 *
 *     Winograd   F(4x4, 3x3) of Lavin and Gray 2016, arXiv:1509.09308, where it
 *                is the fastest (lib/num/winograd.h)
 *     tiles      products by AMX, of bfloat16 maps where the processor has it
 *                (lib/num/tiles.h)
 *     taps       a product for each tap (lib/num/taps.h), on small maps, and
 *                without AVX2, where oneDNN has loops in plain C alone
 *     direct     else oneDNN's direct sums
 *
 * The error of Winograd is about 1e-5 of the rms of y, that of the others 1e-6.
 */
enum num_conv_how {
    NUM_CONV_TABLE,
    NUM_CONV_DIRECT,       /* no Winograd: oneDNN's, or taps where it is slow */
    NUM_CONV_WINOGRAD,     /* ours, where it can */
    NUM_CONV_TAPS,         /* ours, a product for each tap, where it can */
    NUM_CONV_TILES,        /* ours, by AMX, where it can */
    NUM_CONV_DNN_WINOGRAD, /* oneDNN's, where it has it: for comparison */
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
    int train;     /* num_conv_back_weights() is wanted */
    int back_data; /* num_conv_back_data() is wanted */
    int relu;      /* only without train: y = max(y, 0) at the end */
    int add;       /* only without train: adds to y, before relu */
};

struct num_conv;

/* num_conv_out() returns the shape of y. */
struct num_map num_conv_out(const struct num_conv_spec *spec);

/*
 * num_conv_new() prepares the convolution for the number of threads in force
 * (num/threads.h), which must stay.  NULL when the processor cannot do it:
 * bfloat16 of oneDNN without AVX-512.
 */
struct num_conv *num_conv_new(struct num_dnn *dnn,
                              const struct num_conv_spec *spec);
void num_conv_free(struct num_conv *conv);

/* num_conv_scratch() returns the bytes of scratch (64-aligned) for any call. */
size_t num_conv_scratch(const struct num_conv *conv);

/* num_conv_name() returns the name of the algorithm of a pass, oneDNN's
 * ("jit:avx512_core") or ours ("winograd:avx512"), or "-" for a pass that is
 * not wanted. */
const char *num_conv_name(const struct num_conv *conv, enum num_conv_pass pass);

/*
 * The three passes write y from x, dx from dy, and dw and db from x and dy.
 *   x, dx  maps as spec.in;  y, dy  maps as num_conv_out()
 *   w, dw  [out,in,kernel,kernel];  b, db [out], NULL without bias
 *   accumulate = 1 adds to dw and db, 0 overwrites
 */
void num_conv_forward(const struct num_conv *conv, const void *x,
                      const float *w, const float *b, void *y, void *scratch);
void num_conv_back_data(const struct num_conv *conv, const void *dy,
                        const float *w, void *dx, void *scratch);
void num_conv_back_weights(const struct num_conv *conv, const void *x,
                           const void *dy, float *dw, float *db, int accumulate,
                           void *scratch);

/*
 * A norm with ReLU that stands before a convolution need not be written: the
 * two passes that read x take
 *
 *     max(scale_k (x - centre_k) + shift_k, 0)
 *
 * in its place, inside of the image; of bfloat16 maps it is not rounded.
 * num_conv_takes_norm() returns whether both passes can, which Winograd's
 * do; else norm is not allowed.
 *   scale, centre, shift  [in.c]
 */
struct num_conv_norm {
    const float *scale, *centre, *shift;
};

int num_conv_takes_norm(const struct num_conv *conv);

/* What is done with image i.  The maps that it reads besides, `bytes` an image,
 * are brought nearer meanwhile; NULL: no more of them. */
enum { NUM_CONV_ASKS = 3 };

struct num_conv_task {
    void (*run)(const void *self, size_t i); /* NULL: nothing */
    const void *self;
    const void *asks[NUM_CONV_ASKS];
    size_t bytes;
};

/*
 * What is done beside a pass: a norm before it, and what is done with each
 * image once it is written, while it is in the caches, by any thread and in any
 * order.  num_conv_by_image() returns whether a pass writes one image after the
 * other; else there may be no `after`.
 */
struct num_conv_beside {
    const struct num_conv_norm *norm; /* or NULL */
    struct num_conv_task after;
};

int num_conv_by_image(const struct num_conv *conv, enum num_conv_pass pass);

/* num_conv_forward_beside() is num_conv_forward(), num_conv_backward_beside()
 * both passes back, `after` being for dx, which may be NULL. */
void num_conv_forward_beside(const struct num_conv *conv,
                             const struct num_conv_beside *beside,
                             const void *x, const float *w, const float *b,
                             void *y, void *scratch);
void num_conv_backward_beside(const struct num_conv *conv,
                              const struct num_conv_beside *beside,
                              const void *x, const void *dy, const float *w,
                              float *dw, float *db, int accumulate, void *dx,
                              void *scratch);

#endif
