#include "t.h"
#include "wire/batch.h"

#include "peer.h"

static struct flow_server *
open_plan(struct wire *wire, const char *name)
{
    return server_at(wire, name, WIRE_EDGE_PLAN, "select", "");
}

/* Run both sides for a moment, whatever arrives. */
static void
let_come(struct wire *a, struct wire *b, struct flow_server *server)
{
    struct flow_event event;

    server_sees(a, b, server, FLOW_OVER, &event, 0.15);
}

/* A repeated hello changes nothing; on another connection it replaces the
 * peer. */
static void
greetings(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = open_plan(a, "greetings");
    struct wire_sock *sock = join(b, at("greetings"), "x"), *back;
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct flow_event event;
    uint64_t peer;

    T(server_sees(a, b, server, FLOW_JOINED, &event, 60),
      "[unknown: hello that fits] the peer has joined");
    peer = event.peer;
    strcpy(hello.peer, "x");
    send_and_free(sock, wire_hello_put(&hello));
    T(!server_sees(a, b, server, FLOW_JOINED, &event, 0.15),
      "[known: hello that fits] a second hello changes nothing");
    hello.size = 11;
    send_and_free(sock, wire_hello_put(&hello));
    T(server_sees(a, b, server, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "of 11") && flow_server_peers(server) == 1,
      "[known: hello that does not fit] the reason is sent, the peer remains");
    back = join(b, at("greetings"), "x");
    T(server_sees(a, b, server, FLOW_JOINED, &event, 60) && event.peer != peer,
      "[unknown: hello of a name that is known] on another connection it is "
      "a new peer");
    T(server_sees(a, b, server, FLOW_LEFT, &event, 60) && event.peer == peer &&
          flow_server_peers(server) == 1,
      "the peer of the old connection is gone");
    peer = flow_server_peer(server, 0);
    wire_sock_close(sock);
    wire_sock_close(back);
    for (int i = 0; i < 500 && flow_server_ping(server, peer); i++)
        turn(a, b);
    T(server_sees(a, b, server, FLOW_LEFT, &event, 60) && event.peer == peer,
      "[known: it cannot be sent to] it has left");
    flow_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* Errors that reached a peer, one for each kind of message at least. */
static int
errors_of(struct wire_sock *sock, struct wire_error *last)
{
    struct wire_msg *msg;
    struct err err;
    int n = 0;

    while (wire_sock_recv(sock, NULL, &msg, &err) > 0) {
        n += wire_msg_kind(msg) == WIRE_ERROR &&
             !wire_error_get(last, msg, &err) && *last->of.kind;
        wire_msg_free(msg);
    }
    return n;
}

static struct wire_msg *
useless_item(void)
{
    const int64_t ids[] = {1, 2};
    const struct wire_item item = {.session = 6,
                                   .batch.epoch = 0,
                                   .batch.step = 3,
                                   .size = 10,
                                   .batch.steps = 5,
                                   .batch.epochs = 1,
                                   .batch.b = 2,
                                   .batch.ids = ids};

    return wire_item_put(&item);
}

/* A peer that keeps sending useless messages. */
static void
nonsense(void)
{
    const int64_t ids[] = {1, 2};
    const struct wire_reject reject = {.n = 2, .ids = ids};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = open_plan(a, "nonsense");
    struct wire_sock *sock = join(b, at("nonsense"), "x");
    struct wire_error error = {.id = -1};
    struct flow_event event;
    int away = 0, errors = 0;

    T(server_sees(a, b, server, FLOW_JOINED, &event, 60),
      "the peer has joined");
    for (int i = 0; i < 80; i++) {
        if (i % 60 == 0)
            send_and_free(sock, wire_reject_put(&reject));
        send_and_free(sock, useless_item());
    }
    for (int i = 0; i < 1000 && errors < 16; i++) {
        server_sees(a, b, server, FLOW_OVER, &event, 0);
        errors += errors_of(sock, &error);
    }
    let_come(a, b, server);
    T(flow_server_peers(server) == 1,
      "80 refused ones, and a good one between them: it remains");
    T(errors >= 16, "its sender receives errors");
    T(!strcmp(error.of.kind, "item") && error.of.at.session == 6 &&
          error.of.at.step == 3 && error.count > 1,
      "with kind, place and count: %s of step %jd, %jd", error.of.kind,
      (intmax_t)error.of.at.step, (intmax_t)error.count);
    for (int i = 0; i < 64; i++)
        send_and_free(sock, useless_item());
    while (!away && server_sees(a, b, server, FLOW_REPORT, &event, 60))
        away = strstr(event.why.msg, "is disconnected") != NULL;
    T(away, "after 64 in a row the peer is disconnected: %s", event.why.msg);
    T(server_sees(a, b, server, FLOW_LEFT, &event, 60),
      "a disconnected peer is gone");
    wire_sock_close(sock);
    flow_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* A peer's refusal of an item reaches the sender of the item. */
static void
refused_item(void)
{
    const struct wire_error no = {
        .reason = "no such image", .id = -1, .of = {"item", {6, 1, 2}, 0}};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = open_plan(a, "refused");
    struct wire_sock *sock = join(b, at("refused"), "x");
    struct flow_event event;
    struct wire_error error;
    int reported = 0, n = 0;

    T(server_sees(a, b, server, FLOW_JOINED, &event, 60),
      "the peer has joined");
    for (int i = 0; i < 5; i++)
        send_and_free(sock, wire_error_put(&no));
    while (
        server_sees(a, b, server, FLOW_ITEM_REFUSED, &event, n < 5 ? 5 : 0.1)) {
        n += event.at.epoch == 1 && event.at.step == 2;
        reported += *event.why.msg != '\0';
    }
    T(n == 5, "each error about an item is an event for the producer");
    T(reported == 3, "that is reported the 1st, 2nd, 4th time");
    T(errors_of(sock, &error) == 0, "an error is not answered");
    wire_sock_close(sock);
    flow_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* END, then a close: the last message must arrive. */
static int
last_message_arrives(void)
{
    struct err err;
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    const struct wire_place place = {1, 0, 0};
    struct flow_server *server =
        server_at(a, "last", WIRE_EDGE_BATCH, "train", "");
    struct flow_client *client =
        client_at(b, "last", WIRE_EDGE_BATCH, "augment");
    struct flow_event event;
    int ok = server_sees(a, b, server, FLOW_JOINED, &event, 60) &&
             client_sees(a, b, client, FLOW_JOINED, &event, 60);

    flow_server_send_over(server, &place);
    flow_server_close(server);
    wire_close(a);
    a = wire_open(NULL, &err);
    ok = ok && client_sees(a, b, client, FLOW_OVER, &event, 60);
    flow_client_close(client);
    wire_close(a);
    wire_close(b);
    return ok;
}

static void
last_words(void)
{
    int ok = 0;

    for (int i = 0; i < 20; i++)
        ok += last_message_arrives();
    T(ok == 20, "%d of 20 last messages arrived", ok);
}

int
main(void)
{
    scratch_open();
    greetings();
    nonsense();
    refused_item();
    last_words();
    scratch_close();
    return t_done();
}
