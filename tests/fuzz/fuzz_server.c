/*
 * Sequences of messages from up to three peers to the end that binds, between
 * which its tool does what tools do.  Whatever comes, what is held and handed
 * out stays within the window, and events are about peers that are there.
 */
#include "flow/inlet.h"
#include "flow/outlet.h"
#include "fuzz/sequence.h"
#include "util/clock.h"
#include "util/mem.h"

enum { PEERS = 3, NEWS_MAX = 64, WINDOW = 4 };

static const enum wire_edge edges[] = {WIRE_EDGE_PLAN, WIRE_EDGE_BATCH,
                                       WIRE_EDGE_NEGATIVES};

struct edge {
    struct wire *wire;
    struct flow_outlet *outlet; /* around the server, of who produces */
    struct flow_inlet *inlet;   /* of who consumes */
    struct flow_server *server;
    enum wire_edge of;
    const char *endpoint;
    void *peer[PEERS];
};

static void
connect_peer(struct edge *edge, size_t i)
{
    if (edge->peer[i])
        zmq_close(edge->peer[i]);
    edge->peer[i] = plain_socket(edge->wire);
    REQUIRE(!zmq_connect(edge->peer[i], edge->endpoint));
}

static void
check_state(struct edge *edge)
{
    const size_t n = flow_server_peers(edge->server);

    for (size_t i = 0; i < n; i++) {
        const uint64_t peer = flow_server_peer(edge->server, i);

        REQUIRE(peer && flow_server_peer_hello(edge->server, peer));
    }
    if (edge->inlet)
        REQUIRE(flow_consumer_held(edge->inlet->consumer) <= WINDOW);
    if (edge->outlet)
        REQUIRE(flow_producer_leases(edge->outlet->producer) <=
                (size_t)flow_producer_newest(edge->outlet->producer)->window);
}

static void
read_event(struct edge *edge, uint64_t *last)
{
    struct flow_event event;
    int n = 0;

    while (n++ < NEWS_MAX &&
           (edge->outlet  ? flow_outlet_next(edge->outlet, &event)
            : edge->inlet ? flow_inlet_next(edge->inlet, &event)
                          : flow_server_next(edge->server, &event)) > 0) {
        if (event.kind == FLOW_MESSAGE)
            REQUIRE(event.msg &&
                    flow_server_peer_hello(edge->server, event.peer));
        if (event.kind == FLOW_REPORT)
            REQUIRE(*event.why.msg);
        if (event.kind == FLOW_MESSAGE || event.kind == FLOW_JOINED)
            *last = event.peer;
    }
}

/* The trainer: a batch is held as its place. */
static void
consume(struct flow_inlet *inlet, const struct wire_place *at, unsigned what)
{
    struct flow_consumer *consumer = inlet->consumer;
    struct wire_place *item = mem_array(1, sizeof *item);

    *item = *at;
    free(flow_consumer_wants(consumer, at)
             ? flow_consumer_hold(consumer, at, item)
             : item);
    free(flow_consumer_take(consumer));
    if (what & 1)
        flow_consumer_mark_waiting(consumer, clock_now());
    else
        flow_consumer_set_place(consumer, at);
    while ((item = flow_consumer_stale(consumer)))
        free(item);
    flow_inlet_send_snapshots(inlet);
}

/* The selector. */
static void
produce(struct flow_outlet *outlet, const struct wire_place *at, unsigned what)
{
    struct flow_producer *producer = outlet->producer;
    struct wire_place fresh, behind;
    struct flow_send_item turn;
    struct wire_msg *msg;
    struct err words;

    while (flow_producer_needs_place(producer)) {
        fresh = behind = flow_producer_fresh(producer);
        if (fresh.step % 7 == 6)
            break;
        behind.step++;
        flow_producer_add(producer, &fresh, &behind);
    }
    if (what & 1)
        flow_producer_close(producer, &behind);
    if (what & 2)
        flow_producer_on_refusal(producer, what % 5, at, clock_now());
    flow_outlet_late(outlet, &words);
    flow_outlet_send_end(outlet);
    if (!flow_producer_next_item(producer, clock_now(), &turn))
        return;
    msg = small_item(&turn.at);
    flow_outlet_send_item(outlet, &turn, msg);
    wire_msg_free(msg);
}

/* What the tool does. */
static void
act(struct edge *edge, struct bytes *from, uint64_t peer)
{
    const unsigned what = byte(from);
    const struct wire_place at = place(from);
    struct wire_msg *msg;

    if (edge->of == WIRE_EDGE_NEGATIVES) {
        msg = wire_heartbeat_put(&(struct wire_heartbeat){0});
        flow_server_answer(edge->server, peer, what, msg);
        wire_msg_free(msg);
    } else if (edge->of == WIRE_EDGE_BATCH) {
        consume(edge->inlet, &at, what);
    } else {
        produce(edge->outlet, &at, what);
    }
    if (what == 254 && edge->of != WIRE_EDGE_NEGATIVES)
        flow_server_send_over(edge->server, &at);
}

static void
step(struct edge *edge, struct bytes *from, uint64_t *last)
{
    const unsigned what = byte(from);
    void *peer = edge->peer[what % PEERS];

    switch (what / PEERS % 16) {
    case 0:
        connect_peer(edge, what % PEERS);
        break;
    case 1:
        drain(peer);
        break;
    case 2:
    case 3:
    case 4:
        act(edge, from, *last);
        break;
    case 5:
        post(peer, message(from), 1 + byte(from));
        break;
    default:
        post(peer, message(from), 0);
    }
    if (what < 192) // else several come at once
        read_event(edge, last);
    check_state(edge);
}

static void
close_inlet(struct flow_inlet *inlet)
{
    void *item;

    while ((item = flow_consumer_drop(inlet->consumer)))
        free(item);
    flow_inlet_close(inlet);
}

static void
open_edge(struct edge *edge)
{
    struct flow_server_config config = {.edge = edge->of};
    struct flow_inlet_config inlet = {.at = {1, 0, 0}, .window = WINDOW};
    struct flow_outlet_config outlet = {.lease = 10};
    struct err err;

    edge->endpoint = config.endpoint = fresh_endpoint();
    config.hello = hello(&(struct bytes){NULL, 0});
    outlet.server = inlet.server = config;
    if (edge->of == WIRE_EDGE_PLAN) {
        edge->outlet = flow_outlet_open(edge->wire, &outlet, &err);
        REQUIRE(edge->outlet);
        edge->server = edge->outlet->server;
    } else if (edge->of == WIRE_EDGE_BATCH) {
        edge->inlet = flow_inlet_open(edge->wire, &inlet, &err);
        REQUIRE(edge->inlet);
        edge->server = edge->inlet->server;
    } else {
        edge->server = flow_server_open(edge->wire, &config, &err);
        REQUIRE(edge->server);
    }
}

static void
close_edge(struct edge *edge)
{
    if (edge->outlet)
        flow_outlet_close(edge->outlet);
    else if (edge->inlet)
        close_inlet(edge->inlet);
    else
        flow_server_close(edge->server);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes from = {data, len < 4096 ? len : 4096};
    struct edge edge = {.of = edges[byte(&from) % 3]};
    struct err err;
    uint64_t last = 0;

    // one of its own: ZeroMQ closes sockets in its own time, and may run out
    edge.wire = wire_open(NULL, &err);
    open_edge(&edge);
    for (size_t i = 0; i < PEERS; i++)
        connect_peer(&edge, i);
    while (from.len)
        step(&edge, &from, &last);
    read_event(&edge, &last);
    check_state(&edge);
    for (size_t i = 0; i < PEERS; i++)
        zmq_close(edge.peer[i]);
    close_edge(&edge);
    wire_close(edge.wire);
    return 0;
}
