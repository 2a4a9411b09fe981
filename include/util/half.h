#ifndef UTIL_HALF_H
#define UTIL_HALF_H

#include <stddef.h>
#include <stdint.h>

/*
 * Half precision (IEEE 754 binary16) in memory: 11 bits, from 6e-8 to 65,504.
 *
 * half_round() writes n floats as halves, to the nearest, ties to even; a
 * number too large becomes infinite. half_widen() converts halves to floats
 * exactly.
 */
void half_round(size_t n, const float *x, uint16_t *half);
void half_widen(size_t n, const uint16_t *half, float *x);

#endif
