#pragma once

/* The test vectors of the reference implementations, and the equations of
 * lib/loss/ as directly as C can express them, in double. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* x[0..n) in -.5 .. .5 from a linear congruential generator. */
static inline void
naive_lcg(size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++) {
        seed = (1103515245 * seed + 12345) % 2147483648u;
        x[i] = (double)seed / 2147483648.0 - 0.5;
    }
}

enum { NAIVE_B = 4, NAIVE_N = 8, NAIVE_D = 5 };

/* The two views of the four images of the reference vectors. */
static inline void
naive_rows(float z[NAIVE_N * NAIVE_D])
{
    double one[NAIVE_B * NAIVE_D], two[NAIVE_B * NAIVE_D];

    naive_lcg(NAIVE_B * NAIVE_D, 11, one);
    naive_lcg(NAIVE_B * NAIVE_D, 22, two);
    for (size_t i = 0; i < NAIVE_B * NAIVE_D; i++) {
        z[i] = (float)one[i];
        z[NAIVE_B * NAIVE_D + i] = (float)(0.6 * one[i] + 0.4 * two[i]);
    }
}

/* Replaces S [2b,2b] by the softmaxes of beta S over the rows of other images.
 */
static inline void
naive_softmax(size_t b, double beta, float *s)
{
    for (size_t r = 0; r < 2 * b; r++, s += 2 * b) {
        double sum = 0;

        for (size_t c = 0; c < 2 * b; c++)
            sum += c % b == r % b ? 0 : exp(beta * s[c]);
        for (size_t c = 0; c < 2 * b; c++)
            s[c] = c % b == r % b ? 0 : (float)(exp(beta * s[c]) / sum);
    }
}

/* Cosine of rows a and b. */
static inline double
naive_cosine(size_t d, const double *a, const double *b)
{
    double ab = 0, aa = 0, bb = 0;

    for (size_t k = 0; k < d; k++) {
        ab += a[k] * b[k];
        aa += a[k] * a[k];
        bb += b[k] * b[k];
    }
    return ab / sqrt(aa * bb);
}
