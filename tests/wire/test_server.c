#include <time.h>

#include "t.h"
#include "wire/batch.h"
#include "wire/item.h"

#include "ends.h"

/* foil-train and foil-augment: batches for credit. */
static void
batch_edge(void)
{
    static const uint8_t views[2 * 2 * 4 * 4 * 3];
    const int64_t ids[] = {5, 9};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = {
        .endpoint = at("batch"),
        .kind = WIRE_CONSUMES,
        .hello = hello_of("train", "", "", 0),
        .at = {1000, 0, 0},
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
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client, *other;
    struct wire_msg *msg = wire_batch_put(&batch);
    struct wire_place done = {1000, 0, 1};
    struct wire_news news;

    strcpy(cc.hello.recipe, "cifar");
    client = wire_client_open(b, &cc, &err);
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "joined");
    T(wire_server_hello(server)->size == 10 &&
          !strcmp(wire_server_hello(server)->recipe, "cifar"),
      "the first comer's data set, and recipe");
    T(wire_client_send(client, msg) == 0, "nothing before it is asked for");
    wire_server_want(server, news.peer, 1);
    T(client_sees(a, b, client, WIRE_MOVED, &news, 5), "credit and session");
    T(wire_client_credit(client) == 1, "one");
    T(wire_client_send(client, msg) == 1, "sent");
    T(wire_client_send(client, msg) == 0, "not twice");
    T(server_sees(a, b, server, WIRE_CAME, &news, 5), "came");
    T(wire_server_credit(server, news.peer) == 0, "the books agree");
    T(!wire_batch_get(&batch, news.msg, 10, &err), "decodes: %s", err.msg);
    wire_batch_release(&batch);
    wire_msg_free(msg);
    wire_server_done(server, &done);
    T(client_sees(a, b, client, WIRE_PASSED, &news, 5) && news.at.step == 1,
      "done comes through");
    wire_server_over(server, &done);
    T(client_sees(a, b, client, WIRE_ENDED, &news, 5), "the run is over");

    strcpy(cc.hello.recipe, "emc2");
    other = wire_client_open(b, &cc, &err);
    T(server_sees(a, b, server, WIRE_BAD, &news, 5), "another recipe: %s",
      news.why.msg);
    T(wire_server_peers(server) == 1, "is not let in");
    wire_client_close(other);
    wire_client_close(client);
    wire_server_close(server);
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
    struct wire_server_config sc = {
        .endpoint = at("rules"),
        .kind = WIRE_CONSUMES,
        .hello = hello_of("train", "", digest_a, 10),
        .at = {1, 0, 0},
    };
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_news news;
    struct wire_sock *sock = say(b, sc.endpoint, wire_batch_put(&batch));

    T(server_sees(a, b, server, WIRE_BAD, &news, 5), "unasked: %s",
      news.why.msg);
    wire_sock_close(sock);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* A peer by hand, with a name of its own. */
static struct wire_sock *
join(struct wire *wire, const char *endpoint, const char *name,
     int64_t greeting)
{
    const struct wire_limits limits = {0};
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_msg *msg;
    struct err err;
    struct wire_sock *sock =
        wire_sock_connect(wire, WIRE_DEALER, endpoint, NULL, &limits, &err);

    snprintf(hello.peer, sizeof hello.peer, "%s", name);
    hello.greeting = greeting;
    msg = wire_hello_put(&hello);
    while (!wire_sock_send(sock, NULL, msg))
        wire_wait(wire, -1, 0.001, &err);
    wire_msg_free(msg);
    return sock;
}

/* Send, also where the queue is full for now: a burst must not lose any. */
static void
tell(struct wire_sock *sock, struct wire_msg *msg)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const double until = clock_now() + 5;

    while (!wire_sock_send(sock, NULL, msg) && clock_now() < until)
        nanosleep(&pause, NULL);
    wire_msg_free(msg);
}

static struct wire_server *
open_plan(struct wire *wire, const char *name)
{
    struct err err = {""};
    struct wire_server_config sc = {
        .endpoint = at(name),
        .kind = WIRE_PRODUCES,
        .hello = hello_of("select", "", digest_a, 10),
    };

    return wire_server_open(wire, &sc, &err);
}

/* Turn both sides for a moment, whatever comes. */
static void
let_come(struct wire *a, struct wire *b, struct wire_server *server)
{
    struct wire_news news;

    server_sees(a, b, server, WIRE_OVER, &news, 0.15);
}

/* A hello that is repeated changes nothing, one with a new number all. */
static void
greetings(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server *server = open_plan(a, "greetings");
    struct wire_sock *sock = join(b, at("greetings"), "x", 1), *back;
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_news news;
    uint64_t peer;

    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "joined");
    peer = news.peer;
    strcpy(hello.peer, "x");
    hello.greeting = 1;
    tell(sock, wire_hello_put(&hello));
    T(!server_sees(a, b, server, WIRE_JOINED, &news, 0.15),
      "the same hello once more changes nothing");
    hello.greeting = 2;
    tell(sock, wire_hello_put(&hello));
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5) && news.peer != peer,
      "the next greeting: somebody new");
    T(server_sees(a, b, server, WIRE_LEFT, &news, 5) && news.peer == peer,
      "and the old one is gone");
    back = join(b, at("greetings"), "x", 1);
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5) &&
          wire_server_peers(server) == 1,
      "on another connection, too");
    wire_sock_close(sock);
    wire_sock_close(back);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* A peer that does not stop sending what has no use. */
static void
nonsense(void)
{
    const int64_t ids[] = {1, 2};
    const struct wire_item item = {.at = {6, 0, 0},
                                   .size = 10,
                                   .steps = 5,
                                   .epochs = 1,
                                   .n = 2,
                                   .ids = ids};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server *server = open_plan(a, "nonsense");
    struct wire_sock *sock = join(b, at("nonsense"), "x", 1);
    struct err why = {"beyond ten"};
    struct wire_news news;
    int away = 0;

    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "joined");
    for (int i = 0; i < 80; i++)
        wire_server_doubt(server, news.peer, &why);
    let_come(a, b, server);
    T(wire_server_peers(server) == 1, "a wrong claim is no malformed message");
    for (int i = 0; i < 80; i++)
        tell(sock, wire_item_put(&item));
    while (!away && server_sees(a, b, server, WIRE_BAD, &news, 5))
        away = strstr(news.why.msg, "sent away") != NULL;
    T(away, "who goes on sending what has no use is sent away: %s",
      news.why.msg);
    T(server_sees(a, b, server, WIRE_LEFT, &news, 5), "and is gone");
    wire_sock_close(sock);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

/* END, then gone: the last word must be heard. */
static int
last_word_heard(void)
{
    struct err err;
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server_config sc = {
        .endpoint = at("last"),
        .kind = WIRE_CONSUMES,
        .hello = hello_of("train", "", digest_a, 10),
        .at = {1, 0, 0},
    };
    struct wire_client_config cc = {
        .endpoint = at("last"),
        .kind = WIRE_BRINGS,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_news news;
    int heard = server_sees(a, b, server, WIRE_JOINED, &news, 5) &&
                client_sees(a, b, client, WIRE_JOINED, &news, 5);

    wire_server_over(server, &sc.at);
    wire_server_close(server);
    wire_close(a);
    a = wire_open(NULL, &err);
    heard = heard && client_sees(a, b, client, WIRE_ENDED, &news, 3);
    wire_client_close(client);
    wire_close(a);
    wire_close(b);
    return heard;
}

static void
last_words(void)
{
    int heard = 0;

    for (int i = 0; i < 20; i++)
        heard += last_word_heard();
    T(heard == 20, "%d of 20 last words were heard", heard);
}

int
main(void)
{
    scratch_open();
    rules();
    greetings();
    nonsense();
    last_words();
    batch_edge();
    scratch_close();
    return t_done();
}
