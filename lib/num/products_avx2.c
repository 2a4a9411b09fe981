/* Compiled for AVX2 (Makefile), where there is such a thing. */
#ifdef __AVX2__
#define ISA num_products_avx2
#define LANES_WIDE 8
#include "products_loops.h"
#else
#include "products.h"
const struct num_products num_products_avx2;
#endif
