#include <math.h>

#include "eval/figure.h"
#include "util/err.h"

/* By Cornish and Fisher, around the normal distribution. */
double
eval_student(size_t degrees)
{
    const double z = 1.959964, n = (double)degrees;
    const double a = (pow(z, 3) + z) / 4;
    const double b = (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / 96;
    const double c =
        (3 * pow(z, 7) + 19 * pow(z, 5) + 17 * pow(z, 3) - 15 * z) / 384;
    const double d = (79 * pow(z, 9) + 776 * pow(z, 7) + 1482 * pow(z, 5) -
                      1920 * pow(z, 3) - 945 * z) /
                     92160;

    REQUIRE(degrees >= 1);
    return z + a / n + b / (n * n) + c / pow(n, 3) + d / pow(n, 4);
}

struct eval_figure
eval_mean(size_t n, const double *x)
{
    double mean = 0, square = 0;

    REQUIRE(n >= 2);
    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        square += (x[i] - mean) * (x[i] - mean);
    return (struct eval_figure){
        mean,
        eval_student(n - 1) * sqrt(square / ((double)n * (double)(n - 1)))};
}
