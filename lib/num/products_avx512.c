/* Compiled for AVX-512 (Makefile), where there is such a thing. */
#ifdef __AVX512F__
#define ISA num_products_avx512
#define LANES_WIDE 16
#include "products_loops.h"
#else
#include "products.h"
const struct num_products num_products_avx512;
#endif
