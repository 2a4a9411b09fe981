#ifndef FLOW_INLET_H
#define FLOW_INLET_H

#include "flow/consumer.h"
#include "wire/server.h"

/*
 * The end of an edge that items come in by: a consumer (flow/consumer.h) behind
 * a socket that many connect to.
 *
 *     while ((rc = wire_wait(wire, stop, 1, &err)) > 0) {
 *         while (flow_inlet_next(inlet, &news))
 *             if (news.what == WIRE_MESSAGE) flow_consumer_hold( ... )
 *         flow_inlet_ask(inlet);
 *         while ((item = flow_consumer_take(inlet->consumer)))
 *             flow_inlet_done(inlet, place behind it);
 *         flow_consumer_wait(inlet->consumer, clock_now());
 *         flow_inlet_ask(inlet);
 *     }
 */
struct flow_inlet_config {
    const char *endpoint;
    struct wire_hello hello; /* as in wire/server.h */
    struct wire_limits limits;
    struct wire_place at; /* session and first step */
    size_t room;          /* items that are welcome at a time */
};

struct flow_inlet {
    struct wire_server *server;
    struct flow_consumer *consumer;
};

struct flow_inlet *flow_inlet_open(struct wire *wire,
                                   const struct flow_inlet_config *config,
                                   struct err *err);

/* flow_inlet_close(): take out what is held first; see flow/consumer.h. */
void flow_inlet_close(struct flow_inlet *inlet);

/*
 * flow_inlet_next() returns 1 with news, 0 when there is none now: JOINED,
 * LEFT, REPORT, and MESSAGE, of which news->msg is a batch that was asked for.
 */
int flow_inlet_next(struct flow_inlet *inlet, struct wire_news *news);

/* flow_inlet_ask() sends what the consumer has to say. */
void flow_inlet_ask(struct flow_inlet *inlet);

/* flow_inlet_done() goes to a place, and tells all peers that every step before
 * it is trained. */
void flow_inlet_done(struct flow_inlet *inlet, const struct wire_place *at);

#endif
