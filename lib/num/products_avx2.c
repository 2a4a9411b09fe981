/* Compiled for AVX2 and FMA (Makefile), where there is such a thing. */
#ifdef __AVX2__
#include <immintrin.h>

#define ISA num_products_avx2
#define LANES_WIDE 8
#define FUSED(a, b, c) \
    ((lanes)_mm256_fmadd_ps(_mm256_set1_ps(a), (__m256)(b), (__m256)(c)))
#define PAIRED(a, b, c)                                                  \
    ((c) + (lanes_int)_mm256_madd_epi16(_mm256_set1_epi32((int32_t)(a)), \
                                        (__m256i)(b)))
#include "products_loops.h"
#else
#include "products.h"
const struct num_products num_products_avx2;
#endif
