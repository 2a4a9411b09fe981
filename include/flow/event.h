#pragma once

#include "util/err.h"
#include "wire/batch.h"

/* What an end of an edge reports to the main loop of its tool. */
enum flow_event_kind {
    FLOW_NOTHING, /* nothing that the tool has to act on */
    FLOW_JOINED,  /* a peer joined by hello; comes again after a reconnection */
    FLOW_LEFT,    /* a peer is gone: its leases are free */
    FLOW_MESSAGE, /* event.msg is for the tool: item, batch, reject, weights.get
                     ... */
    FLOW_NEW_SESSION, /* a newer one: hand out everything again from event.at */
    FLOW_PROGRESS,    /* every step before event.at is trained */
    FLOW_REWOUND, /* the consumer went back to event.at, or a later place that a
                   * peer sent was wrong: act as after FLOW_NEW_SESSION */
    FLOW_ENDED,   /* a producer has nothing at or after event.at */
    FLOW_OVER,    /* the run is over */
    FLOW_ITEM_REFUSED, /* the other end refuses our item or batch of event.at */
    FLOW_REPORT /* print event.why: a message was refused, without effect */
};

struct flow_event {
    enum flow_event_kind kind;
    uint64_t peer;          /* number of the peer; 0 on the connecting side */
    struct wire_place at;   /* where the list above names it */
    struct wire_msg *msg;   /* FLOW_MESSAGE: valid until the next call */
    struct wire_want *want; /* msg decoded, if it is a snapshot; else NULL */
    const struct wire_item *item; /* likewise, if a client received an item */
    struct err why; /* FLOW_REPORT: to be printed; FLOW_ITEM_REFUSED: likewise,
                     * "" when there is nothing to print */
};
