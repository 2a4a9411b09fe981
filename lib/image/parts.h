#ifndef IMAGE_PARTS_H
#define IMAGE_PARTS_H

#include <stdint.h>

/*
 * Products of a level difference and a factor with 23 fractional bits, in words
 * of 16 bits: `high` has 7 fractional bits of the factor, `low` the next 16.
 */
struct parts {
    int16_t high, low;
};

/* parts_of() splits k / 2^23, 0 .. 1. */
static inline struct parts
parts_of(int32_t k)
{
    const int32_t high = (k + (1 << 15)) >> 16;

    return (struct parts){(int16_t)high, (int16_t)(k - high * (1 << 16))};
}

/* parts_add() returns x + d k, rounded, for |d| <= 510 and a result of 0 ..
 * 255. */
static inline uint16_t
parts_add(int16_t x, int16_t d, struct parts k)
{
    const int16_t rest = (int16_t)((int32_t)d * k.low >> 16);

    return (uint16_t)(x + ((int16_t)(d * k.high + rest + 64) >> 7));
}

#endif
