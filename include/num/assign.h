#ifndef NUM_ASSIGN_H
#define NUM_ASSIGN_H

#include <stddef.h>
#include <stdint.h>

/*
 * num_assign() gives each of n points to one of k centres, no centre more than
 * it has room for, at the least total cost: the transportation problem,
 *
 *     minimise  sum_i cost[i, to_i]   with  #{i: to_i = c} <= room_c
 *
 * Every point begins at its cheapest centre; then points are passed on along
 * shortest paths from centres with too many to centres with room, in the graph
 * of the k centres, where the step from c to e costs what the cheapest move of
 * a point of c costs.  Each path leaves the cost the least possible, so the
 * last one leaves the optimum (successive shortest paths; Ahuja, Magnanti and
 * Orlin 1993, 9.7, over the centres alone).
 *
 *   cost  [n,k], finite
 *   room  [k], together at least n
 *   to    [n] out: the centre of each point
 * Returns the total cost.  O(k^2 + points of the centres on the path x k) for
 * each point that does not stay at its cheapest centre.
 */
double num_assign(size_t n, size_t k, const float *cost, const size_t *room,
                  uint32_t *to);

#endif
