#include "t.h"
#include "wire/item.h"

#include "ends.h"

static struct wire_server_config
plan_server(const char *name)
{
    return (struct wire_server_config){
        .endpoint = at(name),
        .kind = WIRE_PRODUCES,
        .hello = hello_of("select", "r", digest_a, 10),
    };
}

static struct wire_client_config
plan_client(const char *name)
{
    return (struct wire_client_config){
        .endpoint = at(name),
        .kind = WIRE_ASKS,
        .hello = hello_of("augment", "", digest_a, 10),
    };
}

/* The binder goes and comes back: the client asks anew, by itself. */
static void
binder_restarts(void)
{
    const struct wire_place place = {9, 1, 2};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = plan_server("again");
    struct wire_client_config cc = plan_client("again");
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_next next;
    struct wire_news news;

    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "the peer has joined");
    T(client_sees(a, b, client, WIRE_JOINED, &news, 5), "both");
    wire_client_pass(client, &place);
    wire_client_want(client, 3);
    T(server_is_asked(a, b, server, client, &next) && next.credit == 3,
      "asked for three");

    wire_server_close(server);
    server = wire_server_open(a, &sc, &err);
    T(server != NULL, "another binder at the same address: %s", err.msg);
    T(both_see(a, b, server, client, WIRE_JOINED, &news), "joined again");
    T(server_is_asked(a, b, server, client, &next), "asked anew");
    T(next.at.session == 9 && next.at.epoch == 1 && next.at.step == 2,
      "told where the run is");
    T(next.credit == 3, "for the whole credit");
    wire_client_pass(client, &(struct wire_place){10, 0, 0});
    T(wire_client_credit(client) == 0, "a new session starts from nothing");
    wire_client_pass(client, &place);
    T(wire_client_place(client).session == 10, "an old one is ignored");

    wire_client_close(client);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* A binder that forgot us on the same connection says so. */
static void
stranger_is_told(void)
{
    struct wire_client_config cc = plan_client("known");
    const struct wire_limits limits = {0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_bind(a, WIRE_ROUTER, at("known"), &limits, &err);
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_error again = {.reason = "who", .again = 1, .id = -1};
    struct wire_hello mine = hello_of("select", "r", digest_a, 10);
    struct wire_msg *reply[] = {wire_hello_put(&mine), wire_error_put(&again)};
    struct wire_news news;
    struct wire_msg *msg;
    struct wire_id from;
    int hellos = 0;

    // answer the first hello, then forget, then answer the second
    for (int i = 0; i < 1000 && hellos < 2; i++) {
        turn(a, b);
        while (wire_client_next(client, &news, &err) > 0)
            ;
        if (wire_sock_recv(sock, &from, &msg, &err) <= 0)
            continue;
        hellos += wire_msg_kind(msg) == WIRE_HELLO;
        wire_sock_send(sock, &from, reply[0]);
        if (hellos == 1)
            wire_sock_send(sock, &from, reply[1]);
        wire_msg_free(msg);
    }
    T(hellos == 2, "told that it is not known, it says hello again");
    T(client_sees(a, b, client, WIRE_JOINED, &news, 5), "and joins");
    wire_msg_free(reply[0]);
    wire_msg_free(reply[1]);
    wire_client_close(client);
    wire_sock_close(sock);
    wire_close(a);
    wire_close(b);
}

/* Items that the selector sent before it heard of the new trainer. */
static void
items_of_an_old_session(void)
{
    const int64_t ids[] = {1, 2};
    const struct wire_place old = {9, 0, 0}, new = {10, 0, 0};
    struct wire_item item = {
        .at = old, .size = 10, .steps = 5, .epochs = 1, .n = 2, .ids = ids};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = plan_server("old");
    struct wire_client_config cc = plan_client("old");
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_msg *msg = wire_item_put(&item);
    struct wire_next next;
    struct wire_news news;
    uint64_t peer;

    client_sees(a, b, client, WIRE_JOINED, &news, 0.1);
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "the peer has joined");
    client_sees(a, b, client, WIRE_JOINED, &news, 5);
    wire_client_pass(client, &old);
    wire_client_want(client, 2);
    T(server_is_asked(a, b, server, client, &next), "a session");
    peer = wire_server_peer(server, 0);
    wire_server_send(server, peer, msg);
    wire_client_pass(client, &new);
    wire_client_want(client, 2);
    T(server_is_asked(a, b, server, client, &next) && next.at.session == 10,
      "and the next one");
    T(!client_sees(a, b, client, WIRE_MESSAGE, &news, 0.2),
      "an item of the old session is passed over");
    T(wire_client_credit(client) == 2,
      "and takes nothing off the credit of the new one");
    T(next.credit == 2, "which is asked for in full");
    wire_msg_free(msg);
    wire_client_close(client);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* What the binder refuses ends the client, with the reason. */
static void
refused(const char *what, const struct wire_hello *hello)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = plan_server("refused");
    struct wire_client_config cc = plan_client("refused");
    struct wire_server *server;
    struct wire_client *client;
    struct wire_news news;
    int rc = 0, said = 0;

    cc.hello = *hello;
    server = wire_server_open(a, &sc, &err);
    client = wire_client_open(b, &cc, &err);
    for (int i = 0; i < 1000 && rc >= 0; i++) {
        turn(a, b);
        while (wire_server_next(server, &news, &err) > 0)
            said += news.what == WIRE_REPORT;
        rc = wire_client_next(client, &news, &err);
    }
    T(rc < 0 && *err.msg, "%s: %s", what, err.msg);
    T(said == 1, "the binder says it once");
    T(wire_server_peers(server) == 0, "and knows nobody");
    wire_client_close(client);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
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

/* A trainer at a place gives its newest peer credit. */
static void
give(struct wire_server *server, uint64_t peer, const struct wire_place *place,
     int64_t credit)
{
    const struct wire_next next = {*place, credit, 0};
    struct wire_msg *msg = wire_next_put(&next);

    wire_server_send(server, peer, msg);
    wire_msg_free(msg);
}

/* The trainer starts anew: a larger session wins, a smaller is ignored. */
static void
sessions(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = {
        .endpoint = at("batch"),
        .kind = WIRE_CONSUMES,
        .hello = hello_of("train", "", digest_a, 10),
    };
    struct wire_place place = {100, 0, 7};
    struct wire_client_config cc = plan_client("batch");
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client;
    struct wire_news news;

    cc.kind = WIRE_BRINGS;
    client = wire_client_open(b, &cc, &err);
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "the peer has joined");
    give(server, news.peer, &place, 4);
    T(client_sees(a, b, client, WIRE_MOVED, &news, 5) && news.at.step == 7,
      "the first session");
    wire_server_close(server);

    place = (struct wire_place){200, 0, 5};
    server = wire_server_open(a, &sc, &err);
    T(both_see(a, b, server, client, WIRE_JOINED, &news), "joined the second");
    give(server, news.peer, &place, 2);
    T(client_sees(a, b, client, WIRE_MOVED, &news, 5) && news.at.step == 5,
      "it goes back where the trainer is");
    T(wire_client_credit(client) == 2, "the old credit is forgotten");
    wire_server_close(server);

    server = wire_server_open(a, &sc, &err);
    T(both_see(a, b, server, client, WIRE_JOINED, &news), "the link renewed");
    give(server, news.peer, &place, 2);
    client_sees(a, b, client, WIRE_MOVED, &news, 0.1);
    T(wire_client_credit(client) == 2, "credit starts from nothing");
    wire_server_close(server);

    place = (struct wire_place){150, 0, 9};
    server = wire_server_open(a, &sc, &err);
    T(both_see(a, b, server, client, WIRE_JOINED, &news), "a stale one");
    give(server, news.peer, &place, 2);
    T(!client_sees(a, b, client, WIRE_MOVED, &news, 0.1), "is ignored");
    T(wire_client_place(client).session == 200, "the place stays");

    wire_client_close(client);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

int
main(void)
{
    scratch_open();
    binder_restarts();
    stranger_is_told();
    items_of_an_old_session();
    misfits();
    sessions();
    scratch_close();
    return t_done();
}
