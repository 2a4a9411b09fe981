#pragma once

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

/*
 * Lists of near neighbours over a whole data set, and an order by them.
 *
 * select_links_find() searches approximate nearest neighbours of each point by
 * the product of rows.  The points are sorted into regions three times, in
 * different ways, and all points of a region are compared; then each point is
 * compared, twice, with the neighbours of its neighbours (NN-descent, Dong,
 * Moses and Li 2011).  The lists may miss some.
 *   rows  [.,d] of unit length
 *   point [n]   row numbers, distinct
 *   leaf        points in a region
 *   link  [n,SELECT_LINKS]  places in point[], nearest first; a list that is
 *               not full ends with SELECT_NO_LINK
 * O(n leaf d) time, about 200 n bytes; uses threads, the result does not depend
 * on their number.
 */
enum { SELECT_LINKS = 8 };
#define SELECT_NO_LINK UINT32_MAX

void select_links_find(size_t d, const float *rows, size_t n, size_t leaf,
                       uint64_t seed, uint64_t epoch, const int64_t *point,
                       uint32_t *link);

/*
 * select_links_sort() rearranges points so that each stretch of `leaf` of them
 * has many links within: a stretch begins with the first remaining point, and
 * adds the point with the most links to or from it until it is full.
 * O(n SELECT_LINKS) time and memory.
 */
void select_links_sort(size_t n, size_t leaf, const uint32_t *link,
                       int64_t *point);
