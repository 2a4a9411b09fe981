/* Headers of .npy files: refused, or the file has just the size they say. */
#include "data/npy.h"
#include "fuzz/seeded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const char one[] =
    "\x93NUMPY\1\0\x48\0{'descr': '<f4', 'fortran_order': False, "
    "'shape': (2, 3), }              12345678901234567890123";
static const char two[] =
    "\x93NUMPY\2\0\x3c\0\0\0{'descr':'<i8', 'fortran_order':False, "
    "'shape':(1,)}          \n1234567";

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    static const uint8_t *const seed[] = {(const uint8_t *)one,
                                          (const uint8_t *)two};
    static const size_t seed_len[] = {sizeof one, sizeof two};
    static uint8_t file[SEEDED_ROOM];
    struct data_npy npy;
    struct err err;
    size_t place;

    len = seeded_input(data, len, 2, seed, seed_len, file);
    if (!data_npy_parse(file, len, len, &npy, &place, &err))
        REQUIRE(place + npy.shape[0] * npy.shape[1] *
                            dtype_about(npy.type)->bytes ==
                len);
    return 0;
}
