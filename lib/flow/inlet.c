#include <stdlib.h>

#include "flow/inlet.h"
#include "util/clock.h"
#include "util/mem.h"

struct flow_inlet *
flow_inlet_open(struct wire *wire, const struct flow_inlet_config *config,
                struct err *err)
{
    const struct wire_server_config server = {
        .endpoint = config->endpoint,
        .kind = WIRE_CONSUMES,
        .hello = config->hello,
        .limits = config->limits,
    };
    struct flow_inlet *inlet = mem_array(1, sizeof *inlet);

    inlet->consumer = flow_consumer_new(&config->at, 1);
    flow_consumer_room(inlet->consumer, config->room);
    inlet->server = wire_server_open(wire, &server, err);
    if (inlet->server)
        return inlet;
    flow_inlet_close(inlet);
    return NULL;
}

void
flow_inlet_close(struct flow_inlet *inlet)
{
    if (!inlet)
        return;
    wire_server_close(inlet->server);
    flow_consumer_free(inlet->consumer);
    free(inlet);
}

static int
bad(struct flow_inlet *inlet, struct wire_news *news)
{
    news->what = WIRE_REPORT;
    return wire_server_refuse(inlet->server, news->peer, &news->why);
}

static int
take(struct flow_inlet *inlet, struct wire_news *news)
{
    struct wire_place at;

    switch (wire_msg_kind(news->msg)) {
    case WIRE_BATCH:
        if (flow_consumer_came(inlet->consumer, news->peer))
            return 1;
        err_set(&news->why, "sent a batch that nobody asked for");
        return bad(inlet, news);
    case WIRE_END:
        if (wire_place_get(&at, news->msg, &news->why))
            return bad(inlet, news);
        flow_consumer_end(inlet->consumer, news->peer, &at);
        return 0;
    default:
        return 0;
    }
}

int
flow_inlet_next(struct flow_inlet *inlet, struct wire_news *news)
{
    struct err err;

    while (wire_server_next(inlet->server, news, &err) > 0) {
        if (news->what == WIRE_JOINED)
            flow_consumer_join(inlet->consumer, news->peer);
        if (news->what == WIRE_LEFT)
            flow_consumer_leave(inlet->consumer, news->peer);
        if (news->what != WIRE_MESSAGE || take(inlet, news))
            return 1;
    }
    return 0;
}

void
flow_inlet_ask(struct flow_inlet *inlet)
{
    const double now = clock_now();
    struct flow_ask ask;

    while (flow_consumer_turn(inlet->consumer, now, &ask)) {
        struct wire_msg *msg = wire_next_put(&ask.next);

        flow_consumer_asked(inlet->consumer, &ask,
                            wire_server_send(inlet->server, ask.peer, msg),
                            now);
        wire_msg_free(msg);
    }
}

void
flow_inlet_done(struct flow_inlet *inlet, const struct wire_place *at)
{
    struct wire_msg *msg = wire_place_put(WIRE_DONE, at);

    flow_consumer_go(inlet->consumer, at);
    for (size_t i = wire_server_peers(inlet->server); i-- > 0;)
        wire_server_send(inlet->server, wire_server_peer(inlet->server, i),
                         msg);
    wire_msg_free(msg);
}
