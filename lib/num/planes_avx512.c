/* Compiled for AVX-512 (Makefile), where there is such a thing. */
#ifdef __AVX512F__
#define ISA num_planes_avx512
#define LANES_WIDE 16
#include "planes_loops.h"
#else
#include "planes.h"
const struct num_planes num_planes_avx512;
#endif
