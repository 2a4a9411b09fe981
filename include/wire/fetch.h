#ifndef WIRE_FETCH_H
#define WIRE_FETCH_H

#include "wire/codec.h"

/*
 * features.get: the table of features as it was at the end of an epoch, in
 * pieces; selector to trainer, answered by features (wire/features.h).
 *
 * The trainer chooses how long a piece is, so that answering takes next to no
 * time of a step.  It answers with an error that has
 *
 *     this id             where the epoch is not over yet: ask again later
 *     this id and state   where features of that epoch were not kept and never
 *                         will be; or are gone, and the epoch to be planned is
 *                         over, too
 *     no id               where it does not keep features for long enough
 */
struct wire_fetch {
    int64_t id;    /* of the request, from 1 */
    int64_t epoch; /* at whose end the features were */
    int64_t from;  /* the first sample of the piece */
    int half;      /* 1: in half precision */
    int64_t plan; /* the epoch that is to be planned from them; -1: not given */
};

WIRE_PLAIN(fetch, WIRE_FEATURES_GET)

#endif
