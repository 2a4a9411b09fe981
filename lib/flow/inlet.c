#include <math.h>
#include <stdlib.h>

#include "flow/inlet.h"
#include "util/clock.h"
#include "util/mem.h"

struct flow_inlet *
flow_inlet_open(struct wire *wire, const struct flow_inlet_config *config,
                struct err *err)
{
    struct flow_server_config server = config->server;
    struct flow_inlet *inlet = mem_array(1, sizeof *inlet);

    server.edge = WIRE_EDGE_BATCH;
    inlet->consumer = flow_consumer_new(&config->at, config->window, 1);
    inlet->server = flow_server_open(wire, &server, err);
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
    flow_server_close(inlet->server);
    wire_msg_free(inlet->snapshot);
    flow_consumer_free(inlet->consumer);
    free(inlet);
}

int
flow_inlet_next(struct flow_inlet *inlet, struct flow_event *event)
{
    while (flow_server_next(inlet->server, event)) {
        if (event->kind == FLOW_JOINED)
            flow_consumer_join(inlet->consumer, event->peer);
        if (event->kind == FLOW_LEFT)
            flow_consumer_leave(inlet->consumer, event->peer);
        if (event->kind != FLOW_ENDED && event->kind != FLOW_OVER)
            return 1;
        flow_consumer_on_end(inlet->consumer, event->peer, &event->at);
    }
    return 0;
}

void
flow_inlet_send_snapshots(struct flow_inlet *inlet)
{
    const double now = clock_now();
    struct flow_send_snapshot ask;

    while (flow_consumer_next_snapshot(inlet->consumer, now, &ask)) {
        if (inlet->serial != ask.want.serial) { // encoded once for all peers
            wire_msg_free(inlet->snapshot);
            inlet->snapshot = wire_want_put(&ask.want);
            inlet->serial = ask.want.serial;
        }
        flow_consumer_mark_sent(
            inlet->consumer, &ask,
            flow_server_send(inlet->server, ask.peer, inlet->snapshot), now);
    }
}

double
flow_inlet_pause_s(const struct flow_inlet *inlet)
{
    return fmin(flow_consumer_due(inlet->consumer, clock_now()), 1);
}
