#ifndef SELECT_REGION_H
#define SELECT_REGION_H

#include <stddef.h>
#include <stdint.h>

/*
 * select_region_sort() brings points that are close together: it rearranges
 * them so that each stretch of `leaf` points, counted from the first, is a
 * region of space.
 *
 * The points are halved again and again, at a whole number of leaves, by their
 * projection on a line between two groups of them: 2-means on a random sample
 * of the points to be halved.  Keyed by (seed, epoch, round).
 *   rows  [.,d]
 *   point [n]   row numbers, distinct or not; rearranged
 *   round < 256
 * O(n d log(n / leaf)) time, 16 n bytes; halves are spread over threads, which
 * does not show in the result.
 */
void select_region_sort(size_t d, const float *rows, size_t n, size_t leaf,
                        uint64_t seed, uint64_t epoch, unsigned round,
                        int64_t *point);

#endif
