#pragma once

#include "util/batch.h"
#include "util/value.h"
#include "util/weights.h"
#include "wire/codec.h"

/* The messages of edge events, with `features` (wire/features.h). */

/* event: something happened; trainer to subscribers. */
struct wire_event {
    int64_t sequence;    /* counts the publisher's messages from 0 */
    char what[16];       /* "step", "checkpoint", "epoch", "result" or "stop" */
    int64_t epoch, step; /* steps of this epoch that are trained */
    char path[1024];     /* of the checkpoint, or "" */
    char reason[256];    /* of the stop, or "" */
    char line[4096];     /* of results.jsonl, JSON, or "" */
};

WIRE_PLAIN(event, WIRE_EVENT)

/* metrics: named numbers, all finite; any stage to subscribers. */
enum { WIRE_METRICS_MAX = 256 };

struct wire_metrics {
    int64_t sequence; /* counts the publisher's messages from 0 */
    char stage[32];
    int64_t step;
    size_t n; /* up to WIRE_METRICS_MAX */
    struct value values[WIRE_METRICS_MAX];
};

WIRE_PLAIN(metrics, WIRE_METRICS)

/* status: figures about a stage, as the trainer sees it; trainer to
 * subscribers, each second. */
enum { WIRE_STATUS_MAX = 16 };

struct wire_status {
    int64_t sequence; /* counts the publisher's messages from 0 */
    char stage[32];   /* "train", "augment" ... */
    int64_t number;   /* among the stages of that name, > 0 */
    size_t n;         /* up to WIRE_STATUS_MAX */
    struct value values[WIRE_STATUS_MAX];
};

WIRE_PLAIN(status, WIRE_STATUS)

/*
 * top_negatives: the k negatives with the most weight from the sampler in a
 * step, for each anchor; trainer to subscribers, while there are any.  An
 * anchor with fewer weighed negatives has -1 with a weight of 0 for the rest.
 */
struct wire_top_negatives {
    int64_t sequence;         /* counts the publisher's messages from 0 */
    char sampler[64];         /* name and version, "emc2 1"; or "" */
    size_t columns;           /* negatives that were weighed for an anchor */
    struct batch batch;       /* epoch, step, beta, b, v, ids */
    struct heaviest heaviest; /* of the v b rows */
    struct wire_msg *msg;     /* held by a decoded one; else NULL */
};

WIRE_SIZED(top_negatives, WIRE_TOP_NEGATIVES)
