#pragma once

#include "flow/producer.h"
#include "flow/server.h"

/*
 * The sending end of an edge: a producer (flow/producer.h) with the socket to
 * which its peers connect.
 *
 *     while ((rc = wire_wait(wire, stop, flow_outlet_pause_s(outlet), &err)) >
 *            0) {
 *         while (flow_outlet_next(outlet, &event))
 *             switch (event.kind) ...
 *         while (flow_outlet_late(outlet, &words)) ...
 *         while (flow_producer_needs_place(outlet->producer))
 *             flow_producer_add( ... )
 *         while (flow_producer_next_item(outlet->producer, clock_now(), &turn))
 *             flow_outlet_send_item(outlet, &turn, msg);
 *         flow_outlet_send_end(outlet);
 *     }
 */

/*
 * A function of the tool that checks a snapshot sent by a peer, before it has
 * any effect, and may rewrite its place in the tool's own form.  Returns 0, or
 * -1 with a message, and then the message is refused.
 *   tool   that of the configuration
 */
typedef int flow_check_place(void *tool, struct wire_want *want,
                             struct err *err);

struct flow_outlet_config {
    struct flow_server_config server; /* its edge is set here */
    double lease;                     /* seconds */
    flow_check_place *check_place;    /* NULL: every place is accepted */
    void *tool;
};

struct flow_outlet {
    struct flow_server *server;
    struct flow_producer *producer;
    flow_check_place *check_place;
    void *tool;
    size_t freed;  /* items that the peer of the last FLOW_LEFT had */
    double probed; /* time of the last connection test of a holder */
};

/* flow_outlet_open() binds the socket; NULL on error. */
struct flow_outlet *flow_outlet_open(struct wire *wire,
                                     const struct flow_outlet_config *config,
                                     struct err *err);
void flow_outlet_close(struct flow_outlet *outlet);

/*
 * flow_outlet_next() returns 1 with an event, 0 when there is none.  It is
 * FLOW_JOINED, FLOW_LEFT, FLOW_NEW_SESSION, FLOW_REWOUND, FLOW_PROGRESS,
 * FLOW_REPORT or FLOW_MESSAGE with a reject in event->msg.  While the trainer
 * waits for an item, the connection to the peer that has it is tested
 * repeatedly, so that a killed peer leaves at once.
 */
int flow_outlet_next(struct flow_outlet *outlet, struct flow_event *event);

/* flow_outlet_send_item() sends the item of a turn and records it: 1, or 0 when
 * it could not be sent. */
int flow_outlet_send_item(struct flow_outlet *outlet,
                          const struct flow_send_item *turn,
                          struct wire_msg *item);

/* flow_outlet_send_end() sends the end of the plan, when it is within the
 * window, to the peers that want items. */
void flow_outlet_send_end(struct flow_outlet *outlet);

/* flow_outlet_late() revokes all items of a late peer: 1 with a message that
 * names it, or 0 when there is none. */
int flow_outlet_late(struct flow_outlet *outlet, struct err *words);

/* flow_outlet_is_over() returns 1 when the run is over, as in
 * flow_producer_over(); flow_outlet_send_over() reports that to all peers. */
int flow_outlet_is_over(const struct flow_outlet *outlet);
void flow_outlet_send_over(struct flow_outlet *outlet);

/* flow_outlet_pause_s() returns the seconds to wait for messages, 0.05 to 1. */
double flow_outlet_pause_s(const struct flow_outlet *outlet);
