#ifndef UTIL_FOREST_H
#define UTIL_FOREST_H

#include <stddef.h>

/*
 * Things that belong together, found pair by pair: a forest in which each thing
 * points towards the root of its tree, which is the first thing in it
 * (union-find with path halving).  forest_new() returns n trees of one thing
 * each, to be given to free().
 */
size_t *forest_new(size_t n);

/* forest_root() returns the first thing in the tree of i. */
size_t forest_root(size_t *up, size_t i);

/* forest_unite() makes one tree of the trees of a and b: 1, or 0 where they are
 * in one tree already. */
int forest_unite(size_t *up, size_t a, size_t b);

#endif
