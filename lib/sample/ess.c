#include <math.h>

#include "sample/ess.h"

/* sum_t (x_t - mean)(x_{t+lag} - mean) */
static double
lagged_product(size_t m, const double *x, double mean, size_t lag)
{
    double sum = 0;

    for (size_t t = 0; t + lag < m; t++)
        sum += (x[t] - mean) * (x[t + lag] - mean);
    return sum;
}

double
sample_ess(size_t m, const double *x)
{
    double mean = 0, square, twice = 0;

    for (size_t t = 0; t < m; t++)
        mean += x[t] / (double)m;
    square = lagged_product(m, x, mean, 0);
    // a constant chain may have a small variance by rounding
    if (!(square > 1e-24 * (double)m * mean * mean))
        return 1;
    for (size_t lag = 0; lag + 1 < m; lag += 2) {
        const double pair = lagged_product(m, x, mean, lag) +
                            lagged_product(m, x, mean, lag + 1);

        if (!(pair > 0))
            break;
        twice += 2 * pair / square;
    }
    // rho_0 = 1 counts once, but `twice` contains it as 2
    return fmin(fmax((double)m / (twice - 1), 1), (double)m);
}
