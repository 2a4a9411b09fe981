/*
 * A refused message changes nothing, and its sender receives the reason.
 */
#include "flow/client.h"
#include "flow/link.h"
#include "t.h"
#include "wire/batch.h"
#include "wire/error.h"
#include "wire/negatives.h"

#include "ends.h"

static struct wire_msg *
item_of(const struct wire_place *place, const char *run, int64_t size)
{
    static const int64_t ids[] = {1, 2, 3};
    struct wire_item item = {.session = place->session,
                             .batch.epoch = place->epoch,
                             .batch.step = place->step,
                             .size = size,
                             .batch.steps = 4,
                             .batch.epochs = 2,
                             .batch.b = 3,
                             .batch.ids = ids};

    snprintf(item.run, sizeof item.run, "%s", run);
    return wire_item_put(&item);
}

static void
send_item(struct flow_server *server, const struct wire_place *place,
          const char *run, int64_t size)
{
    struct wire_msg *msg = item_of(place, run, size);

    flow_server_send(server, flow_server_peer(server, 0), msg);
    wire_msg_free(msg);
}

/* Invalid items, and then a good one. */
static void
items_between(struct wire *a, struct wire *b, struct flow_server *server,
              struct flow_client *client)
{
    const struct wire_place place = {9, 0, 0};
    struct flow_event event;

    send_item(server, &place, "r", 11);
    T(client_sees(a, b, client, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "select: item: data set of 11"),
      "an item of another data set is refused: %s", event.why.msg);
    T(server_sees(a, b, server, FLOW_ITEM_REFUSED, &event, 60) &&
          !event.at.step &&
          strstr(event.why.msg, "refuses our item of epoch 0, step 0: item: "
                                "data set of 11"),
      "its sender receives and reports the reason: %s", event.why.msg);
    send_item(server, &place, "other", 10);
    T(client_sees(a, b, client, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "of run 'other', this is run 'r'"),
      "an item of another run is refused: %s", event.why.msg);
    T(server_sees(a, b, server, FLOW_ITEM_REFUSED, &event, 60) &&
          strstr(event.why.msg, "of run 'other'"),
      "the sender of that item receives the reason");
    send_item(server, &place, "", 10);
    T(client_sees(a, b, client, FLOW_MESSAGE, &event, 60) &&
          event.item->batch.ids[2] == 3,
      "a good one is accepted");
}

/* A selector, and an augmenter that receives its items. */
static void
items(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server *server =
        server_at(a, "plan", WIRE_EDGE_PLAN, "select", "r");
    struct flow_client *client =
        client_at(b, "plan", WIRE_EDGE_PLAN, "augment");
    struct flow_event event;

    T(both_see(a, b, server, client, FLOW_JOINED, &event),
      "the peer has joined");
    client_sees(a, b, client, FLOW_JOINED, &event, 60);
    items_between(a, b, server, client);
    T(flow_server_peers(server) == 1, "no peer had to leave");
    close_ends(a, b, server, client);
}

/* Sends it once, and frees it. */
static void
send_and_free(struct wire_sock *sock, struct wire_msg *msg)
{
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(msg);
}

/* Refused messages before and after hello, and an error of the peer. */
static void
peer_errs(struct wire *a, struct wire *b, struct flow_server *server,
          struct wire_sock *sock)
{
    const struct wire_hello mine = hello_of("augment", "", digest_a, 10);
    const struct wire_error no = {
        .reason = "no such place", .id = -1, .of = {"next", {-1, 0, 0}, 0}};
    struct wire_msg *heartbeat =
        wire_heartbeat_put(&(struct wire_heartbeat){0});
    struct flow_event event;

    wire_sock_send_when_connected(sock, heartbeat);
    T(server_sees(a, b, server, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "asked for a new hello, as after a restart") &&
          strstr(event.why.msg, "it sent heartbeat"),
      "a valid message of an unknown peer is no alarm: %s", event.why.msg);
    T(strstr(event.why.msg, "/batch"), "with the edge");
    wire_msg_free(heartbeat);
    send_and_free(sock, item_of(&(struct wire_place){9, 0, 0}, "", 10));
    T(server_sees(a, b, server, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "sent 'item' before its hello"),
      "an invalid one is: %s", event.why.msg);
    send_and_free(sock, wire_hello_put(&mine));
    T(server_sees(a, b, server, FLOW_JOINED, &event, 60), "it joins");
    send_and_free(sock, item_of(&(struct wire_place){9, 0, 0}, "", 10));
    T(server_sees(a, b, server, FLOW_REPORT, &event, 60), "refused: %s",
      event.why.msg);
    send_and_free(sock, wire_error_put(&no));
    T(server_sees(a, b, server, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "no such place"),
      "an error of a peer is reported: %s", event.why.msg);
}

/* An error is never answered: else two ends would never stop. */
static void
peer_gets_error(void)
{
    const struct wire_limits limits = {0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server_config sc = {
        .endpoint = at("batch"),
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("train", "", digest_a, 10),
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    struct wire_sock *sock =
        wire_sock_open(b, WIRE_DEALER, at("batch"), "", &limits, &err);
    struct wire_error error = {.id = -1};
    struct wire_msg *reply;
    int errors = 0;

    peer_errs(a, b, server, sock);
    for (int i = 0; i < 20; i++) {
        turn(a, b);
        if (wire_sock_recv(sock, NULL, &reply, &err) <= 0)
            continue;
        errors += wire_msg_kind(reply) == WIRE_ERROR &&
                  !wire_error_get(&error, reply, &err) && !error.rehello;
        wire_msg_free(reply);
    }
    T(errors == 1 && !strcmp(error.of.kind, "item") &&
          error.of.at.session == 9 && error.count == 1 &&
          strstr(error.reason, "does not accept"),
      "the peer got one error, for the refused message: %s", error.reason);
    T(flow_server_peers(server) == 1, "it is still connected");
    close_ends(a, b, server, NULL);
}

/* Receives messages until one of that kind; the peer's id in *from. */
static int
router_sees(struct wire *a, struct wire *b, struct wire_sock *sock,
            enum wire_kind kind, struct wire_id *from)
{
    struct wire_msg *msg;
    struct err err;

    for (int i = 0; i < 500; i++) {
        int same;

        turn(a, b);
        if (wire_sock_recv(sock, from, &msg, &err) <= 0)
            continue;
        same = wire_msg_kind(msg) == kind;
        wire_msg_free(msg);
        if (same)
            return 1;
    }
    return 0;
}

static void
reply_weights(struct wire_sock *sock, const struct wire_id *to, int64_t id,
              float sum)
{
    const float w[] = {sum};
    const struct wire_weights weights = {
        .id = id, .weights = {.rows = 1, .columns = 1, .w = w}};
    struct wire_msg *msg = wire_weights_put(&weights);

    wire_sock_send(sock, to, msg);
    wire_msg_free(msg);
}

/* Waits for an answer and checks its weights. */
static enum flow_answer
wait_answer(struct flow_client *service, struct err *err)
{
    struct wire_weights weights;
    struct wire_msg *answer;
    enum flow_answer what = flow_client_wait(service, -1, &answer, err);
    int rc;

    if (what != FLOW_ANSWERED)
        return what;
    rc = wire_weights_get(&weights, answer, 0, err);
    if (!rc)
        wire_weights_release(&weights);
    wire_msg_free(answer);
    return rc ? FLOW_FAILED : FLOW_ANSWERED;
}

/* Bad answers before a good one, and then one alone. */
static void
answers_come(struct wire *a, struct wire *b, struct wire_sock *sock,
             struct flow_client *service)
{
    struct wire_msg *request = wire_heartbeat_put(&(struct wire_heartbeat){0});
    struct wire_id from;
    struct err err = {""};

    flow_client_ask(service, request, 7); // any message is a request
    T(router_sees(a, b, sock, WIRE_HEARTBEAT, &from),
      "the client sends a request");
    wire_sock_send(sock, &from, request);
    reply_weights(sock, &from, 6, 1);
    reply_weights(sock, &from, 7, 0.5f);
    reply_weights(sock, &from, 7, 1);
    T(wait_answer(service, &err) == FLOW_BAD_MESSAGE &&
          strstr(err.msg, "'id' is missing"),
      "an answer without id is reported: %s", err.msg);
    T(wait_answer(service, &err) == FLOW_FAILED && strstr(err.msg, "sum 0.5"),
      "weights that do not sum to one, an older id is skipped: %s", err.msg);
    T(flow_client_refuse(service, &err) == 1 &&
          strstr(err.msg, "negatives': weights: row 0") == NULL &&
          strstr(err.msg, "weights: row 0"),
      "such weights are refused, and that is reported: %s", err.msg);
    T(wait_answer(service, &err) == FLOW_ANSWERED,
      "the good answer is accepted");
    T(router_sees(a, b, sock, WIRE_ERROR, &from),
      "the service receives the reason");

    flow_client_ask(service, request, 8);
    T(router_sees(a, b, sock, WIRE_HEARTBEAT, &from), "a new request");
    reply_weights(sock, &from, 8, 2);
    T(wait_answer(service, &err) == FLOW_FAILED, "a bad answer alone");
    flow_client_refuse(service, &err);
    T(wait_answer(service, &err) == FLOW_UNREACHED && strstr(err.msg, "sum 2"),
      "at the deadline its fault is reported: %s", err.msg);
    wire_msg_free(request);
}

/* A wait continues after bad answers. */
static void
answer_is_waited_past(void)
{
    const struct wire_limits limits = {0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_open(a, WIRE_ROUTER, at("negatives"), NULL, &limits, &err);
    struct flow_client_config config = {
        .endpoint = at("negatives"),
        .edge = WIRE_EDGE_NEGATIVES,
        .hello = hello_of("train", "", digest_a, 10),
        .deadline = 0.5,
    };
    struct wire_hello mine = hello_of("negatives", "", digest_a, 10);
    struct flow_client *service = flow_client_open(b, &config, &err);
    struct wire_msg *hello = wire_hello_put(&mine);
    struct wire_id from;

    T(router_sees(a, b, sock, WIRE_HELLO, &from), "it sends hello");
    wire_sock_send(sock, &from, hello);
    for (int i = 0; i < 500 && !flow_client_joined(service); i++) {
        turn(a, b);
        flow_client_poll(service, &err);
    }
    answers_come(a, b, sock, service);
    wire_msg_free(hello);
    flow_client_close(service);
    wire_sock_close(sock);
    wire_close(a);
    wire_close(b);
}

/* How many of n refusals at a time are sent to their sender. */
static int
count_sent(struct flow_refusal *refusal, int n, double now)
{
    int k = 0;

    for (int i = 0; i < n; i++)
        k += flow_refusal_add(refusal, now);
    return k;
}

static void
rates(void)
{
    struct flow_refusal refusal = {0};
    int all = 0;

    T(count_sent(&refusal, 40, 5) == 16, "of 40 at a time 16 are sent");
    T(count_sent(&refusal, 3, 5 + 1.0 / 16) == 1,
      "a sixteenth of a second later one");
    T(count_sent(&refusal, 40, 100) == 16, "after a long time 16 again");
    T(refusal.count == 83 && refusal.streak == 83, "all are counted");
    for (int i = 0; i < 10000; i++)
        all += count_sent(&refusal, 1, 200 + i / 1000.0);
    T(all > 16 * 10 && all <= 16 * 11,
      "16 a second, however many come: %d in "
      "10 s",
      all);
    flow_refusal_good(&refusal, WIRE_HEARTBEAT);
    flow_refusal_good(&refusal, WIRE_WANT);
    flow_refusal_good(&refusal, WIRE_HELLO);
    flow_refusal_good(&refusal, WIRE_ERROR);
    T(refusal.streak == 10083, "a heartbeat does not count as a good message");
    flow_refusal_good(&refusal, WIRE_BATCH);
    T(refusal.streak == 0 && refusal.count == 10083, "a batch does");
}

int
main(void)
{
    scratch_open();
    rates();
    items();
    peer_gets_error();
    answer_is_waited_past();
    scratch_close();
    return t_done();
}
