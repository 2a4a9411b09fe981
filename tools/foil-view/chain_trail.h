#ifndef FOIL_VIEW_CHAIN_TRAIL_H
#define FOIL_VIEW_CHAIN_TRAIL_H

#include "data/set.h"
#include "util/json.h"
#include "wire/drawn.h"

/*
 * Where the chain of each view of each image has been: in each of its latest
 * steps that were received, the negatives to which the sampler gave the most
 * weight, which are the states that the chain (sample/emc2.h) recorded.  Zeros
 * are an empty one.
 */
enum { CHAIN_TRAIL_STEPS = 8, CHAIN_TRAIL_STATES = 3 };

struct chain_trail {
    size_t size, views;
    struct chain_steps **steps; /* [size views] NULL: none was received */
    size_t n;                   /* that are there: at most CHAIN_TRAIL_MOST */
};

enum { CHAIN_TRAIL_MOST = 65536 }; /* of about 1 kB each */

/*
 * chain_trail_add() adds what was drawn for each anchor of a step.  A step that
 * is not later than the last one of an anchor was done again by a run that was
 * resumed: the anchor begins anew.
 *   size  samples in the data set; 0: not known, and nothing is added
 */
void chain_trail_add(struct chain_trail *trail, const struct wire_drawn *drawn,
                     size_t size);

/*
 * chain_trail_show() returns the steps of a view of a sample, the oldest first,
 * with states as batch_view_negative() shows them:
 *
 *     [{epoch, step, outside, effective, states: []}]
 */
json_t *chain_trail_show(const struct chain_trail *trail, int64_t id,
                         size_t view, const struct data_set *set);
void chain_trail_release(struct chain_trail *trail);

#endif
