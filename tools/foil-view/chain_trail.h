#ifndef FOIL_VIEW_CHAIN_TRAIL_H
#define FOIL_VIEW_CHAIN_TRAIL_H

#include "data/set.h"
#include "util/json.h"
#include "wire/events.h"

/*
 * The latest steps of the Markov chain (sample/emc2.h) of each view of each
 * image.  A step holds the states with the most weight, which are negatives.
 * Steps that were not received are missing.  A zeroed trail is empty.
 */
enum { CHAIN_TRAIL_STEPS = 8, CHAIN_TRAIL_STATES = 3 };

struct chain_trail {
    size_t size, views;
    struct chain_steps **steps; /* [size,views] NULL: none received */
    size_t n; /* of them are not NULL; at most CHAIN_TRAIL_MOST */
};

enum { CHAIN_TRAIL_MOST = 65536 }; /* about 1 kB each */

/*
 * chain_trail_add() adds the negatives drawn for each anchor of a step.  If a
 * step is not later than the last one of an anchor, the run was resumed, and
 * the anchor's earlier steps are dropped.
 *   size  samples in the data set; 0: unknown, and nothing is added
 */
void chain_trail_add(struct chain_trail *trail,
                     const struct wire_top_negatives *drawn, size_t size);

/*
 * chain_trail_show() returns the steps of a view of a sample, oldest first,
 * with states in the form of batch_view_negative():
 *
 *     [{epoch, step, outside, effective, states: []}]
 */
json_t *chain_trail_show(const struct chain_trail *trail, int64_t id,
                         size_t view, const struct data_set *set);
void chain_trail_release(struct chain_trail *trail);

#endif
