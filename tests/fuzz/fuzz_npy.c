#include <stddef.h>
#include <stdint.h>

#include "data/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct data_npy npy;
    struct err err;
    size_t place;

    if (!data_npy_parse(data, len, len, &npy, &place, &err) &&
        place + npy.shape[0] * npy.shape[1] * data_npy_item(npy.type) != len)
        __builtin_trap();
    return 0;
}
