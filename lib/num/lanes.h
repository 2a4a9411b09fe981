#ifndef NUM_LANES_H
#define NUM_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Sixteen floats at a time, for the loops over maps (num/map.h): a type of gcc
 * and clang that becomes one AVX-512 register, two of AVX2 or four of SSE.
 * Every block of a map divides 16, so lane l of any group of 16 elements
 * belongs to channel l % block.  Kept inside functions: how such a type is
 * passed depends on the instruction set, so what takes one is inlined always.
 */
enum { LANES = 16 };

typedef float lanes __attribute__((vector_size(64)));
typedef int32_t lanes_int __attribute__((vector_size(64)));
typedef uint32_t lanes_bits __attribute__((vector_size(64)));
typedef uint16_t lanes_half __attribute__((vector_size(32)));

#define LANES_INLINE static inline __attribute__((always_inline))

/* lanes_all() has every lane at x. */
LANES_INLINE lanes
lanes_all(float x)
{
    return x - (lanes){0};
}

/* lanes_load() reads elements i .. i + 15 of f32 or bfloat16 data. */
LANES_INLINE lanes
lanes_load(const void *data, size_t i, int bf16)
{
    lanes x;

    if (bf16) {
        lanes_half half;
        lanes_bits bits;

        memcpy(&half, (const uint16_t *)data + i, sizeof half);
        bits = __builtin_convertvector(half, lanes_bits) << 16;
        memcpy(&x, &bits, sizeof x);
    } else {
        memcpy(&x, (const float *)data + i, sizeof x);
    }
    return x;
}

/* lanes_store() writes them; bfloat16 is rounded to nearest, ties to even. */
LANES_INLINE void
lanes_store(void *data, size_t i, lanes x, int bf16)
{
    if (bf16) {
        lanes_bits bits, lost = (lanes_bits)(x != x);
        lanes_half half;

        memcpy(&bits, &x, sizeof bits);
        bits += 0x7fff + ((bits >> 16) & 1);
        bits = (bits & ~lost) | (0x7fc00000u & lost); // NaN stays NaN
        half = __builtin_convertvector(bits >> 16, lanes_half);
        memcpy((uint16_t *)data + i, &half, sizeof half);
    } else {
        memcpy((float *)data + i, &x, sizeof x);
    }
}

/* lanes_first() and lanes_keep() are load and store of the first n < 16 only;
 * the others load as zero. */
LANES_INLINE lanes
lanes_first(const void *data, size_t i, size_t n, int bf16)
{
    uint8_t whole[sizeof(lanes)] = {0};
    size_t size = bf16 ? sizeof(uint16_t) : sizeof(float);

    memcpy(whole, (const uint8_t *)data + i * size, n * size);
    return lanes_load(whole, 0, bf16);
}

LANES_INLINE void
lanes_keep(void *data, size_t i, size_t n, lanes x, int bf16)
{
    uint8_t whole[sizeof(lanes)];
    size_t size = bf16 ? sizeof(uint16_t) : sizeof(float);

    lanes_store(whole, 0, x, bf16);
    memcpy((uint8_t *)data + i * size, whole, n * size);
}

/* lanes_cut() is x in the first n lanes and 0 in the others. */
LANES_INLINE lanes
lanes_cut(lanes x, size_t n)
{
    float part[LANES] = {0};

    memcpy(part, &x, n * sizeof *part);
    return lanes_load(part, 0, 0);
}

/* lanes_positive() is x where y > 0, else 0. */
LANES_INLINE lanes
lanes_positive(lanes x, lanes y)
{
    lanes_int bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= y > 0;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#endif
