#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * num_assign() assigns each of n points to one of k centres with limited room,
 * at the least total cost: the transportation problem,
 *
 *     minimise  sum_i cost[i, to_i]   with  #{i: to_i = c} <= room_c
 *
 * Each point starts at its cheapest centre.  Then points move along shortest
 * paths from centres with too many points to centres with room.  In the graph
 * of the k centres the step from c to e costs as much as the cheapest move of a
 * point of c to e.  Each path keeps the cost minimal, so the last one ends at
 * the optimum (successive shortest paths; Ahuja, Magnanti and Orlin 1993, 9.7,
 * over the centres only).
 *
 *   cost  [n,k], finite
 *   room  [k], in total at least n
 *   to    [n] out: the centre of each point
 * Returns the total cost.  O(k^2 + points of the centres on the path x k) for
 * each point that leaves its cheapest centre.
 */
double num_assign(size_t n, size_t k, const float *cost, const size_t *room,
                  uint32_t *to);
