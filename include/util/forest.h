#pragma once

#include <stddef.h>

/*
 * Groups of things, from pairs that belong together: a forest in which each
 * thing points towards the root of its tree, its thing with the lowest index
 * (union-find with path halving). forest_new() returns n trees of one thing
 * each; the caller frees them.
 */
size_t *forest_new(size_t n);

/* forest_root() returns the first thing in the tree of i. */
size_t forest_root(size_t *up, size_t i);

/* forest_unite() merges the trees of a and b: 1, or 0 if both are in one
 * tree. */
int forest_unite(size_t *up, size_t a, size_t b);
