/* Compiled for AVX2 and FMA (Makefile), where there is such a thing. */
#ifdef __AVX2__
#include <immintrin.h>

#define ISA num_winograd_avx2
#define NAME "avx2"
#define WIDE 8
#define ROWS 6
#define HELD 2
#define FMA(a, b, c) \
    ((vec)_mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#define WIDEN(x) ((words)_mm256_cvtepu16_epi32((__m128i)(x)))
#define NARROW(x) __builtin_convertvector(x, halves)
#include "winograd_loops.h"
#else
#include "winograd_isa.h"
const struct winograd_isa num_winograd_avx2;
#endif
