/* Compiled for AVX-512 (Makefile), where there is such a thing. */
#ifdef __AVX512F__
#include <immintrin.h>

#define ISA num_products_avx512
#define LANES_WIDE 16
#define FUSED(a, b, c) \
    ((lanes)_mm512_fmadd_ps(_mm512_set1_ps(a), (__m512)(b), (__m512)(c)))
#define PAIRED(a, b, c)                                                  \
    ((c) + (lanes_int)_mm512_madd_epi16(_mm512_set1_epi32((int32_t)(a)), \
                                        (__m512i)(b)))
#include "products_loops.h"
#else
#include "products.h"
const struct num_products num_products_avx512;
#endif
