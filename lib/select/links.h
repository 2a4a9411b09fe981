#ifndef SELECT_LINKS_H
#define SELECT_LINKS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Lists of near neighbours over a whole data set, and the order that follows
 * from them.
 *
 * select_links_find() looks for the nearest of each point, by the product of
 * rows: the points are sorted into regions (select/region.h) three times, in
 * different ways, and within each region all products are made; then each
 * point is compared, twice, with the neighbours of its neighbours (NN-descent,
 * Dong, Moses and Li 2011).  Some are missed; what is found is near.
 *   rows  [.,d] of unit length
 *   point [n]   row numbers, distinct
 *   leaf        points in a region
 *   link  [n,SELECT_LINKS]  places in point[], nearest first; a list that is
 *               not full ends with SELECT_NO_LINK
 * O(n leaf d) time, some 200 n bytes besides; spread over threads, whose
 * number does not show in the result.
 */
enum { SELECT_LINKS = 8 };
#define SELECT_NO_LINK UINT32_MAX

void select_links_find(size_t d, const float *rows, size_t n, size_t leaf,
                       uint64_t seed, uint64_t epoch, const int64_t *point,
                       uint32_t *link);

/*
 * select_links_sort() rearranges points so that each stretch of `leaf` of
 * them is well linked: a stretch begins with the first point that is left,
 * and takes the point with the most links into it, either way, until it is
 * full.  O(n SELECT_LINKS) time and memory.
 */
void select_links_sort(size_t n, size_t leaf, const uint32_t *link,
                       int64_t *point);

#endif
