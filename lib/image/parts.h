#ifndef IMAGE_PARTS_H
#define IMAGE_PARTS_H

#include <stdint.h>

/*
 * Products of a level's difference by a factor of 23 bits behind the point, in
 * words of 16 bits: the factor is a number of 7 bits behind the point and one
 * of the 16 that follow.
 */
struct parts {
    int16_t high, low;
};

/* parts_of() splits k / 2^23, from 0 to 1. */
static inline struct parts
parts_of(int32_t k)
{
    const int32_t high = (k + (1 << 15)) >> 16;

    return (struct parts){(int16_t)high, (int16_t)(k - high * (1 << 16))};
}

/* parts_add() is x + d k, rounded, of |d| <= 510 that stays a level. */
static inline uint16_t
parts_add(int16_t x, int16_t d, struct parts k)
{
    const int16_t rest = (int16_t)((int32_t)d * k.low >> 16);

    return (uint16_t)(x + ((int16_t)(d * k.high + rest + 64) >> 7));
}

#endif
