/*
 * An outlet over sockets: messages of peers reach the producer, and its items
 * reach them.
 */
#include "t.h"
#include "flow/outlet.h"
#include "flow/peer.h"
#include "wire/batch.h"

/* Run both sides until the outlet has an event of that kind. */
static int
outlet_sees(struct wire *a, struct wire *b, struct flow_outlet *outlet,
            enum flow_event_kind what, struct flow_event *event, double seconds)
{
    const double until = clock_now() + seconds;

    do {
        while (flow_outlet_next(outlet, event))
            if (event->kind == what)
                return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* Whether the run is over for the outlet within so many seconds. */
static int
sees_over(struct wire *a, struct wire *b, struct flow_outlet *outlet,
          double seconds)
{
    const double until = clock_now() + seconds;
    struct flow_event event;

    do {
        while (flow_outlet_next(outlet, &event))
            ;
        if (flow_outlet_is_over(outlet))
            return 1;
    } while (turn(a, b) && clock_now() < until);
    return 0;
}

/* Three items from the place on, and no more. */
static void
fill(struct flow_outlet *outlet)
{
    while (flow_producer_needs_place(outlet->producer)) {
        const struct wire_place at = flow_producer_fresh(outlet->producer);
        struct wire_place after = at;

        after.step++;
        if (after.step > 5)
            flow_producer_close(outlet->producer, &at);
        else
            flow_producer_add(outlet->producer, &at, &after);
    }
}

/* foil-select and foil-augment. */
struct plan {
    struct wire *a, *b;
    struct flow_outlet *outlet;
    struct flow_client *client;
};

static struct plan
open_plan(void)
{
    const struct flow_outlet_config sc = {
        .server.endpoint = at("plan"),
        .server.hello = hello_of("select", "r", digest_a, 10),
        .lease = 10,
    };
    const struct flow_client_config cc = {
        .endpoint = at("plan"),
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct err err = {""};
    struct plan p = {.a = wire_open(NULL, &err), .b = wire_open(NULL, &err)};

    p.client = flow_client_open(p.b, &cc, &err);
    p.outlet = flow_outlet_open(p.a, &sc, &err);
    T(p.client && p.outlet, "both ends open, the client first: %s", err.msg);
    return p;
}

/* 1 when the outlet has an event of that kind, in 8 s. */
static int
sees(struct plan *p, enum flow_event_kind what, struct flow_event *event)
{
    return outlet_sees(p->a, p->b, p->outlet, what, event, 60);
}

/* The same for the client. */
static int
client_sees_event(struct plan *p, enum flow_event_kind what,
                  struct flow_event *event)
{
    return client_sees(p->a, p->b, p->client, what, event, 60);
}

static void
begins(struct plan *p)
{
    struct flow_event event;
    struct flow_send_item now;

    T(sees(p, FLOW_JOINED, &event), "the outlet has a peer");
    T(client_sees_event(p, FLOW_JOINED, &event), "the client joined");
    T(!flow_producer_needs_place(p->outlet->producer) &&
          !flow_producer_next_item(p->outlet->producer, 0, &now),
      "no window is known yet");
    T(send_to_server(p->client, next_of(77, 1, 2, 1)),
      "the client sends a snapshot");
    T(sees(p, FLOW_NEW_SESSION, &event), "a session begins");
    T(event.at.session == 77 && event.at.epoch == 1 && event.at.step == 2,
      "it begins at its place");
}

/* Wanted items are sent. */
static void
hands_out(struct plan *p)
{
    const int64_t ids[] = {3, 1, 2, 4, 5, 6, 7, 8, 9};
    struct wire_item item = {.size = 10,
                             .batch.steps = 5,
                             .batch.epochs = 2,
                             .batch.b = 9,
                             .batch.ids = ids};
    struct flow_event event;
    struct flow_send_item now;

    fill(p->outlet);
    for (int i = 0; i < 3; i++) {
        struct wire_msg *msg;

        T(flow_producer_next_item(p->outlet->producer, clock_now(), &now) &&
              now.peer == flow_server_peer(p->outlet->server, 0) &&
              now.at.step == 2 + i,
          "the only peer is next");
        item.session = now.at.session;
        item.batch.epoch = now.at.epoch;
        item.batch.step = now.at.step;
        msg = wire_item_put(&item);
        T(flow_outlet_send_item(p->outlet, &now, msg), "an item is sent");
        wire_msg_free(msg);
    }
    T(!flow_producer_next_item(p->outlet->producer, clock_now(), &now) &&
          flow_producer_leases(p->outlet->producer) == 3,
      "after three items no other one is sent");
    T(client_sees_event(p, FLOW_MESSAGE, &event), "an item arrives");
    T(event.item->batch.ids[2] == 2 && event.item->batch.step == 2,
      "it is the sent one");
    T((uintptr_t)event.item->batch.ids % 8 == 0, "its ids are aligned");
    T(client_sees_event(p, FLOW_MESSAGE, &event), "the next one arrives");
}

/* The trainer's place, and the end. */
static void
passes_on(struct plan *p)
{
    struct flow_event event;

    send_to_server(p->client, next_of(77, 1, 3, 2));
    T(sees(p, FLOW_PROGRESS, &event) && event.at.step == 3,
      "the new place is an event");
    T(flow_producer_leases(p->outlet->producer) == 2,
      "a trained item has no lease");
    send_to_server(p->client, next_of(77, 1, 2, 3));
    T(sees(p, FLOW_REWOUND, &event) && event.at.step == 2,
      "a place that goes back is an event");
    fill(p->outlet);
    flow_outlet_send_end(p->outlet);
    flow_outlet_send_end(p->outlet);
    T(client_sees_event(p, FLOW_ENDED, &event) && event.at.step == 5,
      "the plan has an end");
    T(!client_sees(p->a, p->b, p->client, FLOW_ENDED, &event, 0.05),
      "the end is sent once");
}

static void
is_left(struct plan *p)
{
    struct flow_event event;
    struct flow_send_item now;

    flow_producer_next_item(p->outlet->producer, clock_now(), &now);
    flow_producer_mark_sent(p->outlet->producer, &now, 1, clock_now());
    send_to_server(p->client, wire_end_put(&(struct wire_end){{77, 1, 2}, 1}));
    T(sees_over(p->a, p->b, p->outlet, 5), "the run is over");
    flow_client_close(p->client);
    for (int i = 0; i < 1000 && flow_server_ping(p->outlet->server, now.peer);
         i++)
        turn(p->a, p->b);
    T(sees(p, FLOW_LEFT, &event) && p->outlet->freed == 1,
      "a peer that leaves frees its item");
}

static void
plan_edge(void)
{
    struct plan p = open_plan();

    begins(&p);
    hands_out(&p);
    passes_on(&p);
    is_left(&p);
    flow_outlet_close(p.outlet);
    wire_close(p.a);
    wire_close(p.b);
}

static int
not_beyond_ten(void *tool, struct wire_want *next, struct err *why)
{
    (void)tool;
    return next->at.step > 10 ? err_set(why, "beyond ten") : 0;
}

/* Impossible places. */
static void
claims(void)
{
    struct flow_outlet_config sc = {
        .server.endpoint = at("claims"),
        .server.hello = hello_of("select", "", digest_a, 10),
        .lease = 10,
        .check_place = not_beyond_ten,
    };
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_outlet *outlet = flow_outlet_open(a, &sc, &err);
    struct wire_sock *sock = join(b, at("claims"), "x");
    struct flow_event event;

    send_and_free(sock, next_of(6, 0, 3, 1));
    T(outlet_sees(a, b, outlet, FLOW_NEW_SESSION, &event, 60),
      "a peer sends a session");
    send_and_free(sock, next_of(INT64_C(1) << 62, 0, 0, 1));
    T(outlet_sees(a, b, outlet, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "ahead of this machine's clock"),
      "a session of the year 2116 is refused: %s", event.why.msg);
    T(flow_producer_place(outlet->producer).session == 6,
      "the last session remains");
    send_and_free(sock, next_of(6, 0, 11, 2));
    T(outlet_sees(a, b, outlet, FLOW_REPORT, &event, 60) &&
          strstr(event.why.msg, "beyond ten"),
      "a place that the tool refuses: %s", event.why.msg);
    T(flow_producer_place(outlet->producer).step == 3, "the place remains");
    send_and_free(sock, next_of(6, 0, 10, 3));
    T(outlet_sees(a, b, outlet, FLOW_PROGRESS, &event, 60),
      "one that the tool accepts moves it");

    wire_sock_close(sock);
    flow_outlet_close(outlet);
    wire_close(a);
    wire_close(b);
}

/* A peer that does not deliver is named, and its items are free. */
static void
late(void)
{
    struct err err = {""}, words = {""};
    struct flow_outlet_config config = {
        .server.endpoint = at("late"),
        .server.hello = hello_of("select", "", digest_a, 10),
        .lease = 1e-9,
    };
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_outlet *outlet = flow_outlet_open(a, &config, &err);
    struct wire_sock *sock = join(b, at("late"), "hoarder");
    struct wire_msg *msg =
        wire_heartbeat_put(&(struct wire_heartbeat){0}); // instead of an item
    struct flow_send_item turn = {0};
    struct flow_event event;
    int until = 1000;

    send_and_free(sock, next_of(6, 0, 0, 1));
    T(outlet_sees(a, b, outlet, FLOW_NEW_SESSION, &event, 60),
      "a session begins");
    fill(outlet);
    T(flow_producer_next_item(outlet->producer, clock_now(), &turn) &&
          flow_outlet_send_item(outlet, &turn, msg),
      "an item is sent");
    T(!flow_outlet_late(outlet, &words), "no snapshot, no late peer");
    for (int64_t serial = 2; !flow_outlet_late(outlet, &words) && until-- > 0;
         serial++) {
        send_and_free(sock, next_of(6, 0, 0, serial));
        outlet_sees(a, b, outlet, FLOW_REPORT, &event, 0.01);
    }
    T(until > 0, "a newer snapshot does not have it: it is late");
    T(strstr(words.msg, "'hoarder' did not deliver epoch 0, step 0 within "),
      "the peer is named: %s", words.msg);
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
