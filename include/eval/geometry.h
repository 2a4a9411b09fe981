#ifndef EVAL_GEOMETRY_H
#define EVAL_GEOMETRY_H

#include <stddef.h>

/*
 * How features lie on the sphere: figures that show a collapsed encoder.  Rows
 * are divided by their lengths first, v = x / |x|; a row of zeros has no
 * direction and stays v = 0.
 */
struct eval_geometry {
    /* rows of zeros; where there are any, the rest is to be read with care */
    size_t zero_rows;
    /* mean over i < j of <v_i, v_j>: 0 when directions are spread evenly, 1
     * when they are all the same */
    double cosine;
    /* log mean over i < j of exp(-2 |v_i - v_j|^2): Wang and Isola 2020,
     * arXiv:2005.10242, eq. 2 with t = 2; 0 when collapsed, to one direction
     * or to zero, at best a little above -4 */
    double uniformity;
    /* standard deviation of a coordinate of v, mean over coordinates and
     * smallest: 1 / sqrt(d) when spread evenly, 0 when collapsed (Chen and He
     * 2021, arXiv:2011.10566) */
    double deviation, deviation_min;
    /* (tr C)^2 / |C|_F^2 of C = cov(v), the participation ratio: how many
     * directions are in use, 1 .. d; 0 when tr C < 1e-10, that is none */
    double dimensions;
};

/*
 * eval_geometry() measures n >= 2 rows x [n,d].  O(n^2 d + n d^2) time,
 * O(n d + d^2) memory.
 */
void eval_geometry(size_t n, size_t d, const float *x,
                   struct eval_geometry *geometry);

/*
 * eval_alignment() returns how far apart two views of an image lie: the mean
 * over rows of |v_i - w_i|^2, 0 .. 4, for v = x / |x|, w = y / |y|, x and y
 * [n,d] (Wang and Isola 2020, eq. 1 with alpha = 2).
 */
double eval_alignment(size_t n, size_t d, const float *x, const float *y);

/*
 * eval_cosines() counts cosines in bins of equal width from -1 to 1: those of
 * the two views of an image, x_i and y_i, in own, and those of views of
 * different images, x_i and y_j, in others.  Where y is NULL, own stays as it
 * is, and others has all pairs i < j of x.  A row of zeros has the cosine 0.
 *   own, others  [bins]  to which the counts are added
 * Cosines are of float32: one at the edge of a bin may count in the next.
 * O(n^2 d) time, O(n d) memory.
 */
void eval_cosines(size_t n, size_t d, const float *x, const float *y,
                  size_t bins, size_t *own, size_t *others);

#endif
