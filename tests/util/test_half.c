#include <math.h>

#include "t.h"
#include "util/dtype.h"

/* Computes the value of a half naively, in double. */
static double
value(unsigned half)
{
    const int exponent = half >> 10 & 31;
    const double sign = half >> 15 ? -1 : 1, mantissa = half & 1023;

    if (exponent == 31)
        return mantissa > 0 ? NAN : sign * INFINITY;
    if (exponent == 0)
        return sign * ldexp(mantissa, -24);
    return sign * ldexp(1024 + mantissa, exponent - 25);
}

int
main(void)
{
    int exact = 1, back = 1, nearest = 1, even = 1;
    uint16_t half;
    float x;

    for (unsigned h = 0; h < 65536; h++) {
        half = (uint16_t)h;
        half_widen(1, &half, &x);
        exact &= isnan(value(h)) ? isnan(x) : x == (float)value(h);
        half_round(1, &x, &half);
        back &= isnan(x) ? isnan(value(half)) : half == h;
    }
    T(exact, "every half has its value");
    T(back, "every value rounds back to its half");
    // between two neighbours: to the nearer one, halfway to the even one
    for (unsigned h = 0; h < 0x7bff; h++) {
        const double low = value(h), high = value(h + 1);

        x = (float)(low + 0.49 * (high - low));
        half_round(1, &x, &half);
        nearest &= half == h;
        x = (float)-(low + 0.51 * (high - low));
        half_round(1, &x, &half);
        nearest &= half == (0x8000 | (h + 1));
        x = (float)((low + high) / 2);
        half_round(1, &x, &half);
        even &= half == h + (h & 1);
    }
    T(nearest, "values are rounded to the nearest half");
    T(even, "ties to even");
    x = 65519;
    half_round(1, &x, &half);
    T(half == 0x7bff, "the largest");
    x = -65520;
    half_round(1, &x, &half);
    T(half == 0xfc00, "larger numbers become infinite");
    return t_done();
}
