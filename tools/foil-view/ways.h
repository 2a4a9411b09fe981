#ifndef FOIL_VIEW_WAYS_H
#define FOIL_VIEW_WAYS_H

#include "data/set.h"
#include "util/json.h"
#include "wire/drawn.h"

/*
 * Where the chain of each view of each image has been, visit by visit, as far
 * as it was heard of: the negatives to which its sampler gave the most weight,
 * which are the states that a chain (sample/emc2.h) recorded.  Zeros are an
 * empty one.
 */
enum { WAYS_VISITS = 8, WAYS_STATES = 3 };

struct ways {
    size_t size, views;
    struct way **way; /* [size views] NULL: nothing was heard */
    size_t n;         /* that are there: at most WAYS_MOST */
};

enum { WAYS_MOST = 65536 }; /* of about 1 kB each */

/*
 * ways_take() remembers what was drawn in a step for each anchor; a step that
 * is not behind the last one of an anchor was done again by a run that was
 * resumed, and it begins anew.
 *   size  samples in the data set; 0: not known, and nothing is remembered
 */
void ways_take(struct ways *ways, const struct wire_drawn *drawn, size_t size);

/*
 * ways_show() returns the visits of a view of a sample, the oldest first:
 *
 *     [{epoch, step, outside, effective,
 *       states: [{id, label, view, epoch, weight, cosine, same}]}]
 */
json_t *ways_show(const struct ways *ways, int64_t id, size_t view,
                  const struct data_set *set);
void ways_release(struct ways *ways);

#endif
