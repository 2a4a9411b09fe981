#include "moments.h"

void
loss_moments_centre(size_t b, size_t d, const float *z, float *x)
{
    for (size_t k = 0; k < d; k++) {
        double sum = 0;

        for (size_t i = 0; i < b; i++)
            sum += z[i * d + k];
        for (size_t i = 0; i < b; i++)
            x[i * d + k] = (float)(z[i * d + k] - sum / (double)b);
    }
}

void
loss_moments_squares(size_t b, size_t d, const float *x, float *sum)
{
    for (size_t k = 0; k < d; k++) {
        double squares = 0;

        for (size_t i = 0; i < b; i++)
            squares += (double)x[i * d + k] * x[i * d + k];
        sum[k] = (float)squares;
    }
}
