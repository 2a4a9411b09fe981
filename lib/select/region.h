#ifndef SELECT_REGION_H
#define SELECT_REGION_H

#include <stddef.h>
#include <stdint.h>

/*
 * select_region_sort() brings points that are close together: it rearranges
 * them so that each stretch of `leaf` points, counted from the first, is about
 * a region of space.
 *
 * The points are divided among up to 32 centres, which k-means finds for a
 * sample of them (num/kmeans.h); the groups follow one another as their
 * centres do, each beside the nearest of those left; and so on within each
 * group that is larger than two stretches.  Other rounds divide otherwise.
 *   rows  [.,d]
 *   point [n]   row numbers, distinct or not; rearranged
 *   round < 256 what the random numbers are keyed by, beside (seed, epoch)
 * O(n d log(n / leaf)) time, 17 n bytes; spread over threads, whose number does
 * not show in the result.
 */
void select_region_sort(size_t d, const float *rows, size_t n, size_t leaf,
                        uint64_t seed, uint64_t epoch, unsigned round,
                        int64_t *point);

#endif
