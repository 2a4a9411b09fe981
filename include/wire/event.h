#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include "wire/codec.h"

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

#endif
