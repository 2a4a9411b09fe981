#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "util/clones.h"

#include "helpers.h"

/*
 * Vectors for the loops over maps (num/map.h), of LANES_WIDE numbers: the width
 * of a register, which the including file defines before.  gcc implements wider
 * vectors by several registers, on the stack, and splits them to compare.  The
 * calling convention of a vector depends on the instruction set, so functions
 * with vector arguments are always inlined.
 *
 * A pair is 2 LANES_WIDE adjacent elements.  For f32, v[0] is the first half.
 * For bfloat16, v[0] has the even elements and v[1] the odd ones: a 32-bit word
 * has two, separated by a shift and a mask.
 */
#ifndef LANES_WIDE
#define LANES_WIDE 16
#endif
enum { LANES = 16, PAIR = 2 * LANES_WIDE };

typedef float lanes __attribute__((vector_size(LANES_WIDE * 4)));
typedef int32_t lanes_int __attribute__((vector_size(LANES_WIDE * 4)));
typedef uint32_t lanes_bits __attribute__((vector_size(LANES_WIDE * 4)));

struct pair {
    lanes v[2];
};

#define LANES_INLINE static inline __attribute__((always_inline))

/* half_of() rounds to bfloat16, to nearest, ties to even.  A NaN from
 * arithmetic has zeros in the rounded bits and stays NaN. */
LANES_INLINE uint16_t
half_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

LANES_INLINE float
half_value(uint16_t half)
{
    uint32_t bits = (uint32_t)half << 16;
    float x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* number_at() and number_to() read and write one number, f32 or bfloat16. */
LANES_INLINE float
number_at(const void *x, size_t i, int bf16)
{
    return bf16 ? half_value(((const uint16_t *)x)[i]) : ((const float *)x)[i];
}

LANES_INLINE void
number_to(void *x, size_t i, float value, int bf16)
{
    if (bf16)
        ((uint16_t *)x)[i] = half_of(value);
    else
        ((float *)x)[i] = value;
}

/* NUM_CLONES() as a function's head compiles it for each instruction set
 * (util/clones.h) and for both types: its last parameter is bf16, a constant in
 * the body.  `...` are the names of the others. */
#define NUM_CLONES(name, parameters, ...)                    \
    void name parameters;                                    \
    LANES_INLINE void name##_typed parameters;               \
    UTIL_CLONES(void, name, parameters, (__VA_ARGS__, bf16)) \
    {                                                        \
        NUM_BY_TYPE(bf16, name##_typed, __VA_ARGS__);        \
    }                                                        \
    LANES_INLINE void name##_typed parameters

/* lanes_at() reads a vector of f32. */
LANES_INLINE lanes
lanes_at(const float *x)
{
    lanes v;

    memcpy(&v, x, sizeof v);
    return v;
}

/* pair_load() reads a pair, from element i of f32 or bfloat16 data on. */
LANES_INLINE struct pair
pair_load(const void *data, size_t i, int bf16)
{
    lanes low, high;
    lanes_bits both, even, odd;

    if (bf16) {
        memcpy(&both, (const uint16_t *)data + i, sizeof both);
        even = both << 16;
        odd = both & 0xffff0000u;
        memcpy(&low, &even, sizeof low);
        memcpy(&high, &odd, sizeof high);
    } else {
        memcpy(&low, (const float *)data + i, sizeof low);
        memcpy(&high, (const float *)data + i + LANES_WIDE, sizeof high);
    }
    return (struct pair){{low, high}};
}

/* pair_store() writes it. */
LANES_INLINE void
pair_store(void *data, size_t i, struct pair x, int bf16)
{
    const lanes low = x.v[0], high = x.v[1];
    lanes_bits even, odd;

    if (bf16) {
        memcpy(&even, &low, sizeof even);
        memcpy(&odd, &high, sizeof odd);
        even += 0x7fff + (even >> 16 & 1);
        odd += 0x7fff + (odd >> 16 & 1);
        even = even >> 16 | (odd & 0xffff0000u);
        memcpy((uint16_t *)data + i, &even, sizeof even);
    } else {
        memcpy((float *)data + i, &low, sizeof low);
        memcpy((float *)data + i + LANES_WIDE, &high, sizeof high);
    }
}

/* lanes_prefetch() prefetches bytes.  Without it loops that compute much for
 * each number, or go from row to row, wait for memory. */
LANES_INLINE void
lanes_prefetch(const void *data, size_t bytes)
{
    enum { CACHE_LINE = 64 };

    for (size_t i = 0; i < bytes; i += CACHE_LINE)
        __builtin_prefetch((const char *)data + i);
}

/* lanes_cut() sets all but the first n lanes to zero. */
LANES_INLINE lanes
lanes_cut(lanes x, size_t n)
{
    lanes_int bits, lane = {0};

    for (int i = 0; i < LANES_WIDE; i++)
        lane[i] = i;
    memcpy(&bits, &x, sizeof bits);
    bits &= lane < (int32_t)n;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* pair_cut() sets all but the first n elements to zero. */
LANES_INLINE struct pair
pair_cut(struct pair x, size_t n, int bf16)
{
    x.v[0] = lanes_cut(x.v[0], bf16 ? (n + 1) / 2 : n);
    x.v[1] = lanes_cut(x.v[1], bf16             ? n / 2
                               : n > LANES_WIDE ? n - LANES_WIDE
                                                : 0);
    return x;
}

/* pair_parted() converts two vectors from the order of elements to the order of
 * a bfloat16 pair, pair_joined() back. */
#if LANES_WIDE == 16
#define LANES_EVEN 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define LANES_ODD 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#define LANES_LOW 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define LANES_HIGH 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31
#elif LANES_WIDE == 8
#define LANES_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define LANES_ODD 1, 3, 5, 7, 9, 11, 13, 15
#define LANES_LOW 0, 8, 1, 9, 2, 10, 3, 11
#define LANES_HIGH 4, 12, 5, 13, 6, 14, 7, 15
#else
#define LANES_EVEN 0, 2, 4, 6
#define LANES_ODD 1, 3, 5, 7
#define LANES_LOW 0, 4, 1, 5
#define LANES_HIGH 2, 6, 3, 7
#endif

LANES_INLINE struct pair
pair_parted(struct pair x)
{
    return (struct pair){{__builtin_shufflevector(x.v[0], x.v[1], LANES_EVEN),
                          __builtin_shufflevector(x.v[0], x.v[1], LANES_ODD)}};
}

LANES_INLINE struct pair
pair_joined(struct pair x)
{
    return (struct pair){{__builtin_shufflevector(x.v[0], x.v[1], LANES_LOW),
                          __builtin_shufflevector(x.v[0], x.v[1], LANES_HIGH)}};
}

/* lanes_total() adds LANES numbers in order. */
LANES_INLINE double
lanes_total(const double *part)
{
    double sum = 0;

    for (size_t j = 0; j < LANES; j++)
        sum += part[j];
    return sum;
}

/* lanes_positive() is 0 where y <= 0, else x, so that NaN is preserved. */
LANES_INLINE lanes
lanes_positive(lanes x, lanes y)
{
    lanes_int bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= ~(y <= 0);
    memcpy(&x, &bits, sizeof x);
    return x;
}
