#ifndef WIRE_FETCH_H
#define WIRE_FETCH_H

#include "wire/codec.h"

/*
 * features.get: a request for the table of features at the end of an epoch, in
 * pieces; selector to trainer, answered by features (wire/features.h).
 *
 * The trainer chooses the length of a piece, so that answering takes next to no
 * time of a step.  It answers with an error that has
 *
 *     this id             when the epoch is not over yet: request it later
 *     this id and state   when features of that epoch were not stored and never
 *                         will be; or they are dropped, and the epoch to be
 *                         planned is over, too
 *     no id               when it does not store features for long enough
 */
struct wire_fetch {
    int64_t id;    /* of the request, from 1 */
    int64_t epoch; /* the features at its end */
    int64_t from;  /* the first sample of the piece */
    int half;      /* 1: in half precision */
    int64_t plan;  /* the epoch to be planned from them; -1: missing */
};

WIRE_PLAIN(fetch, WIRE_FEATURES_GET)

#endif
