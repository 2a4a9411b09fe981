#ifndef SELECT_REGION_H
#define SELECT_REGION_H

#include <stddef.h>
#include <stdint.h>

/*
 * select_region_sort() rearranges points so that each stretch of `leaf` points,
 * counted from the first, is roughly a region of space.
 *
 * It divides the points among up to 32 centres, found by k-means of a sample
 * (num/kmeans.h), and orders the groups so that each is followed by the nearest
 * of the rest; then it repeats this within each group that is larger than two
 * stretches.  Each round divides differently.
 *   rows  [.,d]
 *   point [n]   row numbers, distinct or not; rearranged
 *   round < 256 key of the random numbers, with (seed, epoch)
 * O(n d log(n / leaf)) time, 17 n bytes; uses threads, the result does not
 * depend on their number.
 */
void select_region_sort(size_t d, const float *rows, size_t n, size_t leaf,
                        uint64_t seed, uint64_t epoch, unsigned round,
                        int64_t *point);

#endif
