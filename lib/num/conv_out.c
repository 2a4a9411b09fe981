#include "num/conv.h"

struct num_map
num_conv_out(const struct num_conv_spec *spec)
{
    struct num_map y = spec->in;

    y.c = spec->out;
    y.h = (spec->in.h + 2 * spec->pad - spec->kernel) / spec->stride + 1;
    y.w = (spec->in.w + 2 * spec->pad - spec->kernel) / spec->stride + 1;
    y.block = spec->block;
    return y;
}
