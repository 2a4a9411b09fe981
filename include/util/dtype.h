#pragma once

#include <stddef.h>
#include <stdint.h>

/* Types of the elements of a tensor, and their names in each format.  All are
 * little-endian. */
enum dtype {
    DTYPE_U1, /* unsigned, 1 byte */
    DTYPE_I4,
    DTYPE_I8,
    DTYPE_F4,
    DTYPE_F8,
    DTYPE_BF, /* bfloat16 */
    DTYPE_F2, /* half precision */
    DTYPE_U4,
    DTYPE_U8,
    DTYPE_I1,
    DTYPE_I2,
    DTYPE_U2,
    DTYPE_BOOL,
    DTYPES
};

struct dtype_about {
    const char *wire;        /* in foil-wire(5), or NULL: not sent */
    const char *safetensors; /* in a safetensors header */
    const char *npy;         /* NumPy's descr, or NULL: not read or written */
    size_t bytes;            /* of an element */
};

/* dtype_about() describes a type below DTYPES; any other value is a bug. */
const struct dtype_about *dtype_about(enum dtype dtype);

/* These find a type by its name of n bytes; DTYPES when the format has no such
 * type. */
enum dtype dtype_by_wire(const char *name, size_t n);
enum dtype dtype_by_safetensors(const char *name, size_t n);

/*
 * Half precision (IEEE 754 binary16) in memory: 11 bits, from 6e-8 to 65,504.
 *
 * half_round() writes n floats as halves, to the nearest, ties to even; a
 * number too large becomes infinite. half_widen() converts halves to floats
 * exactly.
 */
void half_round(size_t n, const float *x, uint16_t *half);
void half_widen(size_t n, const uint16_t *half, float *x);
