#pragma once

#include <stdint.h>
#include <string.h>

/* exp and log1p for loops over f32 that the compiler can vectorise: no branch,
 * no call, no table.  (Those of libm are a call per element.) */

/* num_choose() returns which ? a : b, for which = 0 or 1, by masks.  The
 * compiler turns ?: into branches, and vectorises loops with branches only for
 * AVX-512. */
static inline float
num_choose(int which, float a, float b)
{
    const int32_t mask = -(int32_t)which;
    int32_t x, y;

    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (x & mask) | (y & ~mask);
    memcpy(&a, &x, sizeof a);
    return a;
}

/* num_exp() returns e^x with a relative error of 2e-7.  Below -87 it returns
 * e^-87 = 2e-38, above 88 e^88; x must not be NaN. */
static inline float
num_exp(float x)
{
    // 1.5 * 2^23: adding and subtracting it rounds to an integer, which is in
    // the low bits of the sum
    const float magic = 12582912;
    float shifted, n, r, power;
    int32_t bits;

    x = num_choose(x < -87, -87, x);
    x = num_choose(x > 88, 88, x);
    shifted = x * 1.44269504f + magic;
    n = shifted - magic;
    r = x - n * 0.693359375f; // log 2 in two parts, the first with few bits
    r = r + n * 2.12194440e-4f;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000;
    memcpy(&power, &bits, sizeof power); // 2^n
    r = r +
        r * r *
            (0.49999994f +
             r * (0.16666521f + r * (0.041668389f +
                                     r * (0.0083687175f + r * 0.0013814593f))));
    return power + power * r;
}

/* num_log1p() returns log(1 + x) with a relative error of 3e-7, for 0 <= x <
 * 1e38. */
static inline float
num_log1p(float x)
{
    const float t = 1 + x;
    float m, f, s, z;
    int32_t bits, e;

    // t = 2^e m, sqrt(1/2) <= m < sqrt 2
    memcpy(&bits, &t, sizeof bits);
    e = (bits - 0x3f3504f3) >> 23;
    bits -= (int32_t)((uint32_t)e << 23);
    memcpy(&m, &bits, sizeof m);
    f = num_choose(e == 0, x,
                   m - 1); // x itself if e is 0: 1 + x loses bits of it
    s = f / (2 + f);
    z = s * s;
    s = 2 * s + s * z * (0.66666777f + z * (0.39977488f + z * 0.29873329f));
    return (float)e * 0.693147181f + s;
}
