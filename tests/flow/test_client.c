#include "t.h"
#include "wire/batch.h"

#include "ends.h"

/* The two ends of the edge of plans. */
static struct flow_server *
selector_at(struct wire *wire, const char *name)
{
    return server_at(wire, name, WIRE_EDGE_PLAN, "select", "r");
}

static struct flow_client *
augmenter_at(struct wire *wire, const char *name)
{
    return client_at(wire, name, WIRE_EDGE_PLAN, "augment");
}

/* The binder stops and restarts: the client joins again by itself. */
static void
binder_restarts(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = selector_at(a, "again");
    struct flow_client *client = augmenter_at(b, "again");
    struct wire_want next = {0};
    struct flow_event event;

    T(!send_to_server(client, next_of(9, 1, 2, 1)),
      "nothing is sent before a greeting");
    T(server_sees(a, b, server, FLOW_JOINED, &event, 60),
      "the peer has joined");
    T(client_sees(a, b, client, FLOW_JOINED, &event, 60), "both");
    T(send_to_server(client, next_of(9, 1, 2, 5)) &&
          server_is_asked(a, b, server, client, &next),
      "the binder gets the snapshot");
    T(next.at.session == 9 && next.at.epoch == 1 && next.at.step == 2 &&
          next.serial == 5 && next.window == 8,
      "with the place");

    flow_server_close(server);
    server = selector_at(a, "again");
    T(server != NULL, "another binder at the same address");
    T(both_see(a, b, server, client, FLOW_JOINED, &event), "joined again");
    T(client_sees(a, b, client, FLOW_JOINED, &event, 60),
      "the reconnection is an event for the client's tool");

    close_ends(a, b, server, client);
}

/* The heartbeat of a peer. */
static void
heartbeat_is_stored(void)
{
    const struct wire_heartbeat heartbeat = {2, 1, 3, 40, "select"};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = selector_at(a, "heartbeat");
    struct flow_client *client = augmenter_at(b, "heartbeat");
    const struct wire_heartbeat *stored;
    struct flow_event event;
    uint64_t peer;

    T(server_sees(a, b, server, FLOW_JOINED, &event, 60) &&
          client_sees(a, b, client, FLOW_JOINED, &event, 60),
      "a peer joins");
    peer = flow_server_peer(server, 0);
    T(!flow_server_heartbeat(server, peer + 1),
      "an unknown peer has no heartbeat");
    stored = flow_server_heartbeat(server, peer);
    T(stored && !stored->room && !*stored->source, "it has sent none yet");
    send_to_server(client, wire_heartbeat_put(&heartbeat));
    for (int i = 0; i < 500 && !flow_server_heartbeat(server, peer)->room;
         i++) {
        turn(a, b);
        flow_server_next(server, &event);
    }
    stored = flow_server_heartbeat(server, peer);
    T(stored->room == 2 && stored->items == 1 && stored->ready == 3 &&
          stored->made == 40 && !strcmp(stored->source, "select"),
      "its last heartbeat is stored");
    close_ends(a, b, server, client);
}

/* A binder that forgot us on the same connection reports that. */
static void
unknown_peer_gets_error(void)
{
    const struct wire_limits limits = {0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_open(a, WIRE_ROUTER, at("known"), NULL, &limits, &err);
    struct flow_client *client = augmenter_at(b, "known");
    struct wire_error again = {.reason = "who", .rehello = 1, .id = -1};
    struct wire_hello mine = hello_of("select", "r", digest_a, 10);
    struct wire_msg *reply[] = {wire_hello_put(&mine), wire_error_put(&again)};
    struct flow_event event;
    struct wire_msg *msg;
    struct wire_id from;
    int hellos = 0;

    // answer the first hello, then forget it, then answer the second
    for (int i = 0; i < 1000 && hellos < 2; i++) {
        turn(a, b);
        while (flow_client_next(client, &event, &err) > 0)
            ;
        if (wire_sock_recv(sock, &from, &msg, &err) <= 0)
            continue;
        hellos += wire_msg_kind(msg) == WIRE_HELLO;
        wire_sock_send(sock, &from, reply[0]);
        if (hellos == 1)
            wire_sock_send(sock, &from, reply[1]);
        wire_msg_free(msg);
    }
    T(hellos == 2, "after the error it sends hello again");
    T(client_sees(a, b, client, FLOW_JOINED, &event, 60),
      "after that hello the client joins");
    wire_msg_free(reply[0]);
    wire_msg_free(reply[1]);
    flow_client_close(client);
    wire_sock_close(sock);
    wire_close(a);
    wire_close(b);
}

/* A refusal by the binder ends the client, with the reason. */
static void
refused(const char *what, const struct wire_hello *hello)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = selector_at(a, "refused");
    const struct flow_client_config config = {
        .endpoint = at("refused"), .edge = WIRE_EDGE_PLAN, .hello = *hello};
    struct flow_client *client = flow_client_open(b, &config, &err);
    struct flow_event event;
    int rc = 0, reports = 0;

    for (int i = 0; i < 1000 && rc >= 0; i++) {
        turn(a, b);
        while (flow_server_next(server, &event) > 0)
            reports += event.kind == FLOW_REPORT;
        rc = flow_client_next(client, &event, &err);
    }
    T(rc < 0 && *err.msg, "[unknown: hello that does not fit] %s: %s", what,
      err.msg);
    T(reports == 1, "the binder reports it once");
    T(flow_server_peers(server) == 0, "the binder has no peer");
    close_ends(a, b, server, client);
}

static void
misfits(void)
{
    struct wire_hello hello = hello_of("augment", "other", digest_a, 10);

    refused("another run", &hello);
    hello = hello_of("augment", "r", digest_a, 11);
    refused("another size", &hello);
    hello = hello_of("augment", "r", "ffffffffffffffffffffffffffffffff", 10);
    refused("another data set", &hello);
}

/* A binder played by the test, and the connecting end. */
struct hand {
    struct wire *a, *b;
    struct wire_sock *sock;
    struct flow_client *client;
    struct wire_id from; /* after its hello */
};

static void
hand_open(struct hand *h)
{
    const struct wire_limits limits = {0};
    struct wire_msg *msg = NULL;
    struct flow_event event;
    struct err err;

    h->a = wire_open(NULL, &err);
    h->b = wire_open(NULL, &err);
    h->sock =
        wire_sock_open(h->a, WIRE_ROUTER, at("greeting"), NULL, &limits, &err);
    h->client = augmenter_at(h->b, "greeting");
    for (int i = 0; i < 1000 && !msg; i++) {
        turn(h->a, h->b);
        flow_client_next(h->client, &event, &err);
        wire_sock_recv(h->sock, &h->from, &msg, &err);
    }
    wire_msg_free(msg);
}

/* The client receives a message: returns its event, or -1. */
static int
receives(struct hand *h, struct wire_msg *msg)
{
    struct flow_event event;
    struct err err;
    int rc = 0;

    wire_sock_send(h->sock, &h->from, msg);
    wire_msg_free(msg);
    for (int i = 0; i < 20 && !rc; i++) {
        turn(h->a, h->b);
        rc = flow_client_next(h->client, &event, &err);
    }
    return rc > 0 ? (int)event.kind : rc;
}

/* The rows of a greeting at the connecting end. */
static void
greeting(void)
{
    const struct wire_end end = {.at = {5, 1, 0}};
    const struct wire_error id = {.id = 7}, plain = {.id = -1};
    struct wire_error kind = {.id = -1, .of = {.kind = "next"}};
    struct wire_hello mine = hello_of("select", "r", digest_a, 10),
                      other = hello_of("select", "r", digest_a, 11);
    struct hand h;

    kind.of.at.session = -1;
    hand_open(&h);
    T(!receives(&h, wire_end_put(&end)),
      "[GREETING: a message of the edge] it is dropped");
    T(receives(&h, wire_error_put(&kind)) == FLOW_REPORT,
      "[any: error with kind] it is to be printed");
    T(receives(&h, wire_hello_put(&mine)) == FLOW_JOINED,
      "the answer to hello");
    T(receives(&h, wire_end_put(&end)) == FLOW_ENDED,
      "[IN: a message of the edge] it is an event");
    T(!receives(&h, wire_error_put(&id)),
      "an error with the id of a request, of which there is none: dropped");
    T(receives(&h, wire_error_put(&plain)) < 0,
      "[any: error without rehello, id and kind] it ends the client");
    T(receives(&h, wire_hello_put(&other)) < 0,
      "[any: hello that does not fit] it ends the client");
    flow_client_close(h.client);
    wire_sock_close(h.sock);
    wire_close(h.a);
    wire_close(h.b);
}

/* Messages of a binder: the plan has an end, the run is over. */
static void
ends(void)
{
    const struct wire_end end = {.at = {5, 1, 0}}, over = {{5, 1, 0}, 1};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server = selector_at(a, "ends");
    struct flow_client *client = augmenter_at(b, "ends");
    struct wire_msg *msg[] = {wire_end_put(&end), wire_end_put(&over)};
    struct flow_event event;

    T(both_see(a, b, server, client, FLOW_JOINED, &event), "the peer joins");
    flow_server_send(server, event.peer, msg[0]);
    T(client_sees(a, b, client, FLOW_ENDED, &event, 60) && event.at.epoch == 1,
      "the plan ends at a place");
    flow_server_send(server, flow_server_peer(server, 0), msg[1]);
    T(client_sees(a, b, client, FLOW_OVER, &event, 60), "the run is over");
    wire_msg_free(msg[0]);
    wire_msg_free(msg[1]);
    close_ends(a, b, server, client);
}

/* A consumer that binds. */
static void
snapshots(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server =
        server_at(a, "snapshots", WIRE_EDGE_BATCH, "train", "");
    struct flow_client *client =
        client_at(b, "snapshots", WIRE_EDGE_BATCH, "augment");
    struct wire_msg *msg = next_of(5, 0, 3, 4);
    struct flow_event event;

    T(both_see(a, b, server, client, FLOW_JOINED, &event), "the peer joins");
    flow_server_send(server, event.peer, msg);
    T(client_sees(a, b, client, FLOW_MESSAGE, &event, 60) &&
          event.want->serial == 4 && event.want->at.step == 3,
      "the client gets a snapshot");
    wire_msg_free(msg);
    close_ends(a, b, server, client);
}

int
main(void)
{
    scratch_open();
    binder_restarts();
    heartbeat_is_stored();
    unknown_peer_gets_error();
    misfits();
    greeting();
    ends();
    snapshots();
    scratch_close();
    return t_done();
}
