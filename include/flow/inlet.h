#pragma once

#include "flow/consumer.h"
#include "flow/server.h"

/*
 * The receiving end of an edge: a consumer (flow/consumer.h) with the socket to
 * which producers connect.
 *
 *     while ((rc = wire_wait(wire, stop, flow_inlet_pause_s(inlet), &err)) >
 *            0) {
 *         while (flow_inlet_next(inlet, &event))
 *             if (event.kind == FLOW_MESSAGE) flow_consumer_hold( ... )
 *         item = flow_consumer_take(inlet->consumer);
 *         if (!item)
 *             flow_consumer_mark_waiting(inlet->consumer, clock_now());
 *         flow_inlet_send_snapshots(inlet);
 *         if (item) {
 *             train ...
 *             flow_consumer_set_place(inlet->consumer, place after it);
 *         }
 *     }
 */
struct flow_inlet_config {
    struct flow_server_config server; /* its edge is set here */
    struct wire_place at;             /* session and first step */
    size_t window;                    /* items wanted, counted from the place */
};

struct flow_inlet {
    struct flow_server *server;
    struct flow_consumer *consumer;
    struct wire_msg *snapshot; /* the newest one, encoded, */
    int64_t serial;            /* and its serial */
};

/* flow_inlet_open() binds the socket; NULL on error. */
struct flow_inlet *flow_inlet_open(struct wire *wire,
                                   const struct flow_inlet_config *config,
                                   struct err *err);

/* flow_inlet_close() closes and frees it; take out all items first, by
 * flow_consumer_drop(). */
void flow_inlet_close(struct flow_inlet *inlet);

/* flow_inlet_next() returns 1 with an event, 0 when there is none.  It is
 * FLOW_JOINED, FLOW_LEFT, FLOW_REPORT or FLOW_MESSAGE, whose event->msg is a
 * batch. */
int flow_inlet_next(struct flow_inlet *inlet, struct flow_event *event);

/* flow_inlet_send_snapshots() sends the snapshots that are due.  Call it only
 * when flow_inlet_next() has returned 0. */
void flow_inlet_send_snapshots(struct flow_inlet *inlet);

/* flow_inlet_pause_s() returns the seconds to wait for messages, at most 1. */
double flow_inlet_pause_s(const struct flow_inlet *inlet);
