#include "planes.h"

const struct num_planes *
num_planes_isa(enum util_isa isa)
{
    if (isa >= UTIL_ISA_V4 && num_planes_avx512.measure)
        return &num_planes_avx512;
    if (isa >= UTIL_ISA_V3 && num_planes_avx2.measure)
        return &num_planes_avx2;
    return &num_planes_any;
}

const struct num_planes *
num_planes(void)
{
    return num_planes_isa(util_isa());
}
