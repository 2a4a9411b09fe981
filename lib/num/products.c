#include "products.h"

const struct num_products *
num_products_isa(enum util_isa isa)
{
    if (isa >= UTIL_ISA_V4 && num_products_avx512.rows)
        return &num_products_avx512;
    if (isa >= UTIL_ISA_V3 && num_products_avx2.rows)
        return &num_products_avx2;
    return &num_products_any;
}

const struct num_products *
num_products(void)
{
    return num_products_isa(util_isa());
}
