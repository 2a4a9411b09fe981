#ifndef WIRE_EVENT_H
#define WIRE_EVENT_H

#include "wire/msg.h"

/*
 * event: something happened; trainer to subscribers.
 *
 *     sequence     whole  counts the publisher's messages from 0
 *     what         text   "step", "checkpoint", "epoch" or "stop"
 *     epoch, step  whole  steps of this epoch that are trained
 *     path         text   optional, up to 1023 bytes: of the checkpoint
 *     reason       text   optional, up to 255 bytes: of the stop
 */
struct wire_event {
    int64_t sequence;
    char what[16];
    int64_t epoch, step;
    char path[1024], reason[256];
};

struct wire_msg *wire_event_put(const struct wire_event *event);
int wire_event_get(struct wire_event *event, const struct wire_msg *msg,
                   struct err *err);

#endif
