/*
 * Sequences of messages from a binder to the end that connects, between which
 * its tool does what tools do.  Whatever comes, credit stays in range, the
 * place never goes back, and a refusal ends it with a sentence.
 */
#include "fuzz/sequence.h"
#include "wire/client.h"

enum { NEWS_MAX = 64 };

struct edge {
    struct wire_client *client;
    enum wire_client_kind kind;
    void *binder;
    struct wire_place at;
};

static void
check_state(struct edge *edge)
{
    const struct wire_place at = wire_client_place(edge->client);

    REQUIRE(wire_client_credit(edge->client) <= WIRE_CREDIT_MAX);
    REQUIRE(!wire_client_joined(edge->client) ||
            *wire_client_who(edge->client)->stage);
    REQUIRE(at.session >= edge->at.session);
    if (at.session == edge->at.session)
        REQUIRE(wire_place_cmp(&at, &edge->at) >= 0);
    edge->at = at;
}

/* 0, or -1 when the binder refused us. */
static int
read_news(struct edge *edge)
{
    struct wire_news news;
    struct err err = {""};
    int rc = 1;

    for (int n = 0; rc > 0 && n < NEWS_MAX; n++) {
        rc = wire_client_next(edge->client, &news, &err);
        if (rc > 0 && news.what == WIRE_MESSAGE)
            REQUIRE(news.msg);
        if (rc > 0 && news.what == WIRE_REPORT)
            REQUIRE(*news.why.msg);
    }
    REQUIRE(rc >= 0 || *err.msg);
    return rc < 0 ? -1 : 0;
}

/* What the tool does. */
static void
act(struct edge *edge, struct bytes *from)
{
    const unsigned what = byte(from);
    const struct wire_place at = place(from);
    const size_t credit = wire_client_credit(edge->client);
    struct wire_msg *msg;

    if (edge->kind == WIRE_BRINGS) {
        msg = small_batch(&at);
        if (wire_client_send(edge->client, msg))
            REQUIRE(wire_client_credit(edge->client) + 1 == credit);
        wire_msg_free(msg);
    } else if (what & 1) {
        wire_client_pass(edge->client, &at);
    } else {
        wire_client_want(edge->client, what % 16);
    }
    if (what == 254 && edge->kind == WIRE_ASKS)
        wire_client_over(edge->client);
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
    if (what < 192 && read_news(edge)) // else several come at once
        return -1;
    check_state(edge);
    return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct bytes from = {data, len < 4096 ? len : 4096};
    struct edge edge = {.kind = byte(&from) & 1 ? WIRE_ASKS : WIRE_BRINGS};
    struct wire_client_config config = {.kind = edge.kind};
    struct wire *wire;
    struct err err;

    // one of its own: ZeroMQ closes sockets in its own time, and may run out
    wire = wire_open(NULL, &err);
    config.endpoint = fresh_endpoint();
    config.hello = hello(&(struct bytes){NULL, 0});
    edge.binder = plain_socket(wire);
    REQUIRE(!zmq_bind(edge.binder, config.endpoint));
    edge.client = wire_client_open(wire, &config, &err);
    REQUIRE(edge.client);
    wire->first->up = 1; // which ZeroMQ does not tell of inproc
    edge.at = wire_client_place(edge.client);
    while (from.len && !step(&edge, &from))
        ;
    wire_client_close(edge.client);
    zmq_close(edge.binder);
    wire_close(wire);
    return 0;
}
