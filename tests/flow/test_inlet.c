/*
 * An inlet over sockets: peers are asked, what they bring comes in, and what is
 * trained reaches them.
 */
#include "t.h"
#include "flow/inlet.h"
#include "wire/batch.h"
#include "wire/ends.h"

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

/* foil-train and foil-augment: batches for credit. */
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
        .room = 1,
    };
    struct wire_client_config cc = {
        .endpoint = at("batch"),
        .kind = WIRE_BRINGS,
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
    struct wire_place done = {1000, 0, 1};
    struct wire_news news;

    strcpy(cc.hello.recipe, "cifar");
    client = wire_client_open(b, &cc, &err);
    T(inlet_sees(a, b, inlet, WIRE_JOINED, &news, 5), "an augmenter joins");
    T(wire_server_hello(inlet->server)->size == 10 &&
          !strcmp(wire_server_hello(inlet->server)->recipe, "cifar"),
      "data set and recipe are the first comer's");
    T(wire_client_send(client, msg) == 0,
      "nothing is sent before it is asked for");
    flow_inlet_ask(inlet);
    T(client_sees(a, b, client, WIRE_MOVED, &news, 5),
      "the augmenter learns credit and session");
    T(wire_client_credit(client) == 1, "one batch is asked for");
    T(wire_client_send(client, msg) == 1, "one batch is sent");
    T(wire_client_send(client, msg) == 0, "a second one is not");
    T(inlet_sees(a, b, inlet, WIRE_MESSAGE, &news, 5), "the batch comes");
    T(flow_consumer_credit(inlet->consumer, news.peer) == 0, "the books agree");
    T(!wire_batch_get(&batch, news.msg, 10, &err), "the batch decodes: %s",
      err.msg);
    T(flow_consumer_wants(inlet->consumer, &batch.at) &&
          !flow_consumer_hold(inlet->consumer, &batch.at, &batch) &&
          flow_consumer_take(inlet->consumer) == &batch,
      "it is the one whose turn it is");
    wire_batch_release(&batch);
    wire_msg_free(msg);
    flow_inlet_done(inlet, &done);
    T(client_sees(a, b, client, WIRE_PASSED, &news, 5) && news.at.step == 1,
      "what is trained is passed on");
    wire_server_over(inlet->server, &done);
    T(client_sees(a, b, client, WIRE_ENDED, &news, 5), "the run is over");

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

/* Says hello and msg from a socket that keeps no books of its own. */
static struct wire_sock *
say(struct wire *wire, const char *endpoint, struct wire_msg *msg)
{
    const struct wire_limits limits = {0};
    const struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_msg *greeting = wire_hello_put(&hello);
    struct err err;
    struct wire_sock *sock =
        wire_sock_connect(wire, WIRE_DEALER, endpoint, NULL, &limits, &err);

    while (!wire_sock_send(sock, NULL, greeting))
        wire_wait(wire, -1, 0.001, &err);
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(greeting);
    wire_msg_free(msg);
    return sock;
}

/* What breaks the rules is refused or ignored, not booked. */
static void
rules(void)
{
    static const uint8_t views[3];
    static const int64_t ids[1];
    const struct wire_batch batch = {.at = {1, 0, 0},
                                     .steps = 1,
                                     .epochs = 1,
                                     .n = 1,
                                     .n_views = 1,
                                     .height = 1,
                                     .width = 1,
                                     .channels = 3,
                                     .ids = ids,
                                     .views = views};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_inlet_config sc = {
        .endpoint = at("rules"),
        .hello = hello_of("train", "", digest_a, 10),
        .at = {1, 0, 0},
    };
    struct flow_inlet *inlet = flow_inlet_open(a, &sc, &err);
    struct wire_news news;
    struct wire_sock *sock = say(b, sc.endpoint, wire_batch_put(&batch));

    T(inlet_sees(a, b, inlet, WIRE_REPORT, &news, 5),
      "a batch that nobody asked for is refused: %s", news.why.msg);
    T(inlet_sees(a, b, inlet, WIRE_LEFT, &news, 0.1) == 0 &&
          wire_server_peers(inlet->server) == 1,
      "who breaks a rule once may stay");
    wire_sock_close(sock);
    flow_inlet_close(inlet);
    wire_close(a);
    wire_close(b);
}

int
main(void)
{
    scratch_open();
    rules();
    batch_edge();
    scratch_close();
    return t_done();
}
