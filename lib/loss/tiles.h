#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Softmaxes over S = V V' by tiles: blocks of rows of one view against blocks
 * of another, each computed once for itself and its mirror image.  S is never
 * in memory as a whole: loss_tiles_sums() computes it for the sums of
 * exponentials, loss_tiles_gradient() again for
 *
 *     W_rc = sum_k weight_k,rw exp(beta_kr (s_rc - max_k,rw)),   c in view w,
 *     dV += (W + W') V,
 *
 * over the rows c of other images.  In each round every block of rows is in one
 * tile at most, so that threads compute tiles side by side, and the order of
 * sums does not depend on their number.
 */

/* sum e, e = exp(beta (s - max)), and sum e s. */
struct loss_partial {
    double max, sum, moment;
};

/* loss_partial_add() adds a sum to another. */
void loss_partial_add(struct loss_partial *sum, double beta,
                      const struct loss_partial *part);

/* A row with the rows of other images in one view. */
struct loss_part {
    struct loss_partial sum;
    float weight; /* in: of loss_tiles_gradient() */
};

/* A softmax of each row. */
struct loss_softmax {
    const double *beta;     /* [n] >= 0 */
    struct loss_part *part; /* [n,v] */
    int has_weight;         /* 1: loss_tiles_gradient() adds it */
    int even; /* out: all beta are equal, and so small that no e is 0 */
};

enum { LOSS_SOFTMAXES = 4 };

struct loss_tiles {
    size_t b, v, d;
    int cross;            /* 1: only rows of other views have weights */
    const float *rows;    /* [v b,d]  V, of unit length */
    const int64_t *group; /* [v b] of each row, -1: none; with `share` */
    double *share;        /* [v b,2] of loss_tiles_gradient(): adds the sums of
                             max(W_rc, 0), over all c and over c of the group of r; or
                             NULL */
    float *stored; /* [loss_tiles_size()] tiles for the gradient; or NULL */
    size_t n;      /* softmaxes */
    struct loss_softmax softmax[LOSS_SOFTMAXES];
};

/* loss_tiles_size() returns the floats of `stored`: all tiles if they are few,
 * at most v b d + 2^20. */
size_t loss_tiles_size(const struct loss_tiles *tiles);

/* loss_tiles_for_threads() returns 1 if a batch is large enough for threads. */
int loss_tiles_for_threads(const struct loss_tiles *tiles);

/* loss_tiles_add() adds a softmax with these beta [n], which must stay;
 * loss_tiles_release() frees all. */
void loss_tiles_add(struct loss_tiles *tiles, const double *beta);
void loss_tiles_release(struct loss_tiles *tiles);

/* loss_tiles_sums() sets the parts of all softmaxes, and returns the scores of
 * each row with its own image in each view, [n,v], which the caller frees.
 * O(n^2 d) time. */
double *loss_tiles_sums(const struct loss_tiles *tiles);

/* loss_tiles_gradient() adds to dv [n,d], after loss_tiles_sums(); own [n,v]
 * has the weights of a row with its own image in each view. */
void loss_tiles_gradient(const struct loss_tiles *tiles, const double *own,
                         float *dv);
