#include "t.h"
#include "wire/batch.h"
#include "wire/proxy.h"

#include "flow/ends.h"

/* Runs all three until the server (or the client, if set) has that event.  A
 * message for the other one ends each wait at once: so the clock limits it. */
static int
sees(struct wire *wire, struct wire_proxy *proxy, struct flow_server *server,
     struct flow_client *client, enum flow_event_kind what,
     struct flow_event *event, int *passed)
{
    const double until = clock_now() + 20;
    struct wire_msg *msg;
    struct err err;
    uint32_t from;

    while (clock_now() < until) {
        while (wire_proxy_next(proxy, &from, &msg, &err) > 0) {
            ++*passed;
            wire_msg_free(msg);
        }
        while (server && flow_server_next(server, event) > 0)
            if (event->kind == what)
                return 1;
        while (client && flow_client_next(client, event, &err) > 0)
            if (event->kind == what)
                return 1;
        wire_wait(wire, -1, 0.01, &err);
    }
    return 0;
}

static struct flow_client *
augmenter(struct wire *wire)
{
    const struct flow_client_config config = {
        .endpoint = at("tap"),
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("augment", "", digest_a, 10)};
    struct err err;

    return flow_client_open(wire, &config, &err);
}

/* The answer to a request through the proxy reaches the peer that sent it. */
static void
sends_request(struct wire *wire, struct wire_proxy *proxy,
              struct flow_server *server, struct flow_client *one, int *passed)
{
    const int64_t ids[] = {1, 2};
    const struct wire_item item = {.session = 5,
                                   .batch.epoch = 0,
                                   .batch.step = 1,
                                   .size = 10,
                                   .batch.steps = 2,
                                   .batch.epochs = 1,
                                   .batch.b = 2,
                                   .batch.ids = ids};
    struct wire_item got = {0};
    struct wire_msg *msg = next_of(5, 0, 1, 1);
    struct flow_event event;
    struct err err = {""};

    T(flow_client_send(one, msg), "the request arrives");
    wire_msg_free(msg);
    T(sees(wire, proxy, server, NULL, FLOW_MESSAGE, &event, passed), "asked");
    msg = wire_item_put(&item);
    T(flow_server_send(server, event.peer, msg), "sent");
    T(sees(wire, proxy, NULL, one, FLOW_MESSAGE, &event, passed) &&
          !wire_item_get(&got, event.msg, 10, &err) && got.batch.ids[1] == 2,
      "the item reaches the peer that sent the request");
    wire_item_release(&got);
    wire_msg_free(msg);
}

int
main(void)
{
    const struct wire_limits limits = {0};
    struct flow_server_config config = {.edge = WIRE_EDGE_PLAN};
    struct err err = {""};
    struct wire *wire;
    struct flow_server *server;
    struct flow_client *one, *two;
    struct wire_proxy *proxy;
    struct flow_event event;
    int passed = 0;

    scratch_open();
    wire = wire_open(NULL, &err);
    config.endpoint = at("plan");
    config.hello = hello_of("select", "", digest_a, 10);
    server = flow_server_open(wire, &config, &err);
    proxy = wire_proxy_open(wire, at("tap"), at("plan"), NULL, &limits, &err);
    one = augmenter(wire);
    two = augmenter(wire);
    T(server && proxy && one && two, "all open: %s", err.msg);
    T(sees(wire, proxy, server, NULL, FLOW_JOINED, &event, &passed), "one");
    T(sees(wire, proxy, server, NULL, FLOW_JOINED, &event, &passed), "two");
    T(flow_server_peers(server) == 2, "both connect to the binder");
    T(sees(wire, proxy, NULL, one, FLOW_JOINED, &event, &passed),
      "a peer behind the proxy receives the binder's hello");
    sends_request(wire, proxy, server, one, &passed);
    T(passed >= 6, "%d messages were forwarded", passed);
    flow_client_close(one);
    flow_client_close(two);
    wire_proxy_close(proxy);
    flow_server_close(server);
    wire_close(wire);
    scratch_close();
    return t_done();
}
