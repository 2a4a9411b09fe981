#pragma once

/*
 * A network and a clock in one process, for the state machines of lib/flow:
 * messages between parties are late, lost, doubled, and cut off with their
 * connection.  One event after another, each determined by its seed.
 *
 * Links go from the connecting to the binding party: relay to producer, relay
 * to trainer, filter to selector, trainer to service.  Messages of one
 * connection arrive in order.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/consumer.h"
#include "flow/greeting.h"
#include "flow/handover.h"
#include "flow/producer.h"
#include "flow/relay.h"
#include "flow/request.h"
#include "util/mem.h"
#include "util/rng.h"

enum {
    LEASE = 10, /* seconds, unless the world has a shorter one */
    RELAYS_MAX = 8,
    WINDOW_MAX = 8,
    PLACES_MAX = 40,
    LINKS_MAX = 2 * RELAYS_MAX + 2,
    FAULTS_MAX = 8,
    CUTS = 64, /* of a link, the last ones */
    SERIALS_MAX = 1024
};

/* Parties; a relay is RELAY + i.  The service is an end of the filter's
 * process, see process_of(). */
enum {
    SELECTOR,
    FILTER,
    TRAINER,
    SERVICE,
    BINDERS,
    RELAY = BINDERS,
    PARTIES = RELAY + RELAYS_MAX
};

enum what {
    HELLO,
    REHELLO,
    WANT,
    ITEM,
    BATCH,
    END,
    HEARTBEAT,
    ASK,
    PUT,
    ANSWER,
    DENIED,
    TICK
};

/* Seconds: silence after which a peer is gone, time between heartbeats. */
static const double silence = 3.2, life = 1;

struct content { /* a place, or a whole snapshot */
    int64_t session, serial;
    int16_t k, window, room, n; /* k: the place; n places are held: */
    int16_t over;               /* for an end: the run is over */
    int16_t have[WINDOW_MAX];
};

/* A message in transit, or the turn of a party (TICK). */
struct event {
    enum what what;
    int link, up; /* which, and whether to the binder; for a TICK the party */
    unsigned connection;
    int starts; /* of the binder, when it was sent */
    struct content content;
};

/* The time of an event; small, as many are moved. */
struct due {
    double at;
    uint64_t order; /* order at the same time */
    uint32_t event;
};

struct link {
    int client, binder;
    unsigned connection; /* the present one */
    double back;         /* it is up from then on */
    double last[2];      /* when the last message on it arrives, down and up */
    struct flow_greeting greeting;
    double heartbeat_at; /* when the connecting party sent its last heartbeat */
    uint64_t number;     /* its number at the binder; 0: not known to it */
    unsigned greeted_on; /* on this connection */
    unsigned greeted; /* the connection on which its hello was answered last */
    int64_t session;  /* of the last next at the binder, its serial, */
    int64_t serial;   /* and its room */
    int room;
    int late;        /* items in a row not delivered */
    double aside;    /* it gets nothing until then */
    uint64_t served; /* when it got an item last, in turns */
    double notified; /* when the snapshot was sent last */
    struct content latest;
    int ended, end; /* it sent end, with that place */
    int over;       /* it reported the end of the run */
    int wants;      /* it sent a snapshot since the end of the plan was sent, */
    double end_sent;   /* which was then */
    unsigned silent;   /* it fell silent on this connection */
    double gone[CUTS]; /* when the binder sees the end of a connection */
};

struct party {
    int starts;     /* how often it was started */
    double back;    /* it is dead until then */
    double stopped; /* and does not run until then */
    double tick;    /* time of its next turn */
    int left;       /* the run is over for it */
};

/* An item at the trainer, the filter and relays. */
struct thing {
    int64_t session;
    int k;
};

struct relay {
    struct flow_relay *flow;
    double made; /* when the item in the making is done; 0: none is */
    struct thing *item;
    double hangs; /* nothing is made until then */
    int deaf;     /* it reads nothing while it makes an item */

    struct content newest; /* as in the naive copy: see check_relay.h */
    char is[PLACES_MAX + 1];
    int n[5];    /* places in that state */
    int strange; /* it has a batch of another session */
    double over; /* since when the run is over for it; 0: it is not */
};

/* A producer: the selector, or the filter to augmenters. */
struct source {
    struct flow_producer *flow;
    int64_t session; /* as in the naive book: see check.h */
    int64_t serial;
    double confirmed; /* when the newest snapshot was last sent */
    double moved;     /* last change of the place, or the first end */
    int end_left;     /* a peer that reported the end of the run has left */
    int closed;       /* all places are in the book, or before it */
    int place, window, fresh;
    int low; /* the book begins there, or later; -1: it is empty */
    char added[PLACES_MAX + 1]; /* 1: the place is in the book, or was */
    char had[PLACES_MAX + 1];
    uint64_t holder[PLACES_MAX + 1];
    double sent_at[PLACES_MAX + 1];
    int n_sent; /* items sent */
    int over; /* for the filter: the end of the run was sent to the selector */
};

/* The trainer as client of the service: tests/flow/weights_service.h. */
struct requester {
    struct flow_request request;
    struct flow_state_copy keeper;
    int built; /* it has a network, and so a state */
    int wants,
        hands_over; /* for an answer; for that of a state between two steps */
    enum what what;
    struct content out;  /* the request; its serial is the id */
    double renews;       /* when a new connection is made; 0: none is */
    int service;         /* the service that greeted it last */
    unsigned connection; /* and the connection */
};

struct world {
    uint64_t seed;
    struct rng rng;
    int trace;
    double now;
    size_t n_due, room_due;
    struct due *due; /* a heap */
    uint64_t order;
    size_t n_events, room_events, n_spare, room_spare;
    struct event *event; /* the events of due */
    uint32_t *spare;     /* [n_spare] unused ones */
    int n_links;
    struct link link[LINKS_MAX];
    struct party party[PARTIES];
    uint64_t turns;
    struct flow_peer_table roll[BINDERS]; /* of the binders: their peers */

    int relays, filtered, window, room, steps, places, checkpoint;
    int wanted, counts;   /* the trainer stops after so many places; it knows
                             where the plan ends */
    struct rng ends;      /* chance of everything about the end */
    int threaded;         /* the trainer reads and sends while it computes */
    double lease, pace;   /* seconds; the most that a step takes */
    unsigned loss, twice; /* one message in so many; 0: none */
    double slow;          /* one message in fifty takes up to so long */

    int weighs;  /* the filter is a service of the trainer, too */
    int horizon; /* and draws so many places at most before they are weighed */
    struct rng more; /* chance of everything about it */
    struct flow_state_owner ownership;
    double begins;    /* when it may try to begin a session */
    int64_t answered; /* the last request */
    enum what answer;
    struct requester requester;
    double moved; /* when the last step was trained, or the last fault ended */

    struct source selector, filter_out;
    struct flow_consumer *filter_in, *trainer;
    int64_t session; /* of the trainer, which stores it */
    struct relay relay[RELAYS_MAX];

    int drawn, plan_end; /* for the filter: places before are drawn; -1 */
    int weighing;        /* the trainer has a batch to be weighed, */
    int training;        /* and computes with it */
    double busy;         /* until then */
    int trained, over;
    double ended;     /* when it was */
    double end_by;    /* when all must have received the end */
    int not_reached;  /* a party did not receive it */
    int latecomer;    /* a party was not greeted before the end */
    double all_ended; /* since when all report the end; 0: they do not */
    int end_lied;     /* a peer sent a false end */
    int early; /* or a false end of the run, or the trainer was killed when all
                  was trained: all may end before it does */

    /* The trainer in the naive copy: see check_trainer.h. */
    char holds[PLACES_MAX + 1];
    struct content snapshot; /* the newest snapshot */
    double
        differs; /* since when it differs from the held items; 0: it does not */
    int end_left, left_at;
    double made[SERIALS_MAX]; /* when the snapshot of that serial was made */

    double stale;   /* seconds that a snapshot may be in transit, so far */
    double losses;  /* seconds that lost messages may cost, so far */
    double grace;   /* seconds that any run may take longer */
    double allowed; /* seconds that the faults so far may cost */
    char wrong[160];
};

#include "flow/event_log.h"

/* ---- the log ----------------------------------------------------------- */

static const char *
name_of(int party)
{
    static char text[4][16];
    static int turn;
    char *to = text[turn++ % 4];

    if (party >= RELAY)
        snprintf(to, sizeof text[0], "relay%d", party - RELAY);
    else
        snprintf(to, sizeof text[0], "%s",
                 party == SELECTOR  ? "selector"
                 : party == FILTER  ? "filter"
                 : party == SERVICE ? "service"
                                    : "trainer");
    return to;
}

static void
log_message(struct world *w, const struct event *e, const char *how)
{
    static const char *const names[] = {
        "hello",     "rehello",     "want",      "item",   "batch", "end",
        "heartbeat", "weights.get", "state.put", "answer", "denied"};
    const struct link *link = &w->link[e->link];
    char more[96] = "";
    int n = 0;

    if (!w->trace)
        return;
    if (e->what >= WANT && e->what != HEARTBEAT)
        n = snprintf(more, sizeof more, " %jd:%d%s",
                     (intmax_t)e->content.session, e->content.k,
                     e->content.over ? ", over" : "");
    if (e->what == WANT)
        n += snprintf(more + n, sizeof more - (size_t)n,
                      " serial %jd, room %d, have", (intmax_t)e->content.serial,
                      e->content.room);
    for (int i = 0; e->what == WANT && i < e->content.n; i++)
        n += snprintf(more + n, sizeof more - (size_t)n, " %d",
                      e->content.have[i]);
    log_event(w, "%s -> %s %s%s%s",
              name_of(e->up ? link->client : link->binder),
              name_of(e->up ? link->binder : link->client), names[e->what],
              more, how);
}

/* ---- events ------------------------------------------------------------- */

static int
is_before(const struct due *a, const struct due *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void
schedule(struct world *w, struct due new)
{
    size_t i = w->n_due++;

    mem_grow(&w->due, &w->room_due, w->n_due, sizeof *w->due);
    for (; i && is_before(&new, &w->due[(i - 1) / 2]); i = (i - 1) / 2)
        w->due[i] = w->due[(i - 1) / 2];
    w->due[i] = new;
}

static void
push(struct world *w, double at, uint64_t order, const struct event *e)
{
    uint32_t where;

    if (w->n_spare) {
        where = w->spare[--w->n_spare];
    } else {
        where = (uint32_t)w->n_events++;
        mem_grow(&w->event, &w->room_events, w->n_events, sizeof *w->event);
    }
    w->event[where] = *e;
    schedule(w, (struct due){at, order, where});
}

/* The next event; free_event() when it is over. */
static struct due
pop(struct world *w)
{
    const struct due first = w->due[0], last = w->due[--w->n_due];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child + 1 < w->n_due &&
            is_before(&w->due[child + 1], &w->due[child]))
            child++;
        if (child >= w->n_due || !is_before(&w->due[child], &last))
            break;
        w->due[i] = w->due[child];
        i = child;
    }
    w->due[i] = last;
    return first;
}

static void
free_event(struct world *w, uint32_t event)
{
    mem_grow(&w->spare, &w->room_spare, w->n_spare + 1, sizeof *w->spare);
    w->spare[w->n_spare++] = event;
}

/* The turn of a party, after the messages that arrive at that time. */
static void
tick(struct world *w, int party, double at)
{
    struct party *p = &w->party[party];
    const struct event e = {.what = TICK, .link = party};

    if (p->tick > w->now && p->tick <= at)
        return;
    p->tick = at;
    push(w, at, UINT64_MAX / 2 + w->order++, &e);
}

/* The party with which it is killed and stopped. */
static int
process_of(int party)
{
    return party == SERVICE ? FILTER : party;
}

/* ---- links -------------------------------------------------------------- */

static int
is_up(const struct world *w, const struct link *link)
{
    return link->back <= w->now;
}

/* The second copy of a snapshot may come after later ones. */
static void
send_copy(struct world *w, int link, int up, enum what what,
          const struct content *content, int second)
{
    struct link *l = &w->link[link];
    struct event e = {.what = what,
                      .link = link,
                      .up = up,
                      .connection = l->connection,
                      .starts = w->party[process_of(l->binder)].starts};
    double at;

    at = w->now + 0.0001 + some(w, dice(w, 50) ? 0.02 : w->slow);
    if (second && what == WANT)
        at += some(w, 1);
    else if (at < l->last[up])
        at = l->last[up];
    else
        l->last[up] = at;
    if (content)
        e.content = *content;
    push(w, at, w->order++, &e);
}

/* The possible cost of a lost message; in total at most ten minutes, or a
 * run that hangs and keeps losing messages would never be found. */
static void
allow_loss(struct world *w, enum what what)
{
    const double cost = what == ITEM || what == BATCH ? w->lease + 3 : 2;

    if (w->losses + cost > 600)
        return;
    w->losses += cost;
    w->allowed += cost;
}

/* 1 when it is in transit; a lost message looks the same to its sender. */
static int
post(struct world *w, int link, int up, enum what what,
     const struct content *content)
{
    struct event e = {.what = what, .link = link, .up = up};

    if (!is_up(w, &w->link[link]) ||
        (!up && what != REHELLO &&
         w->link[link].greeted_on != w->link[link].connection))
        return 0;
    if (up && what != HELLO &&
        w->link[link].greeted != w->link[link].connection)
        fail(w, "%s sends before its greeting", name_of(w->link[link].client));
    if (up)
        w->link[link].heartbeat_at = w->now;
    if (content)
        e.content = *content;
    if (w->loss && !dice(w, w->loss)) {
        log_message(w, &e, ": lost");
        allow_loss(w, what);
        return 1;
    }
    log_message(w, &e, "");
    send_copy(w, link, up, what, content, 0);
    if (w->twice && !dice(w, w->twice)) {
        log_message(w, &e, ": doubled");
        send_copy(w, link, up, what, content, 1);
    }
    return 1;
}

/* The routing id of a connection at its binder. */
static struct wire_id
id_of(int link, unsigned connection)
{
    return (struct wire_id){
        3, {(uint8_t)link, (uint8_t)(connection >> 8), (uint8_t)connection}, 0};
}

/* The link between two parties, or -1. */
static int
link_of(const struct world *w, int client, int binder)
{
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].client == client && w->link[i].binder == binder)
            return i;
    return -1;
}
