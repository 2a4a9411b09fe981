/*
 * An inlet over sockets: what is wanted reaches peers, what they bring comes
 * in.
 */
#include "t.h"
#include "flow/inlet.h"
#include "wire/batch.h"
#include "wire/peer.h"

/* Turn both sides until the inlet has news of that kind. */
static int
inlet_sees(struct wire *a, struct wire *b, struct flow_inlet *inlet,
           enum wire_what what, struct wire_news *news, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        while (flow_inlet_next(inlet, news))
            if (news->what == what)
                return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* foil-train and foil-augment: batches of what is wanted. */
static void
batch_edge(void)
{
    static const uint8_t views[2 * 2 * 4 * 4 * 3];
    const int64_t ids[] = {5, 9};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_inlet_config sc = {
        .endpoint = at("batch"),
        .hello = hello_of("train", "", "", 0),
        .at = {1000, 0, 0},
        .window = 2,
    };
    struct wire_client_config cc = {
        .endpoint = at("batch"),
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct wire_batch batch = {.at = {1000, 0, 0},
                               .steps = 1,
                               .epochs = 1,
                               .n = 2,
                               .n_views = 2,
                               .height = 4,
                               .width = 4,
                               .channels = 3,
                               .ids = ids,
                               .views = views};
    struct flow_inlet *inlet = flow_inlet_open(a, &sc, &err);
    struct wire_client *client, *other;
    struct wire_msg *msg = wire_batch_put(&batch);
    const struct wire_place done = {1000, 0, 1};
    struct wire_news news;

    strcpy(cc.hello.recipe, "cifar");
    client = wire_client_open(b, &cc, &err);
    T(inlet_sees(a, b, inlet, WIRE_JOINED, &news, 5), "an augmenter joins");
    T(wire_server_hello(inlet->server)->size == 10 &&
          !strcmp(wire_server_hello(inlet->server)->recipe, "cifar"),
      "data set and recipe are the first comer's");
    flow_inlet_ask(inlet);
    T(client_sees(a, b, client, WIRE_MESSAGE, &news, 5) &&
          wire_client_snapshot(client)->at.session == 1000 &&
          wire_client_snapshot(client)->window == 2 &&
          !wire_client_snapshot(client)->n_have,
      "the augmenter learns session and window");
    T(wire_client_send(client, msg) == 1, "a batch is sent");
    T(inlet_sees(a, b, inlet, WIRE_MESSAGE, &news, 5), "the batch comes");
    T(!wire_batch_get(&batch, news.msg, 10, &err), "the batch decodes: %s",
      err.msg);
    T(flow_consumer_wants(inlet->consumer, &batch.at) &&
          !flow_consumer_hold(inlet->consumer, &batch.at, &batch) &&
          flow_consumer_take(inlet->consumer) == &batch,
      "it is the one whose turn it is");
    wire_batch_release(&batch);
    wire_msg_free(msg);
    flow_inlet_ask(inlet);
    T(client_sees(a, b, client, WIRE_MESSAGE, &news, 5) &&
          wire_client_snapshot(client)->n_have == 1 &&
          wire_client_snapshot(client)->have[1] == 0,
      "what is there is told");
    flow_consumer_go(inlet->consumer, &done);
    flow_inlet_ask(inlet);
    T(client_sees(a, b, client, WIRE_MESSAGE, &news, 5) &&
          wire_client_snapshot(client)->at.step == 1 &&
          wire_client_snapshot(client)->serial == 3 &&
          !wire_client_snapshot(client)->n_have,
      "and what is trained");
    T(flow_inlet_patience(inlet) > 0.1, "then there is time");
    wire_server_over(inlet->server, &done);
    T(client_sees(a, b, client, WIRE_OVER, &news, 5),
      "[consumer: the run is over] the run is over");
    strcpy(cc.hello.recipe, "emc2");
    other = wire_client_open(b, &cc, &err);
    T(inlet_sees(a, b, inlet, WIRE_REPORT, &news, 5),
      "who has another recipe is refused: %s", news.why.msg);
    T(wire_server_peers(inlet->server) == 1, "who is refused is not there");
    wire_client_close(other);
    wire_client_close(client);
    flow_inlet_close(inlet);
    wire_close(a);
    wire_close(b);
}

/* What an augmenter says of the end of the plan. */
static void
ends(void)
{
    const struct wire_end end = {.at = {1, 0, 0}};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_inlet_config sc = {
        .endpoint = at("ends"),
        .hello = hello_of("train", "", digest_a, 10),
        .at = {1, 0, 0},
        .window = 1,
    };
    struct flow_inlet *inlet = flow_inlet_open(a, &sc, &err);
    struct wire_sock *sock = join(b, sc.endpoint, "x");
    struct wire_news news;

    T(inlet_sees(a, b, inlet, WIRE_JOINED, &news, 5), "an augmenter joins");
    tell(sock, next_of(1, 0, 0, 1));
    T(inlet_sees(a, b, inlet, WIRE_REPORT, &news, 5),
      "what has no use here is refused: %s", news.why.msg);
    T(flow_consumer_ended(inlet->consumer) == FLOW_NONE_ENDED,
      "the plan goes on");
    tell(sock, wire_end_put(&end));
    inlet_sees(a, b, inlet, WIRE_REPORT, &news, 0.1);
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
