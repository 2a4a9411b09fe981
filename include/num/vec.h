#pragma once

#include <stddef.h>

/* Vectors of n numbers, and rows of unit length.  Nothing is allocated; calls
 * on different arrays may run at the same time. */

/* num_dot() returns sum x_i y_i of f32 vectors, summed in double. */
double num_dot(size_t n, const float *x, const float *y);

/* num_dot_doubles() returns sum x_i y_i, added in order. */
double num_dot_doubles(size_t n, const double *x, const double *y);

/* num_sum() returns sum x_i, summed in double. */
double num_sum(size_t n, const float *x);

/* num_max() returns the largest x_i, without NaN; -INFINITY if there is none.
 */
float num_max(size_t n, const float *x);

/* num_axpy() adds alpha x to y. */
void num_axpy(size_t n, float alpha, const float *x, float *y);

/* num_scale() multiplies x by alpha. */
void num_scale(size_t n, float alpha, float *x);

/*
 * num_scale_rows() multiplies each row by its own factor, with threads:
 *
 *     y_r = scale_r x_r
 *
 *   scale [n]; x, y [n,d], which may be the same array
 */
void num_scale_rows(size_t n, size_t d, const float *scale, const float *x,
                    float *y);

/* num_finite() returns 1 if no element is infinite or NaN. */
int num_finite(size_t n, const float *x);

/*
 * num_unit_rows() divides each row by its length:
 *
 *     v_r = z_r / max(|z_r|, 1e-12)
 *
 *   z      [n,d]  rows; v [n,d] may be the same array
 *   length [n]    |z_r| before the guard; may be NULL
 */
void num_unit_rows(size_t n, size_t d, const float *z, float *v, float *length);

/*
 * num_unit_rows_back() is the gradient of num_unit_rows():
 *
 *     dz_r = (dv_r - <dv_r, v_r> v_r) / max(|z_r|, 1e-12)
 *
 * dz may be the same array as dv.
 */
void num_unit_rows_back(size_t n, size_t d, const float *v, const float *length,
                        const float *dv, float *dz);
