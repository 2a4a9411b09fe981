#ifndef TESTS_LOSS_BOOK_H
#define TESTS_LOSS_BOOK_H

/* The test vectors of the reference implementations, and the equations of
 * lib/loss/ as directly as C can say them, in double. */
#include <math.h>
#include <stdint.h>
#include <string.h>

/* x[0..n) in -.5 .. .5 from a linear congruential generator. */
static inline void
book_lcg(size_t n, uint64_t seed, double *x)
{
    for (size_t i = 0; i < n; i++) {
        seed = (1103515245 * seed + 12345) % 2147483648u;
        x[i] = (double)seed / 2147483648.0 - 0.5;
    }
}

enum { BOOK_B = 4, BOOK_N = 8, BOOK_D = 5 };

/* The two views of the four images of the reference vectors. */
static inline void
book_rows(float z[BOOK_N * BOOK_D])
{
    double one[BOOK_B * BOOK_D], two[BOOK_B * BOOK_D];

    book_lcg(BOOK_B * BOOK_D, 11, one);
    book_lcg(BOOK_B * BOOK_D, 22, two);
    for (size_t i = 0; i < BOOK_B * BOOK_D; i++) {
        z[i] = (float)one[i];
        z[BOOK_B * BOOK_D + i] = (float)(0.6 * one[i] + 0.4 * two[i]);
    }
}

/* Cosine of rows a and b. */
static inline double
book_cosine(size_t d, const double *a, const double *b)
{
    double ab = 0, aa = 0, bb = 0;

    for (size_t k = 0; k < d; k++) {
        ab += a[k] * b[k];
        aa += a[k] * a[k];
        bb += b[k] * b[k];
    }
    return ab / sqrt(aa * bb);
}

#endif
