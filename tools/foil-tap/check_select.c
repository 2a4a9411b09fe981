#include <inttypes.h>
#include <string.h>

#include "tap.h"
#include "util/clock.h"
#include "util/opt.h"

/* A selector: the checks play augmenters that relay a trainer. */
enum { WINDOW = 8, ROOM = 2, MOST = 64, FLOOD = 200 };

/* Steps of an epoch that the rules need. */
enum { STEPS = 8 };

/* Places of items, their first ids and steps. */
struct got {
    size_t n;
    struct wire_place at[MOST];
    int64_t first[MOST], steps[MOST];
    size_t malformed;
};

static void
take_items(struct got *got, struct wire_msg *msg)
{
    struct wire_item item;
    struct err err;

    if (wire_item_get(&item, msg, 0, &err)) {
        got->malformed++;
        log_message("an item of the stage: %s", err.msg);
    } else if (got->n < MOST) {
        got->at[got->n] = wire_place_of(item.session, &item.batch);
        got->first[got->n] = item.batch.ids[0];
        got->steps[got->n++] = item.batch.steps;
    }
    wire_item_release(&item);
    wire_msg_free(msg);
}

/* Receives items for `seconds`, or until there are `enough`. */
static struct got
await_items(struct check_actor *actor, size_t enough, double seconds)
{
    const double until = clock_now() + seconds;
    struct got got = {0};
    struct wire_msg *msg;

    while (got.n < enough &&
           (msg = check_await(actor, WIRE_ITEM, until - clock_now())))
        take_items(&got, msg);
    return got;
}

/* 1 if they are for n steps of epoch 0 from `step` on, in this order; also
 * sets what the next rule expects. */
static int
are_steps(const struct got *got, struct check *check, size_t n, int64_t step)
{
    int good = got->n == n && !got->malformed;

    check_expect(check,
                 "items of epoch 0, steps %" PRId64 " to %" PRId64
                 ", in this order, of session %" PRId64,
                 step, step + (int64_t)n - 1, check->session);

    for (size_t i = 0; good && i < n; i++)
        good = got->at[i].session == check->session && got->at[i].epoch == 0 &&
               got->at[i].step == step + (int64_t)i;
    return good;
}

static void
sends_wanted_items(struct check *check, struct check_actor *a)
{
    const int64_t have[] = {0, 0, 0, 1};
    struct got got;

    check->table = "STATES, Producer";
    check_rule(check, check_count(a, WIRE_ITEM, 0.5) == 0,
               "it sends no item before one is wanted");
    check_send(a, check_want(check, 0, 2, WINDOW, ROOM, 0, NULL));
    got = await_items(a, ROOM, 5);
    if (got.n && got.steps[0] < STEPS)
        check_bail(check,
                   "its epochs have %" PRId64
                   " step%s, too few for the checks: "
                   "start it with %d or more, as by a "
                   "smaller --batch",
                   got.steps[0], got.steps[0] == 1 ? "" : "s", STEPS);
    check_require(check, are_steps(&got, check, ROOM, 0),
                  "it sends items of the lowest wanted places first");
    check_rule(check, await_items(a, 1, 0.5).n == 0,
               "no more items than the peer has room for");
    for (int i = 0; i < 20; i++)
        check_send(a, check_want(check, 0, 2, WINDOW, ROOM, 0, NULL));
    check_rule(check, await_items(a, 1, 0.5).n == 0,
               "a repeated snapshot changes nothing");
    check_send(a, check_want(check, 0, 1, 2 * WINDOW, ROOM, 2, have));
    check_rule(check, await_items(a, 1, 0.5).n == 0,
               "an older snapshot changes nothing");
    check_send(a, check_want(check, 0, 3, WINDOW, ROOM, 2, have));
    got = await_items(a, ROOM, 5);
    check_rule(check, are_steps(&got, check, ROOM, 2),
               "what the consumer holds makes room for the next places");
    check_send(a, check_want(check, 4, 4, WINDOW, ROOM, 0, NULL));
    got = await_items(a, ROOM, 5);
    check_rule(check, are_steps(&got, check, ROOM, 4),
               "trained steps make room for others");
}

/* Another peer gets the next places, and those of a lost peer. */
static void
serves_other_peers(struct check *check, struct check_actor *a,
                   struct check_actor *b)
{
    const double until = clock_now() + 12;
    struct got got;
    size_t own = 0;

    check_rule(check, check_greet(b, "augment", "check", "", 0),
               "a second peer is greeted");
    check_send(b, check_want(check, 4, 4, WINDOW, ROOM, 0, NULL));
    got = await_items(b, ROOM, 5);
    check_rule(check, are_steps(&got, check, ROOM, 6),
               "one peer at a time has a place");
    check_close(a);
    while (own < ROOM && clock_now() < until) {
        // only those two places are wanted, and the ones that b has
        check_send(b, check_want(check, 4, 5, 2 * ROOM, 2 * ROOM, 0, NULL));
        got = await_items(b, ROOM - own, 1);
        for (size_t i = 0; i < got.n; i++)
            own += got.at[i].step == 4 || got.at[i].step == 5;
    }
    check_rule(check, own == ROOM,
               "items of a lost peer go to another, within 12 s");
}

static void
restarts_for_a_newer_session(struct check *check, struct check_actor *b)
{
    struct got got, again;

    check->session = (int64_t)clock_wall();
    check_send(b, check_want(check, 0, 1, WINDOW, ROOM, 0, NULL));
    got = await_items(b, ROOM, 5);
    check_rule(check, are_steps(&got, check, ROOM, 0),
               "a newer session begins at its own place");
    check->session = (int64_t)clock_wall();
    check_send(b, check_want(check, 0, 1, WINDOW, ROOM, 0, NULL));
    again = await_items(b, ROOM, 5);
    check_rule(check,
               are_steps(&again, check, ROOM, 0) && got.n == again.n &&
                   !memcmp(got.first, again.first, got.n * sizeof *got.first),
               "the same place has the same ids in every session");
}

/* Refusals are sent to the sender, and change nothing. */
static void
refuses_with_a_reason(struct check *check, struct check_actor *b)
{
    const int64_t session = check->session;
    const int64_t have[] = {0, 0, 0, 1};
    struct got got;

    check->table = "Refusals";
    check_refusal(b,
                  check_rename(check_want(check, 0, 2, WINDOW, ROOM, 0, NULL),
                               "window", "widnow"),
                  3,
                  "a `want` without its window is answered with an error that "
                  "names the kind");
    check->session = (int64_t)clock_wall() + (int64_t)2 * 86400 * 1000000000;
    check_refusal(b, check_want(check, 0, 1, WINDOW, ROOM, 0, NULL), 3,
                  "a session two days ahead is refused");
    check->session = session;
    check_count(b, WIRE_ITEM, 2);
    check_rule(check, b->errors < 5, "each is answered once: no busy loop");
    check_send(b, check_want(check, 0, 3, WINDOW, ROOM, 2, have));
    got = await_items(b, ROOM, 5);
    check_rule(check, are_steps(&got, check, ROOM, 2),
               "after errors the peer is served as before");
}

/* Peer b sends heartbeats, but not the batch that the trainer waits for. */
static void
reassigns_overdue_items(struct check *check, struct check_actor *b)
{
    const double until = clock_now() + 2. * (double)check->lease + 10;
    struct check_actor c;
    int64_t serial = 4;
    int got_it = 0;

    check->table = "STATES, Producer";
    check_connect(check, &c, b->endpoint, "check-3");
    check_rule(check, check_greet(&c, "augment", "check", "", 0),
               "a third peer is greeted");
    while (!got_it && clock_now() < until) {
        struct got got;

        // the trainer waits for step 2: each second a new snapshot
        check_send(&c, check_want(check, 2, serial, 2, ROOM, 0, NULL));
        check_send(b, check_want(check, 2, serial, 2, ROOM, 0, NULL));
        serial++;
        got = await_items(&c, 1, 1);
        got_it = got.n && got.at[0].step == 2;
        check_count(b, WIRE_ITEM, 0.01);
    }
    check_rule(check, got_it,
               "an item older than the lease (%ld s) goes to another peer "
               "while the trainer waits",
               check->lease);
    check_close(&c);
}

/* Sends snapshots of a trainer with a full window, each newer than the last.
 * The answer to a hello shows that all before it was read. */
static void
survives_a_flood(struct check *check, struct check_actor *b)
{
    int64_t have[2 * WINDOW] = {0};

    for (int64_t k = 0; k < WINDOW; k++)
        have[2 * k + 1] = k;
    check->session = (int64_t)clock_wall();
    for (int64_t serial = 1; serial <= FLOOD; serial++) {
        check_send(b, check_want(check, 0, serial, WINDOW, ROOM, WINDOW, have));
        if (serial == 1)
            check_greet(b, "augment", "check", "", 0);
    }
    check_rule(check,
               await_items(b, 1, 0.5).n == 0 &&
                   check_greet(b, "augment", "check", "", 0),
               "%d snapshots at once that want nothing get no items, and the "
               "peer is answered",
               FLOOD);
}

void
check_select(struct check *check, const char *const *endpoint)
{
    struct check_actor a, b;

    check_connect(check, &a, *endpoint, "check-1");
    check_connect(check, &b, *endpoint, "check-2");
    check_require(check, check_greet(&a, "augment", "check", "", 0),
                  "it answers a hello with its own");
    check_rule(check, !strcmp(a.hello.stage, "select") && *a.hello.peer,
               "its hello has the stage select and a name");
    check_rule(check, check_greet(&a, "augment", "check", "", 0),
               "a second hello is answered, too");
    sends_wanted_items(check, &a);
    serves_other_peers(check, &a, &b);
    restarts_for_a_newer_session(check, &b);
    refuses_with_a_reason(check, &b);
    reassigns_overdue_items(check, &b);
    survives_a_flood(check, &b);
    check_ending(&b, 0, 2);
    check_close(&b);
}
