/* Compiled for AVX2 (Makefile), where there is such a thing. */
#ifdef __AVX2__
#define ISA num_planes_avx2
#define LANES_WIDE 8
#include "planes_loops.h"
#else
#include "planes.h"
const struct num_planes num_planes_avx2;
#endif
