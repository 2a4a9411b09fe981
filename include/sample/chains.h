#ifndef SAMPLE_CHAINS_H
#define SAMPLE_CHAINS_H

#include "sample/emc2.h"
#include "util/err.h"

/*
 * Where the chain of each (image, view) of a data set stands: 16 bytes each.
 *   state [size,views]   {-1, -1} where a chain has not begun
 * In `state` and `state.put` messages it is the tensor SAMPLE_CHAINS, i8
 * [size,views,2]; a state.put without it begins anew.
 */
#define SAMPLE_CHAINS "chain"

struct sample_chains {
    size_t size, views;
    struct sample_state *state;
};

/* sample_chains_init() begins with no chain begun. */
void sample_chains_init(struct sample_chains *chains, size_t size,
                        size_t views);
void sample_chains_release(struct sample_chains *chains);

/*
 * sample_chains_get() copies the states of a batch out, sample_chains_put()
 * back in:  ids [b], each < size;  state [views b], row view * b + i.
 */
void sample_chains_get(const struct sample_chains *chains, size_t b,
                       const int64_t *ids, struct sample_state *state);
void sample_chains_put(struct sample_chains *chains, size_t b,
                       const int64_t *ids, const struct sample_state *state);

/*
 * sample_chains_load() takes the states of all chains from outside, laid out
 * as above.  Refused, and nothing changed, where one names a sample or a view
 * that does not exist.
 */
int sample_chains_load(struct sample_chains *chains,
                       const struct sample_state *state, struct err *err);

#endif
