/*
 * An inlet over sockets: snapshots reach peers, and their batches arrive.
 */
#include "t.h"
#include "flow/inlet.h"
#include "flow/peer.h"
#include "wire/batch.h"

/* Run both sides until the inlet has an event of that kind. */
static int
inlet_sees(struct wire *a, struct wire *b, struct flow_inlet *inlet,
           enum flow_event_kind what, struct flow_event *event, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        while (flow_inlet_next(inlet, event))
            if (event->kind == what)
                return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* foil-train and foil-augment. */
struct edge {
    struct wire *a, *b;
    struct flow_inlet *inlet;
    struct flow_client_config augmenter;
    struct flow_client *client;
};

static struct edge
open_edge(void)
{
    const struct flow_inlet_config sc = {
        .server.endpoint = at("batch"),
        .server.hello = hello_of("train", "", "", 0),
        .at = {1000, 0, 0},
        .window = 2,
    };
    struct err err = {""};
    struct edge e = {
        .a = wire_open(NULL, &err),
        .b = wire_open(NULL, &err),
        .augmenter = {.endpoint = at("batch"),
                      .edge = WIRE_EDGE_BATCH,
                      .hello = hello_of("augment", "", digest_a, 10)}};

    strcpy(e.augmenter.hello.recipe, "cifar");
    e.inlet = flow_inlet_open(e.a, &sc, &err);
    e.client = flow_client_open(e.b, &e.augmenter, &err);
    return e;
}

/* 1 when the augmenter receives a snapshot in a minute. */
static int
gets_snapshot(struct edge *e, struct flow_event *event)
{
    return client_sees(e->a, e->b, e->client, FLOW_MESSAGE, event, 60);
}

static void
greets(struct edge *e)
{
    const struct wire_hello *hello = flow_server_hello(e->inlet->server);
    struct flow_event event;

    T(inlet_sees(e->a, e->b, e->inlet, FLOW_JOINED, &event, 60),
      "an augmenter joins");
    T(hello->size == 10 && !strcmp(hello->recipe, "cifar"),
      "data set and recipe are the first peer's");
    flow_inlet_send_snapshots(e->inlet);
    T(gets_snapshot(e, &event) && event.want->at.session == 1000 &&
          event.want->window == 2 && !event.want->n_have,
      "the augmenter receives session and window");
}

/* The batch of the place arrives and is due. */
static void
receives_batch(struct edge *e)
{
    static const uint8_t views[2 * 2 * 4 * 4 * 3];
    static const int64_t ids[] = {5, 9};
    struct flow_consumer *consumer = e->inlet->consumer;
    struct wire_batch batch = {.session = 1000,
                               .batch.epoch = 0,
                               .batch.step = 0,
                               .batch.steps = 1,
                               .batch.epochs = 1,
                               .batch.b = 2,
                               .batch.v = 2,
                               .height = 4,
                               .width = 4,
                               .channels = 3,
                               .batch.ids = ids,
                               .batch.pixels = views};
    struct wire_msg *msg = wire_batch_put(&batch);
    struct flow_event event;
    struct wire_place at;
    struct err err = {""};

    T(flow_client_send(e->client, msg) == 1, "a batch is sent");
    T(inlet_sees(e->a, e->b, e->inlet, FLOW_MESSAGE, &event, 60),
      "the batch arrives");
    T(!wire_batch_get(&batch, event.msg, 10, &err), "the batch decodes: %s",
      err.msg);
    at = wire_place_of(batch.session, &batch.batch);
    T(flow_consumer_wants(consumer, &at) &&
          !flow_consumer_hold(consumer, &at, &batch) &&
          flow_consumer_take(consumer) == &batch,
      "it is the one of the place");
    wire_batch_release(&batch);
    wire_msg_free(msg);
}

static void
sends_snapshots(struct edge *e)
{
    const struct wire_place done = {1000, 0, 1};
    struct flow_event event;

    flow_inlet_send_snapshots(e->inlet);
    T(gets_snapshot(e, &event) && event.want->n_have == 1 &&
          event.want->have[1] == 0,
      "held items are in the snapshot");
    flow_consumer_set_place(e->inlet->consumer, &done);
    flow_inlet_send_snapshots(e->inlet);
    T(gets_snapshot(e, &event) && event.want->at.step == 1 &&
          event.want->serial == 3 && !event.want->n_have,
      "the new place is in the snapshot");
    T(flow_inlet_pause_s(e->inlet) > 0.1, "after a snapshot nothing is due");
    flow_server_send_over(e->inlet->server, &done);
    T(client_sees(e->a, e->b, e->client, FLOW_OVER, &event, 60),
      "[consumer: the run is over] the run is over");
}

static void
turns_away(struct edge *e)
{
    struct flow_client *other;
    struct flow_event event;
    struct err err;

    strcpy(e->augmenter.hello.recipe, "emc2");
    other = flow_client_open(e->b, &e->augmenter, &err);
    T(inlet_sees(e->a, e->b, e->inlet, FLOW_REPORT, &event, 60),
      "a peer with another recipe is refused: %s", event.why.msg);
    T(flow_server_peers(e->inlet->server) == 1, "a refused peer does not join");
    flow_client_close(other);
}

static void
batch_edge(void)
{
    struct edge e = open_edge();

    greets(&e);
    receives_batch(&e);
    sends_snapshots(&e);
    turns_away(&e);
    flow_client_close(e.client);
    flow_inlet_close(e.inlet);
    wire_close(e.a);
    wire_close(e.b);
}

/* Reports of an augmenter about the end of the plan. */
static void
ends(void)
{
    const struct wire_end end = {.at = {1, 0, 0}};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_inlet_config sc = {
        .server.endpoint = at("ends"),
        .server.hello = hello_of("train", "", digest_a, 10),
        .at = {1, 0, 0},
        .window = 1,
    };
    struct flow_inlet *inlet = flow_inlet_open(a, &sc, &err);
    struct wire_sock *sock = join(b, sc.server.endpoint, "x");
    struct flow_event event;

    T(inlet_sees(a, b, inlet, FLOW_JOINED, &event, 60), "an augmenter joins");
    send_and_free(sock, next_of(1, 0, 0, 1));
    T(inlet_sees(a, b, inlet, FLOW_REPORT, &event, 60),
      "a kind of another edge is refused: %s", event.why.msg);
    T(flow_consumer_ended(inlet->consumer) == FLOW_NONE_ENDED,
      "the plan continues");
    send_and_free(sock, wire_end_put(&end));
    inlet_sees(a, b, inlet, FLOW_REPORT, &event, 0.1);
    T(flow_consumer_ended(inlet->consumer) == FLOW_ALL_ENDED,
      "the plan ends when all augmenters report it");
    wire_sock_close(sock);
    flow_inlet_close(inlet);
    wire_close(a);
    wire_close(b);
}

int
main(void)
{
    scratch_open();
    ends();
    batch_edge();
    scratch_close();
    return t_done();
}
