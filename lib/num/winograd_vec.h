/*
 * Vectors for winograd_loops.h, and what A, B and G do in one dimension.  Empty
 * without WIDE.
 */
#if defined WIDE && !defined NUM_WINOGRAD_VEC_H
#define NUM_WINOGRAD_VEC_H
#include <stdint.h>
#include <string.h>

#include "winograd_isa.h"

#define INLINE static inline __attribute__((always_inline))

enum { PANEL = 2 * WIDE, SIDE = 6, OWN = 4, TAPS = 9 };

typedef float vec __attribute__((vector_size(WIDE * 4)));
typedef uint32_t words __attribute__((vector_size(WIDE * 4)));
typedef int32_t mask __attribute__((vector_size(WIDE * 4)));
typedef uint16_t halves __attribute__((vector_size(WIDE * 2)));

/* The points, their powers, and what G divides by. */
#define A1 POINT_A
#define B1 POINT_B
#define A2 (A1 * A1)
#define B2 (B1 * B1)
#define A3 (A2 * A1)
#define B3 (B2 * B1)
#define OVER_0 (1 / (A2 * B2))
#define OVER_A (1 / (2 * A2 * (A2 - B2)))
#define OVER_B (1 / (2 * B2 * (B2 - A2)))
#define POINT_A 0.625
#define POINT_B 1.5

INLINE vec
splat(double x)
{
    return (float)x - (vec){0};
}

INLINE vec
load(const void *data, size_t at, int bf16)
{
    halves half;
    words word;
    vec x;

    if (bf16) {
        memcpy(&half, (const uint16_t *)data + at, sizeof half);
        word = WIDEN(half) << 16;
        memcpy(&x, &word, sizeof x);
    } else {
        memcpy(&x, (const float *)data + at, sizeof x);
    }
    return x;
}

/* bfloat16 is rounded to nearest, ties to even. */
INLINE void
store(void *data, size_t at, vec x, int bf16)
{
    halves half;
    words word;

    if (bf16) {
        memcpy(&word, &x, sizeof word);
        word = (word + 0x7fff + (word >> 16 & 1)) >> 16;
        half = NARROW(word);
        memcpy((uint16_t *)data + at, &half, sizeof half);
    } else {
        memcpy((float *)data + at, &x, sizeof x);
    }
}

/* 0 where x <= 0; a NaN stays one. */
INLINE vec
positive(vec x)
{
    mask bits;

    memcpy(&bits, &x, sizeof bits);
    bits &= ~(mask)(x <= 0);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* B', in one dimension. */
INLINE void
by_b(const vec d[SIDE], vec v[SIDE])
{
    vec even, odd;

    v[0] = FMA(splat(A2 * B2), d[0], FMA(splat(-A2 - B2), d[2], d[4]));
    even = FMA(splat(-B2), d[2], d[4]);
    odd = FMA(splat(-B2), d[1], d[3]);
    v[1] = FMA(splat(A1), odd, even);
    v[2] = FMA(splat(-A1), odd, even);
    even = FMA(splat(-A2), d[2], d[4]);
    odd = FMA(splat(-A2), d[1], d[3]);
    v[3] = FMA(splat(B1), odd, even);
    v[4] = FMA(splat(-B1), odd, even);
    v[5] = FMA(splat(A2 * B2), d[1], FMA(splat(-A2 - B2), d[3], d[5]));
}

/* A'. */
INLINE void
by_a(const vec m[SIDE], vec y[OWN])
{
    vec sum_a = m[1] + m[2], sum_b = m[3] + m[4];
    vec gap_a = m[1] - m[2], gap_b = m[3] - m[4];

    y[0] = m[0] + sum_a + sum_b;
    y[1] = FMA(splat(B1), gap_b, splat(A1) * gap_a);
    y[2] = FMA(splat(B2), sum_b, splat(A2) * sum_a);
    y[3] = FMA(splat(B3), gap_b, FMA(splat(A3), gap_a, m[5]));
}

/* A. */
INLINE void
by_a_back(const vec y[OWN], vec n[SIDE])
{
    vec even = FMA(splat(A2), y[2], y[0]), odd = FMA(splat(A2), y[3], y[1]);

    n[0] = y[0];
    n[1] = FMA(splat(A1), odd, even);
    n[2] = FMA(splat(-A1), odd, even);
    even = FMA(splat(B2), y[2], y[0]);
    odd = FMA(splat(B2), y[3], y[1]);
    n[3] = FMA(splat(B1), odd, even);
    n[4] = FMA(splat(-B1), odd, even);
    n[5] = y[3];
}

/* G. */
INLINE void
by_g(const vec g[3], vec u[SIDE])
{
    vec even = splat(OVER_A) * FMA(splat(A2), g[2], g[0]);

    u[0] = splat(OVER_0) * g[0];
    u[1] = FMA(splat(A1 * OVER_A), g[1], even);
    u[2] = FMA(splat(-A1 * OVER_A), g[1], even);
    even = splat(OVER_B) * FMA(splat(B2), g[2], g[0]);
    u[3] = FMA(splat(B1 * OVER_B), g[1], even);
    u[4] = FMA(splat(-B1 * OVER_B), g[1], even);
    u[5] = g[2];
}

/* G'. */
INLINE void
by_g_back(const vec s[SIDE], vec g[3])
{
    vec sum_a = splat(OVER_A) * (s[1] + s[2]);
    vec sum_b = splat(OVER_B) * (s[3] + s[4]);

    g[0] = FMA(splat(OVER_0), s[0], sum_a + sum_b);
    g[1] = FMA(splat(A1 * OVER_A), s[1] - s[2],
               splat(B1 * OVER_B) * (s[3] - s[4]));
    g[2] = FMA(splat(A2), sum_a, FMA(splat(B2), sum_b, s[5]));
}

#endif
