#include <time.h>

#include "t.h"
#include "wire/batch.h"
#include "wire/item.h"

#include "ends.h"

/* foil-select and foil-augment: items for credit, done, end. */
static void
plan_edge(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    const int64_t ids[] = {3, 1, 2, 4, 5, 6, 7, 8, 9};
    struct wire_item item = {
        .size = 10, .steps = 5, .epochs = 2, .n = 9, .ids = ids};
    struct wire_place place = {77, 1, 2};
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
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_news news;
    struct wire_msg *msg;
    uint64_t peer;

    T(client && server, "both ends open, the client first: %s", err.msg);
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "the server greets");
    peer = news.peer;
    T(!strcmp(wire_server_who(server, peer)->stage, "augment"), "knows whom");
    T(client_sees(a, b, client, WIRE_JOINED, &news, 5), "the client too");
    T(wire_server_asker(server, NULL) == 0, "nobody asks yet");

    wire_client_want(client, 2);
    T(wire_client_credit(client) == 0, "no credit before a session is known");
    wire_client_pass(client, &place);
    wire_client_want(client, 2);
    T(server_sees(a, b, server, WIRE_MOVED, &news, 5), "a session begins");
    T(news.at.session == 77 && news.at.epoch == 1 && news.at.step == 2,
      "at its place");
    T(wire_server_asker(server, NULL) == peer, "and it asks");
    T(wire_server_credit(server, peer) == 2, "for two");

    item.at = place;
    msg = wire_item_put(&item);
    T(wire_server_send(server, peer, msg) == 1, "an item goes out");
    T(wire_server_send(server, peer, msg) == 1, "another");
    wire_msg_free(msg);
    T(wire_server_asker(server, NULL) == 0, "then credit is used up");
    T(client_sees(a, b, client, WIRE_CAME, &news, 5), "it comes");
    T(wire_item_get(&item, news.msg, 10, &err) == 0 && item.ids[2] == 2,
      "is what was sent: %s", err.msg);
    T((uintptr_t)item.ids % 8 == 0, "aligned, however it came");
    wire_item_release(&item);
    T(client_sees(a, b, client, WIRE_CAME, &news, 5), "the other too");
    T(wire_client_credit(client) == 0, "the client's book agrees");

    place.step = 3;
    wire_client_pass(client, &place);
    T(server_sees(a, b, server, WIRE_PASSED, &news, 5) && news.at.step == 3,
      "done is passed on");
    wire_server_end(server, &place);
    wire_server_end(server, &place);
    T(client_sees(a, b, client, WIRE_ENDED, &news, 5), "its own end");
    T(!client_sees(a, b, client, WIRE_ENDED, &news, 0.05), "once");
    wire_client_over(client);
    T(server_hears_end(a, b, server, 5), "the run is over");

    wire_client_close(client);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

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
    wire_server_over(server);
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
    struct wire_next old = {{5, 0, 0}, 3, 0}, now = {{6, 0, 0}, 2, 0};
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
    struct wire_msg *msg;
    struct wire_sock *sock = say(b, sc.endpoint, wire_batch_put(&batch));

    T(server_sees(a, b, server, WIRE_BAD, &news, 5), "unasked: %s",
      news.why.msg);
    wire_sock_close(sock);
    wire_server_close(server);

    sc.endpoint = at("rules2");
    sc.kind = WIRE_PRODUCES;
    server = wire_server_open(a, &sc, &err);
    sock = say(b, sc.endpoint, wire_next_put(&now));
    T(server_sees(a, b, server, WIRE_MOVED, &news, 5), "a session");
    msg = wire_next_put(&old);
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(msg);
    server_sees(a, b, server, WIRE_MOVED, &news, 0.1);
    T(wire_server_credit(server, 1) == 2, "credit of an older one is none");
    msg = wire_batch_put(&batch);
    wire_sock_send(sock, NULL, msg);
    wire_msg_free(msg);
    T(server_sees(a, b, server, WIRE_BAD, &news, 5), "no use: %s",
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
    const struct wire_next three = {{6, 0, 0}, 3, 0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server *server = open_plan(a, "greetings");
    struct wire_sock *sock = join(b, at("greetings"), "x", 1), *back;
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_news news;
    uint64_t peer;

    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "joined");
    peer = news.peer;
    tell(sock, wire_next_put(&three));
    T(server_sees(a, b, server, WIRE_MOVED, &news, 5), "asks for three");
    strcpy(hello.peer, "x");
    hello.greeting = 1;
    tell(sock, wire_hello_put(&hello));
    let_come(a, b, server);
    T(wire_server_credit(server, peer) == 3, "the same hello once more");
    hello.greeting = 2;
    tell(sock, wire_hello_put(&hello));
    T(server_sees(a, b, server, WIRE_JOINED, &news, 5) && news.peer != peer,
      "the next greeting: somebody new");
    T(wire_server_credit(server, news.peer) == 0, "without credit");
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

/* Of three consumers one says that the run is over. */
static void
ends(void)
{
    const struct wire_next one = {{6, 0, 0}, 1, 0};
    const struct wire_place place = {6, 0, 0};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server *server = open_plan(a, "ends");
    struct wire_sock *sock[3];
    struct wire_news news;

    for (int i = 0; i < 3; i++) {
        const char name[] = {(char)('a' + i), 0};

        sock[i] = join(b, at("ends"), name, 1);
        tell(sock[i], wire_next_put(&one));
    }
    while (wire_server_peers(server) < 3)
        server_sees(a, b, server, WIRE_JOINED, &news, 0.1);
    let_come(a, b, server);
    tell(sock[0], wire_place_put(WIRE_END, &place));
    T(!server_hears_end(a, b, server, 0.2), "one of three: not the end");
    tell(sock[1], wire_place_put(WIRE_END, &place));
    tell(sock[2], wire_place_put(WIRE_END, &place));
    T(server_hears_end(a, b, server, 5), "all three: the end");
    tell(sock[1], wire_next_put(&one));
    let_come(a, b, server);
    T(!server_hears_end(a, b, server, 0), "one asks for more: not the end");
    wire_sock_close(sock[1]);
    T(server_hears_end(a, b, server, 8), "it is gone: the end");
    for (int i = 0; i < 3; i += 2)
        wire_sock_close(sock[i]);
    wire_server_close(server);
    wire_close(a);
    wire_close(b);
}

static int
not_beyond_ten(void *tool, const struct wire_place *place, struct err *why)
{
    (void)tool;
    return place->step > 10 ? err_set(why, "beyond ten") : 0;
}

/* Claims that cannot be, and a peer that does not stop making them. */
static void
claims(void)
{
    const struct wire_next now = {{6, 0, 3}, 1, 0}, back = {{6, 0, 4}, 0, 1},
                           far = {{INT64_C(1) << 62, 0, 0}, 1, 0};
    const struct wire_place eleven = {6, 0, 11}, ten = {6, 0, 10};
    const int64_t ids[] = {1, 2};
    const struct wire_item item = {.at = {6, 0, 0},
                                   .size = 10,
                                   .steps = 5,
                                   .epochs = 1,
                                   .n = 2,
                                   .ids = ids};
    struct wire_server_config sc = {
        .endpoint = at("claims"),
        .kind = WIRE_PRODUCES,
        .hello = hello_of("select", "", digest_a, 10),
        .believe = not_beyond_ten,
    };
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_sock *sock = join(b, at("claims"), "x", 1);
    struct wire_news news;
    int away = 0;

    tell(sock, wire_next_put(&now));
    T(server_sees(a, b, server, WIRE_MOVED, &news, 5), "a session");
    tell(sock, wire_next_put(&far));
    T(server_sees(a, b, server, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "ahead of this machine's clock"),
      "a session of the year 2116 is refused: %s", news.why.msg);
    T(wire_server_place(server).session == 6, "the old one stays");
    tell(sock, wire_place_put(WIRE_DONE, &eleven));
    T(server_sees(a, b, server, WIRE_BAD, &news, 5) &&
          strstr(news.why.msg, "beyond ten"),
      "a place that the tool does not believe: %s", news.why.msg);
    T(wire_server_place(server).step == 3, "moves nothing");
    tell(sock, wire_place_put(WIRE_DONE, &ten));
    T(server_sees(a, b, server, WIRE_PASSED, &news, 5), "one that it does");

    tell(sock, wire_next_put(&back));
    T(!server_sees(a, b, server, WIRE_WAITED, &news, 0.2) &&
          wire_server_place(server).step == 10,
      "said to be waited for before it: old news");
    for (double since = clock_now(); clock_now() < since + 1;)
        let_come(a, b, server);
    tell(sock, wire_next_put(&back));
    T(server_sees(a, b, server, WIRE_WAITED, &news, 5) &&
          wire_server_place(server).step == 4,
      "still so after a second: back to it");

    for (int i = 0; i < 80; i++)
        tell(sock, wire_place_put(WIRE_DONE, &eleven));
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

    wire_server_over(server);
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
    ends();
    claims();
    last_words();
    plan_edge();
    batch_edge();
    scratch_close();
    return t_done();
}
