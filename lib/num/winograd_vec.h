/* Vectors for winograd_loops.c, and A, B and G in one dimension.  Empty without
 * WIDE. */
#if defined WIDE && !defined NUM_WINOGRAD_VEC_H
#define NUM_WINOGRAD_VEC_H
#include "lanes.h"
#include "winograd_isa.h"

enum { PANEL = 2 * WIDE, SIDE = 6, OWN = 4, TAPS = 9 };

typedef uint16_t halves __attribute__((vector_size(WIDE * 2)));

/* The points, their powers, and the factors of G. */
#define A1 0.625
#define B1 1.5
#define A2 (A1 * A1)
#define B2 (B1 * B1)
#define A3 (A2 * A1)
#define B3 (B2 * B1)
#define OVER_0 (1 / (A2 * B2))
#define OVER_A (1 / (2 * A2 * (A2 - B2)))
#define OVER_B (1 / (2 * B2 * (B2 - A2)))

LANES_INLINE lanes
splat(double x)
{
    return (float)x - (lanes){0};
}

LANES_INLINE lanes
load(const void *data, size_t at, int bf16)
{
    halves half;
    lanes_bits word;
    lanes x;

    if (bf16) {
        memcpy(&half, (const uint16_t *)data + at, sizeof half);
        word = WIDEN(half) << 16;
        memcpy(&x, &word, sizeof x);
    } else {
        memcpy(&x, (const float *)data + at, sizeof x);
    }
    return x;
}

/* Rounds bfloat16 to nearest, ties to even. */
LANES_INLINE void
store(void *data, size_t at, lanes x, int bf16)
{
    halves half;
    lanes_bits word;

    if (bf16) {
        memcpy(&word, &x, sizeof word);
        word = (word + 0x7fff + (word >> 16 & 1)) >> 16;
        half = NARROW(word);
        memcpy((uint16_t *)data + at, &half, sizeof half);
    } else {
        memcpy((float *)data + at, &x, sizeof x);
    }
}

/* B', in one dimension. */
LANES_INLINE void
by_b(const lanes d[SIDE], lanes v[SIDE])
{
    lanes even, odd;

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
LANES_INLINE void
by_a(const lanes m[SIDE], lanes y[OWN])
{
    lanes sum_a = m[1] + m[2], sum_b = m[3] + m[4];
    lanes gap_a = m[1] - m[2], gap_b = m[3] - m[4];

    y[0] = m[0] + sum_a + sum_b;
    y[1] = FMA(splat(B1), gap_b, splat(A1) * gap_a);
    y[2] = FMA(splat(B2), sum_b, splat(A2) * sum_a);
    y[3] = FMA(splat(B3), gap_b, FMA(splat(A3), gap_a, m[5]));
}

/* A. */
LANES_INLINE void
by_a_back(const lanes y[OWN], lanes n[SIDE])
{
    lanes even = FMA(splat(A2), y[2], y[0]), odd = FMA(splat(A2), y[3], y[1]);

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
LANES_INLINE void
by_g(const lanes g[3], lanes u[SIDE])
{
    lanes even = splat(OVER_A) * FMA(splat(A2), g[2], g[0]);

    u[0] = splat(OVER_0) * g[0];
    u[1] = FMA(splat(A1 * OVER_A), g[1], even);
    u[2] = FMA(splat(-A1 * OVER_A), g[1], even);
    even = splat(OVER_B) * FMA(splat(B2), g[2], g[0]);
    u[3] = FMA(splat(B1 * OVER_B), g[1], even);
    u[4] = FMA(splat(-B1 * OVER_B), g[1], even);
    u[5] = g[2];
}

/* G'. */
LANES_INLINE void
by_g_back(const lanes s[SIDE], lanes g[3])
{
    lanes sum_a = splat(OVER_A) * (s[1] + s[2]);
    lanes sum_b = splat(OVER_B) * (s[3] + s[4]);

    g[0] = FMA(splat(OVER_0), s[0], sum_a + sum_b);
    g[1] = FMA(splat(A1 * OVER_A), s[1] - s[2],
               splat(B1 * OVER_B) * (s[3] - s[4]));
    g[2] = FMA(splat(A2), sum_a, FMA(splat(B2), sum_b, s[5]));
}

/*
 * In a row, odd pixels are multiplied by taps 0 and 2, a kernel of 2 with
 * stride 1, and even pixels by tap 1: the phases.  F(4,2) has the points +-a,
 * +-b and infinity, and a single tap needs no infinity: 5 + 4 products for four
 * outputs instead of 12, with one A' for the sums of both.
 *
 *          odd  [ d3 - bb d1 + a (d2 - bb d0) ]         [ (g0 + a g2) / N_a ]
 *               [ -(d3 - bb d1) + a (d2 - bb d0) ]      [ (g0 - a g2) / N_a ]
 *     B' d =    [ d3 - aa d1 + b (d2 - aa d0) ]   G g = [ (g0 + b g2) / N_b ]
 *               [ -(d3 - aa d1) + b (d2 - aa d0) ]      [ (g0 - b g2) / N_b ]
 *               [ d4 - (aa + bb) d2 + aa bb d0 ]        [ g2 ]
 *
 *          even the first four                          [ g1 / N ], four times
 *
 * with aa = a^2, bb = b^2, N_a = 2 a (aa - bb), N_b = 2 b (bb - aa); A' has the
 * powers of the points.  Of all pairs in steps of 1/16, from 1/4 to 5/2, a and
 * b have the smallest error: 4e-7 of the rms of y with 64 channels.
 */
enum { POINTS = 5, PATCH = 9 }; /* of a row: points of odd pixels; inputs */

#define SA 0.4375
#define SB 1.25
#define SA2 (SA * SA)
#define SB2 (SB * SB)
#define SOVER_A (1 / (2 * SA * (SA2 - SB2)))
#define SOVER_B (1 / (2 * SB * (SB2 - SA2)))

/* The four finite points of one phase: d0 to d3. */
LANES_INLINE void
by_b_finite(lanes d0, lanes d1, lanes d2, lanes d3, lanes v[4])
{
    lanes odd = FMA(splat(-SB2), d1, d3), even = FMA(splat(-SB2), d0, d2);

    v[0] = FMA(splat(SA), even, odd);
    v[1] = FMA(splat(SA), even, -odd);
    odd = FMA(splat(-SA2), d1, d3);
    even = FMA(splat(-SA2), d0, d2);
    v[2] = FMA(splat(SB), even, odd);
    v[3] = FMA(splat(SB), even, -odd);
}

/* B' of both phases: first the points of odd pixels, then the finite ones of
 * even pixels. */
LANES_INLINE void
strided_by_b(const lanes d[PATCH], lanes v[PATCH])
{
    by_b_finite(d[0], d[2], d[4], d[6], v);
    v[4] = FMA(splat(SA2 * SB2), d[0], FMA(splat(-SA2 - SB2), d[4], d[8]));
    by_b_finite(d[1], d[3], d[5], d[7], v + POINTS);
}

/* G of both. */
LANES_INLINE void
strided_by_g(const lanes g[3], lanes u[PATCH])
{
    const lanes a = splat(SOVER_A) * g[0], b = splat(SOVER_B) * g[0];

    u[0] = FMA(splat(SA * SOVER_A), g[2], a);
    u[1] = FMA(splat(-SA * SOVER_A), g[2], a);
    u[2] = FMA(splat(SB * SOVER_B), g[2], b);
    u[3] = FMA(splat(-SB * SOVER_B), g[2], b);
    u[4] = g[2];
    u[5] = u[6] = splat(SOVER_A) * g[1];
    u[7] = u[8] = splat(SOVER_B) * g[1];
}

/* A'. */
LANES_INLINE void
strided_by_a(const lanes m[POINTS], lanes y[OWN])
{
    lanes sum_a = m[0] + m[1], sum_b = m[2] + m[3];
    lanes gap_a = m[0] - m[1], gap_b = m[2] - m[3];

    y[0] = sum_a + sum_b;
    y[1] = FMA(splat(SB), gap_b, splat(SA) * gap_a);
    y[2] = FMA(splat(SB2), sum_b, splat(SA2) * sum_a);
    y[3] = FMA(splat(SB2 * SB), gap_b, FMA(splat(SA2 * SA), gap_a, m[4]));
}

/* Shuffle indices that exchange elements of two rows `d` rows apart. */
#define UPPER(d, l) ((l) & (d) ? WIDE + (l) - (d) : (l))
#define LOWER(d, l) ((l) & (d) ? WIDE + (l) : (l) + (d))
#define EIGHT(which, d, l)                                          \
    which(d, l), which(d, l + 1), which(d, l + 2), which(d, l + 3), \
        which(d, l + 4), which(d, l + 5), which(d, l + 6), which(d, l + 7)
#if WIDE == 16
#define ALL(which, d) EIGHT(which, d, 0), EIGHT(which, d, 8)
#else
#define ALL(which, d) EIGHT(which, d, 0)
#endif
#define EXCHANGE(d)                                                  \
    for (int i = 0; i < WIDE; i++)                                   \
        if (!(i & d)) {                                              \
            const lanes a = x[i], b = x[i + d];                      \
                                                                     \
            x[i] = __builtin_shufflevector(a, b, ALL(UPPER, d));     \
            x[i + d] = __builtin_shufflevector(a, b, ALL(LOWER, d)); \
        }

/* Transposes a square of numbers. */
LANES_INLINE void
transpose(lanes x[WIDE])
{
    EXCHANGE(1)
    EXCHANGE(2)
    EXCHANGE(4)
#if WIDE == 16
    EXCHANGE(8)
#endif
}

/* Loads the taps of WIDE inputs of WIDE outputs, from rows of w, [in x taps].
 */
LANES_INLINE void
taps_by_output(const float *w, size_t in, lanes tap[WIDE * TAPS])
{
    for (size_t k = 0; k < TAPS; k++) {
        lanes *x = tap + k * WIDE;

        for (size_t l = 0; l < WIDE; l++)
            x[l] = load(w + l * in * TAPS, k * WIDE, 0);
        transpose(x);
    }
}

#endif
