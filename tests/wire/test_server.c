#include "t.h"
#include "wire/item.h"

#include "peer.h"

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

    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "the peer has joined");
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

    T(server_sees(a, b, server, WIRE_JOINED, &news, 5), "the peer has joined");
    for (int i = 0; i < 80; i++)
        wire_server_doubt(server, news.peer, &why);
    let_come(a, b, server);
    T(wire_server_peers(server) == 1, "a wrong claim is no malformed message");
    for (int i = 0; i < 80; i++)
        tell(sock, wire_item_put(&item));
    while (!away && server_sees(a, b, server, WIRE_REPORT, &news, 5))
        away = strstr(news.why.msg, "sent away") != NULL;
    T(away, "who goes on sending what has no use is sent away: %s",
      news.why.msg);
    T(server_sees(a, b, server, WIRE_LEFT, &news, 5),
      "who is sent away is gone");
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
    };
    struct wire_client_config cc = {
        .endpoint = at("last"),
        .kind = WIRE_BRINGS,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    const struct wire_place place = {1, 0, 0};
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct wire_news news;
    int heard = server_sees(a, b, server, WIRE_JOINED, &news, 5) &&
                client_sees(a, b, client, WIRE_JOINED, &news, 5);

    wire_server_over(server, &place);
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
    greetings();
    nonsense();
    last_words();
    scratch_close();
    return t_done();
}
