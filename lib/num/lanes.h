#ifndef NUM_LANES_H
#define NUM_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Vectors for the loops over maps (num/map.h): a type of gcc and clang that
 * becomes one AVX-512 register, two of AVX2 or four of SSE.  How such a type
 * is passed depends on the instruction set, so what takes one is inlined
 * always.
 *
 * A pair is 32 elements that lie in a row.  Of f32, v[0] is the first half.
 * Of bfloat16, v[0] has those at even places and v[1] those at odd ones: a
 * 32-bit word holds two, and a shift and a mask take them apart.
 */
enum { LANES = 16, PAIR = 32 };

typedef float lanes __attribute__((vector_size(64)));
typedef int32_t lanes_int __attribute__((vector_size(64)));
typedef uint32_t lanes_bits __attribute__((vector_size(64)));

struct pair {
    lanes v[2];
};

#define LANES_INLINE static inline __attribute__((always_inline))

/* half_of() rounds to bfloat16, to nearest, ties to even.  A NaN that
 * arithmetic has made has zeros where the rounding adds, and stays one. */
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

/* Where element e of a pair is: v[half][lane]. */
LANES_INLINE size_t
pair_half(size_t e, int bf16)
{
    return bf16 ? e % 2 : e / LANES;
}

LANES_INLINE size_t
pair_lane(size_t e, int bf16)
{
    return bf16 ? e / 2 : e % LANES;
}

/* pair_load() reads elements i .. i + 31 of f32 or bfloat16 data. */
LANES_INLINE struct pair
pair_load(const void *data, size_t i, int bf16)
{
    struct pair x;
    lanes_bits both, even, odd;

    if (!bf16) {
        memcpy(&x, (const float *)data + i, sizeof x);
        return x;
    }
    memcpy(&both, (const uint16_t *)data + i, sizeof both);
    even = both << 16;
    odd = both & 0xffff0000u;
    memcpy(&x.v[0], &even, sizeof even);
    memcpy(&x.v[1], &odd, sizeof odd);
    return x;
}

/* pair_store() writes them. */
LANES_INLINE void
pair_store(void *data, size_t i, struct pair x, int bf16)
{
    lanes_bits even, odd;

    if (!bf16) {
        memcpy((float *)data + i, &x, sizeof x);
        return;
    }
    memcpy(&even, &x.v[0], sizeof even);
    memcpy(&odd, &x.v[1], sizeof odd);
    even += 0x7fff + (even >> 16 & 1);
    odd += 0x7fff + (odd >> 16 & 1);
    even = even >> 16 | (odd & 0xffff0000u);
    memcpy((uint16_t *)data + i, &even, sizeof even);
}

/* pair_first() and pair_keep() are load and store of the first n elements
 * only; the others load as zero. */
LANES_INLINE struct pair
pair_first(const void *data, size_t i, size_t n, int bf16)
{
    struct pair x = {{{0}, {0}}};

    if (n == LANES) { // an odd number of pixels
        uint16_t both[PAIR] = {0};

        if (!bf16) {
            memcpy(&x.v[0], (const float *)data + i, sizeof x.v[0]);
            return x;
        }
        memcpy(both, (const uint16_t *)data + i, LANES * sizeof *both);
        return pair_load(both, 0, 1);
    }
    for (size_t e = 0; e < n; e++)
        x.v[pair_half(e, bf16)][pair_lane(e, bf16)] =
            bf16 ? half_value(((const uint16_t *)data)[i + e])
                 : ((const float *)data)[i + e];
    return x;
}

LANES_INLINE void
pair_keep(void *data, size_t i, size_t n, struct pair x, int bf16)
{
    if (n == LANES) {
        uint16_t both[PAIR];

        if (!bf16) {
            memcpy((float *)data + i, &x.v[0], sizeof x.v[0]);
            return;
        }
        pair_store(both, 0, x, 1);
        memcpy((uint16_t *)data + i, both, LANES * sizeof *both);
        return;
    }
    for (size_t e = 0; e < n; e++) {
        float value = x.v[pair_half(e, bf16)][pair_lane(e, bf16)];

        if (bf16)
            ((uint16_t *)data)[i + e] = half_of(value);
        else
            ((float *)data)[i + e] = value;
    }
}

/* pair_cut() sets all but the first n elements to zero. */
LANES_INLINE struct pair
pair_cut(struct pair x, size_t n, int bf16)
{
    if (n == LANES && !bf16) {
        x.v[1] = (lanes){0};
        return x;
    }
    for (size_t e = n; e < PAIR; e++)
        x.v[pair_half(e, bf16)][pair_lane(e, bf16)] = 0;
    return x;
}

/* pair_of() repeats 16 numbers; pair_fold() adds up what belongs to each of
 * the 16: every block of a map divides 16, so a channel is one of them. */
LANES_INLINE struct pair
pair_of(const float *x, int bf16)
{
    struct pair all;

    memcpy(&all.v[0], x, sizeof all.v[0]);
    all.v[1] = all.v[0];
    if (bf16) {
        all.v[0] =
            __builtin_shufflevector(all.v[1], all.v[1], 0, 2, 4, 6, 8, 10, 12,
                                    14, 0, 2, 4, 6, 8, 10, 12, 14);
        all.v[1] =
            __builtin_shufflevector(all.v[1], all.v[1], 1, 3, 5, 7, 9, 11, 13,
                                    15, 1, 3, 5, 7, 9, 11, 13, 15);
    }
    return all;
}

LANES_INLINE void
pair_fold(struct pair x, float *sum, int bf16)
{
    lanes low = x.v[0], high = x.v[1], all;

    if (bf16) { // back into the order of elements
        low = __builtin_shufflevector(x.v[0], x.v[1], 0, 16, 1, 17, 2, 18, 3,
                                      19, 4, 20, 5, 21, 6, 22, 7, 23);
        high = __builtin_shufflevector(x.v[0], x.v[1], 8, 24, 9, 25, 10, 26, 11,
                                       27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    all = low + high;
    memcpy(sum, &all, sizeof all);
}

/* lanes_positive() is 0 where y <= 0, else x: a NaN is not hidden. */
LANES_INLINE lanes
lanes_positive(lanes x, lanes y)
{
    lanes_int bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= ~(y <= 0);
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
