/*
 * Sequences of messages from a binder to the end that connects, between which
 * its tool does what tools do.  Whatever comes, a relay behind it keeps what it
 * may, and a refusal ends it with a sentence.
 */
#include "flow/client.h"
#include "flow/relay.h"
#include "fuzz/sequence.h"

enum { NEWS_MAX = 64 };

enum { ROOM = 2 };

struct edge {
    struct flow_client *client;
    enum wire_edge of;
    void *binder;
    struct flow_relay *relay; /* items are places */
    int64_t session;
};

static void
check_state(struct edge *edge)
{
    const int64_t session = flow_relay_place(edge->relay).session;

    REQUIRE(!flow_client_joined(edge->client) ||
            *flow_client_binder_hello(edge->client)->stage);
    REQUIRE(session >= edge->session);
    REQUIRE(flow_relay_unsent(edge->relay) <= ROOM);
    edge->session = session;
}

static void
take_item(struct edge *edge, const struct wire_item *item)
{
    struct wire_place *at = mem_array(1, sizeof *at);

    *at = wire_place_of(item->session, &item->batch);
    if (!flow_relay_take(edge->relay, at, at))
        free(at);
}

/* 0, or -1 when the binder refused us. */
static int
read_event(struct edge *edge)
{
    struct flow_event event;
    struct err err = {""};
    int rc = 1;

    for (int n = 0; rc > 0 && n < NEWS_MAX; n++) {
        rc = flow_client_next(edge->client, &event, &err);
        if (rc > 0 && event.kind == FLOW_MESSAGE) {
            REQUIRE(event.msg);
            if (edge->of == WIRE_EDGE_PLAN)
                take_item(edge, event.item);
            else
                flow_relay_on_snapshot(edge->relay, event.want);
        }
        if (rc > 0 && event.kind == FLOW_REPORT)
            REQUIRE(*event.why.msg);
    }
    REQUIRE(rc >= 0 || *err.msg);
    return rc < 0 ? -1 : 0;
}

static void
send_on(struct edge *edge, struct wire_msg *msg)
{
    flow_client_send(edge->client, msg);
    wire_msg_free(msg);
}

/* What the tool does. */
static void
act(struct edge *edge, struct bytes *from)
{
    const unsigned what = byte(from);
    const struct wire_place at = place(from);
    const struct wire_end end = {at, 1};
    struct wire_want next;
    struct wire_place *item;
    void *one, *two;

    while (flow_relay_stale(edge->relay, &one, &two))
        free(one);
    if (what & 1)
        flow_relay_on_reconnect(edge->relay);
    if (what & 2 && (item = flow_relay_work(edge->relay)))
        flow_relay_made(edge->relay, item);
    if (flow_relay_next_snapshot(edge->relay, what, &next)) {
        flow_relay_mark_snapshot_sent(edge->relay, what & 4, what);
        send_on(edge, wire_want_put(&next));
    }
    if (edge->of == WIRE_EDGE_BATCH)
        send_on(edge, small_batch(&at));
    if (what == 254)
        send_on(edge, wire_end_put(&end));
}

static int
step(struct edge *edge, struct bytes *from)
{
    const unsigned what = byte(from);

    switch (what % 8) {
    case 0:
    case 1:
        act(edge, from);
        break;
    case 2:
        drain(edge->binder);
        break;
    case 3:
        post(edge->binder, message(from), 1 + byte(from));
        break;
    default:
        post(edge->binder, message(from), 0);
    }
    if (what < 192 && read_event(edge)) // else several come at once
        return -1;
    check_state(edge);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes from = {data, len < 4096 ? len : 4096};
    struct edge edge = {.of =
                            byte(&from) & 1 ? WIRE_EDGE_PLAN : WIRE_EDGE_BATCH};
    struct flow_client_config config = {.edge = edge.of};
    struct wire *wire;
    void *one, *two;
    struct err err;

    // one of its own: ZeroMQ closes sockets in its own time, and may run out
    wire = wire_open(NULL, &err);
    config.endpoint = fresh_endpoint();
    config.hello = hello(&(struct bytes){NULL, 0});
    edge.binder = plain_socket(wire);
    REQUIRE(!zmq_bind(edge.binder, config.endpoint));
    edge.client = flow_client_open(wire, &config, &err);
    REQUIRE(edge.client);
    wire->first->up = 1; // which ZeroMQ does not tell of inproc
    edge.session = -1;
    edge.relay = flow_relay_new(ROOM);
    while (from.len && !step(&edge, &from))
        ;
    while (flow_relay_drop(edge.relay, &one, &two))
        free(one);
    flow_relay_free(edge.relay);
    flow_client_close(edge.client);
    zmq_close(edge.binder);
    wire_close(wire);
    return 0;
}
