/* Noise for nn_arrays_parse(): refused, or what it gives is consistent. */
#include "nn/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    struct nn_array *arrays;
    json_t *metadata;
    struct err err;
    size_t n, sum = 0;

    if (nn_arrays_parse(bytes, len, "noise", &arrays, &n, &metadata, &err))
        return 0;
    for (size_t i = 0; i < n; i++)
        sum += arrays[i].bytes;
    REQUIRE(sum <= len);
    json_decref(metadata);
    nn_arrays_free(arrays, n);
    return 0;
}
