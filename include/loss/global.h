#pragma once

#include <stddef.h>

/*
 * The global contrastive loss of a whole data set with a few fixed views of
 * each image, which mini-batches only estimate.  Every row is an anchor.  All
 * rows of other images are its negatives, and the other rows of its image are
 * its partners.  With v = z / |z|, s = <v_r, v_c> and Z_r = sum over c of other
 * images of exp(beta s_rc),
 *
 *     L = mean over r and its partners p of  log Z_r - beta s_rp
 *
 * (EMC2, arXiv:2404.10575, eq. 1), or, with the partner in the denominator,
 *
 *     L = mean over r and its partners p of
 *             log(Z_r + exp(beta s_rp)) - beta s_rp
 *
 * With `cross` the negatives of a row are only the rows of other images in
 * other views, for example if view 0 is an image and view 1 its caption.
 *
 * The published code of that paper measures the second form, with the square of
 * its beta (lib/algorithms.md 3.7).
 */
struct loss_global {
    size_t images, views, d; /* n = views x images rows, view-major; images >=
                                2, views >= 2 */
    double beta;             /* 1 / tau, > 0 */
    int inside;              /* 1: the partner is in the denominator */
    int cross;               /* 1: negatives are of other views */
};

/* loss_global_size() returns the floats of scratch for loss_global(). */
size_t loss_global_size(const struct loss_global *set);

/*
 * loss_global() returns L.
 *   z    [n,d]  output of the encoder, not normalised
 *   dz   [n,d]  dL/dz, overwritten; or NULL
 *   work [loss_global_size()]
 * Scores are f32, so the error of L is about 1e-8 beta.  O(n^2 d) time, O(n d)
 * memory: S is computed in tiles, once for the value and once for the gradient.
 */
double loss_global(const struct loss_global *set, const float *z, float *dz,
                   float *work);
