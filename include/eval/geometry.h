#pragma once

#include <stddef.h>

/* The geometry of features on the sphere: figures that reveal a collapsed
 * encoder.  Rows are normalised first, v = x / |x|; a row of zeros stays v =
 * 0. */
struct eval_geometry {
    /* rows of zeros; if there are any, they distort the other figures */
    size_t zero_rows;
    /* mean over i < j of <v_i, v_j>: 0 for evenly spread directions, 1 for
     * equal ones */
    double cosine;
    /* log mean over i < j of exp(-2 |v_i - v_j|^2): Wang and Isola 2020,
     * arXiv:2005.10242, eq. 2 with t = 2; 0 if all rows are equal or zero, at
     * best a little above -4 */
    double uniformity;
    /* standard deviation of a coordinate of v, mean over coordinates and
     * smallest: 1 / sqrt(d) if spread evenly, 0 if collapsed (Chen and He 2021,
     * arXiv:2011.10566) */
    double deviation, deviation_min;
    /* (tr C)^2 / |C|_F^2 of C = cov(v), the participation ratio: the number of
     * directions in use, 1 .. d; 0 if tr C < 1e-10 */
    double dimensions;
    /* RankMe (Garrido et al. 2023, arXiv:2210.02885): exp of the entropy of
     * s_k / sum_j s_j, the singular values of x, 1 .. min(n, d); those below
     * s_1 / 1000, which f32 cannot resolve, count as 0; 0 if all rows are */
    double rankme;
};

/* eval_geometry() computes the figures of n >= 2 rows x [n,d].  O(n^2 d + n
 * d^2 + m^3) time, O(n d + d^2 + m^2) memory; m = min(n, d). */
void eval_geometry(size_t n, size_t d, const float *x,
                   struct eval_geometry *geometry);

/* eval_alignment() returns the mean squared distance of two views of an image:
 * the mean over rows of |v_i - w_i|^2, 0 .. 4, for v = x / |x|, w = y / |y|, x
 * and y [n,d] (Wang and Isola 2020, eq. 1 with alpha = 2). */
double eval_alignment(size_t n, size_t d, const float *x, const float *y);

/*
 * eval_cosines() counts cosines in bins of equal width from -1 to 1: those of
 * the two views of an image, x_i and y_i, in own, and those of views of
 * different images, x_i and y_j, in others.  If y is NULL, own is unchanged,
 * and others counts all pairs i < j of x.  A row of zeros has the cosine 0.
 *   own, others  [bins]  the counts are added
 * Cosines are of float32: one at the edge of a bin may count in the next.
 * O(n^2 d) time, O(n d) memory.
 */
void eval_cosines(size_t n, size_t d, const float *x, const float *y,
                  size_t bins, size_t *own, size_t *others);
