/*
 * An outlet over sockets: what peers say reaches the producer, and what the
 * producer hands out reaches them.
 */
#include "t.h"
#include "flow/outlet.h"
#include "wire/item.h"
#include "wire/peer.h"

/* Turn both sides until the outlet has news of that kind. */
static int
outlet_sees(struct wire *a, struct wire *b, struct flow_outlet *outlet,
            enum wire_what what, struct wire_news *news, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        while (flow_outlet_next(outlet, news))
            if (news->what == what)
                return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* Whether the outlet hears within so many seconds that the run is over. */
static int
hears_over(struct wire *a, struct wire *b, struct flow_outlet *outlet,
           double seconds)
{
    const double until = clock_now() + seconds;
    struct wire_news news;

    do {
        while (flow_outlet_next(outlet, &news))
            ;
        if (flow_outlet_is_over(outlet))
            return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

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
    struct flow_outlet_config sc = {
        .endpoint = at("plan"),
        .hello = hello_of("select", "r", digest_a, 10),
        .lease = 10,
    };
    struct wire_client_config cc = {
        .endpoint = at("plan"),
        .kind = WIRE_ASKS,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct wire_client *client = wire_client_open(b, &cc, &err);
    struct flow_outlet *outlet = flow_outlet_open(a, &sc, &err);
    struct wire_news news;
    struct flow_turn now;
    struct wire_msg *msg;

    T(client && outlet, "both ends open, the client first: %s", err.msg);
    T(outlet_sees(a, b, outlet, WIRE_JOINED, &news, 5), "the outlet greets");
    T(client_sees(a, b, client, WIRE_JOINED, &news, 5), "the client too");
    T(!flow_producer_turn(outlet->producer, 0, &now), "nobody asks yet");
    wire_client_want(client, 2);
    T(wire_client_credit(client) == 0, "no credit before a session is known");
    wire_client_pass(client, &place);
    wire_client_want(client, 2);
    T(outlet_sees(a, b, outlet, WIRE_MOVED, &news, 5), "a session begins");
    T(news.at.session == 77 && news.at.epoch == 1 && news.at.step == 2,
      "it begins at its place");
    T(flow_producer_credit(outlet->producer) == 2, "two items are asked for");

    for (int i = 0; i < 2; i++) {
        T(flow_producer_turn(outlet->producer, clock_now(), &now) &&
              now.peer == wire_server_peer(outlet->server, 0),
          "it is the turn of the one peer");
        item.at = now.at;
        msg = wire_item_put(&item);
        T(flow_outlet_give(outlet, &now, msg), "an item goes out");
        wire_msg_free(msg);
        now.at.step++;
        flow_producer_go(outlet->producer, &now.at);
    }
    T(!flow_producer_turn(outlet->producer, clock_now(), &now),
      "then the credit is used up");
    T(flow_producer_out(outlet->producer) == 2, "two items are out");
    T(client_sees(a, b, client, WIRE_MESSAGE, &news, 5), "an item comes");
    T(wire_client_item(client)->ids[2] == 2 &&
          wire_client_item(client)->at.step == 2,
      "it is what was sent");
    T((uintptr_t)wire_client_item(client)->ids % 8 == 0,
      "its ids are aligned, however they came");
    T(client_sees(a, b, client, WIRE_MESSAGE, &news, 5), "the other one comes");
    T(wire_client_credit(client) == 0, "the client's book agrees");

    place.step = 3;
    wire_client_pass(client, &place);
    T(outlet_sees(a, b, outlet, WIRE_PASSED, &news, 5) && news.at.step == 3,
      "what is trained is passed on");
    T(flow_producer_out(outlet->producer) == 1,
      "what is trained is no longer leased");
    wire_client_waits(client, &place);
    T(outlet_sees(a, b, outlet, WIRE_WAITED, &news, 5), "the trainer waits");
    flow_outlet_end(outlet, &place);
    flow_outlet_end(outlet, &place);
    T(client_sees(a, b, client, WIRE_ENDED, &news, 5), "the plan has an end");
    T(!client_sees(a, b, client, WIRE_ENDED, &news, 0.05),
      "which is said once");
    wire_client_over(client);
    T(hears_over(a, b, outlet, 5), "the run is over");
    wire_client_close(client);
    for (int i = 0; i < 1000 && wire_server_reaches(outlet->server, now.peer);
         i++)
        turn(a, b);
    T(outlet_sees(a, b, outlet, WIRE_LEFT, &news, 8) && outlet->freed == 1,
      "who leaves frees what it had");

    flow_outlet_close(outlet);
    wire_close(a);
    wire_close(b);
}

static int
not_beyond_ten(void *tool, struct wire_place *place, struct err *why)
{
    (void)tool;
    return place->step > 10 ? err_set(why, "beyond ten") : 0;
}

/* Claims that cannot be. */
static void
claims(void)
{
    const struct wire_next now = {{6, 0, 3}, 1, 0},
                           far = {{INT64_C(1) << 62, 0, 0}, 1, 0};
    const struct wire_place eleven = {6, 0, 11}, ten = {6, 0, 10};
    struct flow_outlet_config sc = {
        .endpoint = at("claims"),
        .hello = hello_of("select", "", digest_a, 10),
        .lease = 10,
        .believe = not_beyond_ten,
    };
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_outlet *outlet = flow_outlet_open(a, &sc, &err);
    struct wire_sock *sock = join(b, at("claims"), "x");
    struct wire_news news;

    tell(sock, wire_next_put(&now));
    T(outlet_sees(a, b, outlet, WIRE_MOVED, &news, 5),
      "a peer names a session");
    tell(sock, wire_next_put(&far));
    T(outlet_sees(a, b, outlet, WIRE_REPORT, &news, 5) &&
          strstr(news.why.msg, "ahead of this machine's clock"),
      "a session of the year 2116 is refused: %s", news.why.msg);
    T(flow_producer_place(outlet->producer).session == 6,
      "the session before stays");
    tell(sock, wire_place_put(WIRE_DONE, &eleven));
    T(outlet_sees(a, b, outlet, WIRE_REPORT, &news, 5) &&
          strstr(news.why.msg, "beyond ten"),
      "a place that the tool does not believe: %s", news.why.msg);
    T(flow_producer_place(outlet->producer).step == 3, "the place stays");
    tell(sock, wire_place_put(WIRE_DONE, &ten));
    T(outlet_sees(a, b, outlet, WIRE_PASSED, &news, 5),
      "one that the tool believes moves it");

    wire_sock_close(sock);
    flow_outlet_close(outlet);
    wire_close(a);
    wire_close(b);
}

/* A peer that does not deliver is named, and what it had is free. */
static void
late(void)
{
    const struct wire_next one = {{6, 0, 0}, 1, 0}, waits = {{6, 0, 0}, 0, 1};
    struct err err = {""}, words = {""};
    struct flow_outlet_config config = {
        .endpoint = at("late"),
        .hello = hello_of("select", "", digest_a, 10),
        .lease = 1e-9,
    };
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_outlet *outlet = flow_outlet_open(a, &config, &err);
    struct wire_sock *sock = join(b, at("late"), "hoarder");
    struct wire_msg *msg = wire_beat_put(); // stands for an item
    struct flow_turn turn = {0};
    struct wire_news news;

    tell(sock, wire_next_put(&one));
    T(outlet_sees(a, b, outlet, WIRE_MOVED, &news, 5) &&
          flow_producer_turn(outlet->producer, clock_now(), &turn) &&
          flow_outlet_give(outlet, &turn, msg),
      "an item is handed out");
    T(!flow_outlet_late(outlet, &words), "nobody waits, nobody is late");
    tell(sock, wire_next_put(&waits));
    T(outlet_sees(a, b, outlet, WIRE_WAITED, &news, 5) &&
          flow_outlet_late(outlet, &words),
      "it is waited for, and late");
    T(strstr(words.msg, "'hoarder' did not deliver epoch 0, step 0 within "),
      "the peer is named: %s", words.msg);
    T(flow_outlet_patience(outlet) <= 0.05, "its item is to go out at once");
    wire_msg_free(msg);
    wire_sock_close(sock);
    flow_outlet_close(outlet);
    wire_close(a);
    wire_close(b);
}

int
main(void)
{
    scratch_open();
    plan_edge();
    claims();
    late();
    scratch_close();
    return t_done();
}
