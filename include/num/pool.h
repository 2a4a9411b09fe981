#pragma once

#include "num/dnn.h"
#include "num/map.h"

/*
 * Max-pooling of maps:
 *
 *     y(i, k, p, q) = max over r, s < kernel of
 *                     x(i, k, p stride + r - pad, q stride + s - pad)
 *
 * over the pixels of the window that are inside the image.  The gradient of a
 * window goes to the first of its largest pixels; those of overlapping windows
 * are added.  y is exact.  The error of dx in f32 is at most 1e-6 of its rms;
 * in bfloat16 oneDNN rounds each partial sum, and the error is up to 5e-2
 * (tests/num/test_pool.c).  O(size kernel^2) time; two calls may run at the
 * same time with different scratch.
 */
struct num_pool_spec {
    struct num_map in;
    size_t kernel, stride, pad;
    int train; /* 1: prepare num_pool_backward() */
};

struct num_pool;

/* num_pool_out() returns the shape of y. */
struct num_map num_pool_out(const struct num_pool_spec *spec);

/* num_pool_new() prepares it; NULL if the processor does not support it. */
struct num_pool *num_pool_new(struct num_dnn *dnn,
                              const struct num_pool_spec *spec);
void num_pool_free(struct num_pool *pool);

/* num_pool_argmax_bytes() returns the bytes of argmax, in which
 * num_pool_forward() stores the index of the largest elements;
 * num_pool_scratch() returns those of scratch. */
size_t num_pool_argmax_bytes(const struct num_pool *pool);
size_t num_pool_scratch(const struct num_pool *pool);

/* num_pool_forward() writes y and argmax [num_pool_argmax_bytes()] from x;
 * num_pool_backward() writes dx from dy and argmax. */
void num_pool_forward(const struct num_pool *pool, const void *x, void *y,
                      void *argmax, void *scratch);
void num_pool_backward(const struct num_pool *pool, const void *dy,
                       const void *argmax, void *dx, void *scratch);

/*
 * num_mean() writes the mean of each channel of each image, in double, to a
 * plain matrix; num_mean_back() distributes a gradient over the pixels.
 *
 *     h(i, k) = 1 / (h w) sum_p x(i, k, p)         dx(i, k, p) = dh(i, k) / h w
 *
 *   x, dx  maps;  h, dh [n,c] f32
 *
 * h is rounded once; the error of dx is at most 1e-6 of its rms, plus the
 * rounding of bfloat16.  O(size) time.
 */
void num_mean(const struct num_map *map, const void *x, float *h);
void num_mean_back(const struct num_map *map, const float *dh, void *dx);
