/* Noise for nn_arrays_parse(): refused, or what it gives is consistent. */
#include "fuzz/seeded.h"
#include "nn/safetensors.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* A header, its length before it, data behind it. */
static const char one[] =
    "\x90\0\0\0\0\0\0\0"
    "{\"__metadata__\":{\"form\":\"foil\"},"
    "\"a\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[0,8]},"
    "\"b\":{\"dtype\":\"U8\",    "
    "\"shape\":[3],\"data_offsets\":[8,11]}}"
    "12345678901";
static const char two[] = "\x42\0\0\0\0\0\0\0"
                          "{\"x\":{\"dtype\":\"I64\",\"shape\":[],"
                          "\"data_offsets\":[0,8]}}             "
                          "12345678";

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t *const seed[] = {(const uint8_t *)one,
                                          (const uint8_t *)two};
    static const size_t seed_len[] = {sizeof one - 1, sizeof two - 1};
    static uint8_t file[SEEDED_ROOM];
    struct nn_array *arrays;
    json_t *metadata;
    struct err err;
    size_t n, sum = 0;

    len = seeded_input(data, len, 2, seed, seed_len, file);
    if (nn_arrays_parse(file, len, "noise", &arrays, &n, &metadata, &err))
        return 0;
    for (size_t i = 0; i < n; i++)
        sum += arrays[i].bytes;
    REQUIRE(sum <= len);
    json_decref(metadata);
    nn_arrays_free(arrays, n);
    return 0;
}
