/* Compiled for AVX-512 (Makefile), where there is such a thing. */
#ifdef __AVX512F__
#include <immintrin.h>

#define ISA num_winograd_avx512
#define NAME "avx512"
#define WIDE 16
#define ROWS 12
#define HELD 2
#define FMA(a, b, c) \
    ((vec)_mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#define WIDEN(x) ((words)_mm512_cvtepu16_epi32((__m256i)(x)))
#define NARROW(x) ((halves)_mm512_cvtepi32_epi16((__m512i)(x)))
#include "winograd_loops.h"
#else
#include "winograd_isa.h"
const struct winograd_isa num_winograd_avx512;
#endif
