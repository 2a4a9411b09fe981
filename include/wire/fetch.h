#ifndef WIRE_FETCH_H
#define WIRE_FETCH_H

#include "wire/msg.h"

/*
 * features.get: the table of features as it was at the end of an epoch, in
 * pieces; selector to trainer, answered by features (wire/features.h).
 *
 *     id     whole  number of the request, from 1
 *     epoch  whole  the one whose end is meant
 *     from   whole  the first sample of the piece
 *     half   flag   optional: in half precision
 *     plan   whole  optional: the epoch that is to be planned from them
 *
 * The trainer chooses how long a piece is, so that answering takes next to no
 * time of a step.  Its errors: with this id, the epoch is not over yet: ask
 * again later; with this id and `state`, no features of that epoch were kept
 * and never will be, or they are gone, but the epoch to be planned is over,
 * too; without id, it does not keep features for long enough.
 */
struct wire_fetch {
    int64_t id, epoch, from;
    int half;
    int64_t plan; /* -1: not said */
};

struct wire_msg *wire_fetch_put(const struct wire_fetch *fetch);
int wire_fetch_get(struct wire_fetch *fetch, const struct wire_msg *msg,
                   struct err *err);

#endif
