#ifndef FOIL_VIEW_KEPT_H
#define FOIL_VIEW_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "moment.h"

enum { KEPT_PLACES = 64, KEPT_HELD = 32 };

/* The newest batches with their embeddings, for pages that ask about them.
 * Zeros are an empty one. */
struct kept {
    struct moment place[KEPT_PLACES];
    uint64_t held[KEPT_PLACES]; /* which of the holds was its last; 0: none */
    uint64_t holds;
    size_t n, last; /* how many there were; the place of the newest */
};

/* kept_add() takes over a batch and returns its place, that of the oldest that
 * is not held. */
const struct moment *kept_add(struct kept *kept, struct moment *moment);

/* kept_newest() returns the batch that was added last, NULL where there is
 * none.
 */
const struct moment *kept_newest(const struct kept *kept);

/* kept_find() returns the batch of a step, NULL where it is not kept. */
const struct moment *kept_find(const struct kept *kept, int64_t epoch,
                               int64_t step);

/* kept_hold() keeps a batch until KEPT_HELD others were held after it. */
void kept_hold(struct kept *kept, const struct moment *moment);
void kept_release(struct kept *kept);

#endif
