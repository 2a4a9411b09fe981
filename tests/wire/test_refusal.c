/*
 * What is refused changes nothing: it costs no credit, its sender hears why,
 * and what is wanted is asked for again.
 */
#include "t.h"
#include "wire/error.h"
#include "wire/item.h"
#include "wire/refusal.h"

#include "ends.h"

static struct wire_msg *
item_of(const struct wire_place *place, const char *run, int64_t size)
{
    static const int64_t ids[] = {1, 2, 3};
    struct wire_item item = {.at = *place,
                             .size = size,
                             .steps = 4,
                             .epochs = 2,
                             .n = 3,
                             .ids = ids};

    snprintf(item.run, sizeof item.run, "%s", run);
    return wire_item_put(&item);
}

static void
send_item(struct wire_server *server, const struct wire_place *place,
          const char *run, int64_t size)
{
    struct wire_msg *msg = item_of(place, run, size);

    wire_server_send(server, wire_server_peer(server, 0), msg);
    wire_msg_free(msg);
}

/* A selector that sends three items that will not do, and then a good one. */
static void
item_costs_nothing(void)
{
    const struct wire_place place = {9, 0, 0}, older = {8, 0, 0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = {
        .endpoint = at("plan"),
        .kind = WIRE_PRODUCES,
        .hello = hello_of("select", "r", digest_a, 10),
    };
    struct wire_client_config cc = {
        .endpoint = at("plan"),
        .kind = WIRE_ASKS,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_news news;

    T(both_see(a, b, server, client, WIRE_JOINED, &news), "joined");
    wire_client_pass(client, &place);
    wire_client_want(client, 3);
    T(both_see(a, b, server, client, WIRE_MOVED, &news), "asked for three");

    send_item(server, &place, "r", 11);
    T(client_sees(a, b, client, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "select: item: data set of 11"),
      "an item of another data set is refused: %s", news.why.msg);
    T(server_sees(a, b, server, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "augment 1 refuses a message of ours: item: "
                               "data set of 11"),
      "its sender hears why, and says who: %s", news.why.msg);
    send_item(server, &place, "other", 10);
    T(client_sees(a, b, client, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "of run 'other', this is run 'r'"),
      "an item of another run is refused: %s", news.why.msg);
    T(wire_client_credit(client) == 3, "what is refused costs no credit");
    send_item(server, &older, "r", 10);
    T(!client_sees(a, b, client, WIRE_CAME, &news, 0.1) &&
          wire_client_credit(client) == 3,
      "nor does an item of an older session, which is no news");
    T(wire_server_credit(server, 1) == 0, "the selector has booked all three");

    wire_client_want(client, 3);
    T(wire_server_credit(server, 1) == 0, "they are not asked for at once");
    for (int i = 0; i < 1000 && !wire_server_credit(server, 1); i++) {
        while (wire_client_next(client, &news, &err) > 0)
            ;
        server_sees(a, b, server, WIRE_LEFT, &news, 0);
    }
    T(wire_server_credit(server, 1) == 1, "but one by one, after a while");
    send_item(server, &place, "", 10);
    T(client_sees(a, b, client, WIRE_CAME, &news, 5) &&
          wire_client_item(client)->ids[2] == 3,
      "a good one is taken");
    T(wire_client_credit(client) == 2, "and costs a credit");
    T(wire_server_peers(server) == 1, "nobody had to go");
    wire_client_close(client);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* An error is never answered: else two ends would never come to rest. */
static void
peer_is_told(void)
{
    const struct wire_limits limits = {0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = {
        .endpoint = at("batch"),
        .kind = WIRE_CONSUMES,
        .hello = hello_of("train", "", digest_a, 10),
        .at = {9, 0, 0},
    };
    struct wire_hello mine = hello_of("augment", "", digest_a, 10);
    struct wire_error no = {.reason = "no such credit", .message = 1, .id = -1};
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_sock *sock =
        wire_sock_connect(b, WIRE_DEALER, at("batch"), "", &limits, &err);
    struct wire_msg *msg = wire_beat_put(), *reply;
    struct wire_error error = {.id = -1};
    struct wire_news news;
    int errors = 0;

    wire_sock_soon(sock, msg);
    T(server_sees(a, b, server, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "sent beat before it said hello"),
      "what comes before hello is counted and said: %s", news.why.msg);
    T(strstr(news.why.msg, "/batch"), "of which edge");
    wire_msg_free(msg);
    msg = wire_hello_put(&mine);
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(msg);
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "it joins");
    msg = item_of(&(struct wire_place){9, 0, 0}, "", 10);
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(msg);
    T(server_sees(a, b, server, WIRE_BAD, &news, 5), "refused: %s",
      news.why.msg);
    msg = wire_error_put(&no);
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(msg);
    T(server_sees(a, b, server, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "no such credit"),
      "an error of a peer is said: %s", news.why.msg);
    for (int i = 0; i < 20; i++) {
        turn(a, b);
        if (wire_sock_recv(sock, NULL, &reply, &err) <= 0)
            continue;
        errors += wire_msg_kind(reply) == WIRE_ERROR &&
                  !wire_error_get(&error, reply, &err) && !error.again;
        wire_msg_free(reply);
    }
    T(errors == 1 && error.message && strstr(error.reason, "no use here"),
      "the peer got one error, for what was refused: %s", error.reason);
    T(wire_server_peers(server) == 1, "it is still there");
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

int
main(void)
{
    scratch_open();
    item_costs_nothing();
    peer_is_told();
    scratch_close();
    return t_done();
}
