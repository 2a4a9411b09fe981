/*
 * An inlet over sockets: what is wanted reaches peers, what they bring comes
 * in.
 */
#include "t.h"
#include "flow/inlet.h"
#include "flow/peer.h"
#include "wire/batch.h"

/* Turn both sides until the inlet has news of that kind. */
static int
inlet_sees(struct wire *a, struct wire *b, struct flow_inlet *inlet,
           enum flow_what what, struct flow_news *news, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        while (flow_inlet_next(inlet, news))
            if (news->what == what)
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

/* 1 when the augmenter gets a message, in 5 s; it says what is wanted. */
static int
is_told(struct edge *e)
{
    struct flow_news news;

    return client_sees(e->a, e->b, e->client, FLOW_MESSAGE, &news, 60);
}

static void
greets(struct edge *e)
{
    const struct wire_hello *hello = flow_server_hello(e->inlet->server);
    struct flow_news news;

    T(inlet_sees(e->a, e->b, e->inlet, FLOW_JOINED, &news, 60),
      "an augmenter joins");
    T(hello->size == 10 && !strcmp(hello->recipe, "cifar"),
      "data set and recipe are the first comer's");
    flow_inlet_ask(e->inlet);
    T(is_told(e) && flow_client_snapshot(e->client)->at.session == 1000 &&
          flow_client_snapshot(e->client)->window == 2 &&
          !flow_client_snapshot(e->client)->n_have,
      "the augmenter learns session and window");
}

/* The batch of the place comes, and its turn has come. */
static void
takes_a_batch(struct edge *e)
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
    struct flow_news news;
    struct wire_place at;
    struct err err = {""};

    T(flow_client_send(e->client, msg) == 1, "a batch is sent");
    T(inlet_sees(e->a, e->b, e->inlet, FLOW_MESSAGE, &news, 60),
      "the batch comes");
    T(!wire_batch_get(&batch, news.msg, 10, &err), "the batch decodes: %s",
      err.msg);
    at = wire_place_of(batch.session, &batch.batch);
    T(flow_consumer_wants(consumer, &at) &&
          !flow_consumer_hold(consumer, &at, &batch) &&
          flow_consumer_take(consumer) == &batch,
      "it is the one whose turn it is");
    wire_batch_release(&batch);
    wire_msg_free(msg);
}

static void
tells(struct edge *e)
{
    const struct wire_place done = {1000, 0, 1};
    struct flow_news news;

    flow_inlet_ask(e->inlet);
    T(is_told(e) && flow_client_snapshot(e->client)->n_have == 1 &&
          flow_client_snapshot(e->client)->have[1] == 0,
      "what is there is told");
    flow_consumer_go(e->inlet->consumer, &done);
    flow_inlet_ask(e->inlet);
    T(is_told(e) && flow_client_snapshot(e->client)->at.step == 1 &&
          flow_client_snapshot(e->client)->serial == 3 &&
          !flow_client_snapshot(e->client)->n_have,
      "and what is trained");
    T(flow_inlet_pause_s(e->inlet) > 0.1, "then there is time");
    flow_server_over(e->inlet->server, &done);
    T(client_sees(e->a, e->b, e->client, FLOW_OVER, &news, 60),
      "[consumer: the run is over] the run is over");
}

static void
turns_away(struct edge *e)
{
    struct flow_client *other;
    struct flow_news news;
    struct err err;

    strcpy(e->augmenter.hello.recipe, "emc2");
    other = flow_client_open(e->b, &e->augmenter, &err);
    T(inlet_sees(e->a, e->b, e->inlet, FLOW_REPORT, &news, 60),
      "who has another recipe is refused: %s", news.why.msg);
    T(flow_server_peers(e->inlet->server) == 1, "who is refused is not there");
    flow_client_close(other);
}

static void
batch_edge(void)
{
    struct edge e = open_edge();

    greets(&e);
    takes_a_batch(&e);
    tells(&e);
    turns_away(&e);
    flow_client_close(e.client);
    flow_inlet_close(e.inlet);
    wire_close(e.a);
    wire_close(e.b);
}

/* What an augmenter says of the end of the plan. */
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
    struct flow_news news;

    T(inlet_sees(a, b, inlet, FLOW_JOINED, &news, 60), "an augmenter joins");
    tell(sock, next_of(1, 0, 0, 1));
    T(inlet_sees(a, b, inlet, FLOW_REPORT, &news, 60),
      "what has no use here is refused: %s", news.why.msg);
    T(flow_consumer_ended(inlet->consumer) == FLOW_NONE_ENDED,
      "the plan goes on");
    tell(sock, wire_end_put(&end));
    inlet_sees(a, b, inlet, FLOW_REPORT, &news, 0.1);
    T(flow_consumer_ended(inlet->consumer) == FLOW_ALL_ENDED,
      "and ends when all say so");
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
