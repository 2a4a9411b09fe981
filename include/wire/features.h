#pragma once

#include "util/batch.h"
#include "util/value.h"
#include "wire/codec.h"

/* The messages of edge features; `features` is also one of edge events. */

/* features: the encoder's output for a batch, trainer to subscribers; or a
 * piece of the table of all samples at the end of an epoch, trainer to the peer
 * that requested it by features.get. */
struct wire_features {
    int64_t sequence; /* counts the publisher's messages from 0; -1: missing, in
                       * an answer */
    int64_t id; /* of the request that this answers, from 1; 0: published */
    int64_t next_id; /* with id: the first sample of the next piece; the size of
                      * the data set when this is the last */
    char mode[8];    /* "train": from training steps; "eval": from a pass over
                      * all samples with the same weights */
    struct batch batch;   /* epoch, step, b, v, ids; dim, up to WIRE_DIM_MAX;
                           * z, or NULL, and then */
    const uint16_t *half; /* [v,b,d] the same in half precision (util/dtype.h),
                           * if the request asked for it */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

WIRE_SIZED(features, WIRE_FEATURES)

/*
 * features.get: a request for the table of features at the end of an epoch, in
 * pieces; selector to trainer, answered by features.
 *
 * The trainer chooses the length of a piece, so that answering takes next to no
 * time of a step.  It answers with an error that has
 *
 *     this id             when the epoch is not over yet: request it later
 *     this id, need_state when features of that epoch were not stored and never
 *                         will be; or they are dropped, and the epoch to be
 *                         planned is over, too
 *     no id               when it does not store features for long enough
 */
struct wire_features_request {
    int64_t id;    /* of the request, from 1 */
    int64_t epoch; /* the features at its end */
    int64_t from;  /* the first sample of the piece */
    int half;      /* 1: in half precision */
    int64_t plan;  /* the epoch to be planned from them; -1: missing */
};

WIRE_PLAIN(features_request, WIRE_FEATURES_GET)

/*
 * plan: figures about the plan of an epoch, such as how hard its batches are;
 * selector to trainer, before it hands out the epoch's first item.  The trainer
 * answers with ok (wire/negatives.h) and writes it into the metrics of
 * the epoch's first step.
 */
enum { WIRE_PLAN_MAX = 32 };

struct wire_plan {
    int64_t id; /* of the request, from 1 */
    int64_t epoch;
    char strategy[32];
    size_t n; /* up to WIRE_PLAN_MAX */
    struct value values[WIRE_PLAN_MAX];
};

WIRE_PLAIN(plan, WIRE_PLAN)
