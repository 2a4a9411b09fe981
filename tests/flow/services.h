#pragma once

/*
 * A service with a state, its trainers, a network and a clock in one process,
 * for the state machines of greeting, request, handover, peer table and answer
 * cache. Messages are late, lost, doubled, and cut off with their connection,
 * except some that the service had received and not read.  Messages of one
 * connection arrive in order; the second copy of one may come after later
 * ones, as from an earlier connection.  One event after another, each
 * determined by its seed.
 *
 * The state is a number that each step changes.  The trainer stores it, hands
 * it over in three pieces, and applies a step to it when it is done; so each
 * answer shows whether the state of the service was the right one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "flow/greeting.h"
#include "flow/handover.h"
#include "flow/link.h"
#include "flow/request.h"
#include "util/rng.h"

enum { TRAINERS = 6, PIECES = 3, NOTES = 512, ANSWERS = 4096 };

enum what { HELLO, REHELLO, WEIGHTS_GET, WEIGHTS, PUT, TAKEN, ERROR };

struct note {
    enum what what;
    int64_t id;
    struct wire_place at;
    uint64_t value; /* the state; for PUT a row of it */
    int piece;      /* for PUT; -1: there are no tables */
    int state;      /* for ERROR: it wants the state, */
    int about;      /* or refuses a message */
    char name[24];  /* for HELLO */
};

struct mail {
    double at;
    uint64_t order;
    int who, up; /* its connection, and whether to the service */
    unsigned connection;
    struct note note;
};

struct trainer {
    int runs;
    double from, until; /* it runs; stopped before */
    char name[24];
    int64_t session;
    unsigned connection; /* the present one; there is none before */
    double back;
    double last[2]; /* when the last message on it arrives, down and up */
    struct flow_greeting greeting;
    struct flow_request request;
    struct flow_state_copy keeper;
    struct note out;  /* the present request */
    int asked;        /* there is one */
    int hands_over;   /* the state is handed over, without a request */
    double trains;    /* until then; 0: it does not */
    double waits;     /* for the next batch, until then */
    char service[24]; /* the service that it knows */
    double renews;    /* when a new connection is made; 0: none is */
    uint64_t state;
    int step;
};

struct world {
    uint64_t seed, order;
    struct rng rng;
    int trace;
    double now, allowed;
    size_t n;
    struct mail mail[NOTES];

    int starts; /* for the service */
    double back, stopped;
    uint64_t state, coming[PIECES];
    struct flow_peer_table peers;
    struct flow_answer_cache cache;
    struct flow_state_owner ownership;
    struct note answer[ANSWERS]; /* in its cache */
    int answers;

    struct trainer trainer[TRAINERS];
    int newest; /* the trainer that may end the run */
    int steps, saved_at;
    uint64_t saved;       /* by the last checkpoint */
    unsigned loss, twice; /* one message in so many; 0: none */
    int filters;          /* no batch comes before the service has a state */
    int new_session;      /* trainers send a request again under a new id */
    double pace;          /* the most that a step, or a batch, takes */
    int faults;           /* so far */
    char wrong[160];
};

#include "flow/event_log.h"

/* How a step changes the state. */
static uint64_t
after(uint64_t state, int step)
{
    return (state ^ (uint64_t)(step + 1)) * 0x9e3779b97f4a7c15u | 1;
}

/* ---- the network -------------------------------------------------------- */

static int
is_up(const struct world *w, const struct trainer *t, unsigned connection)
{
    return t->runs && t->connection == connection && t->back <= w->now;
}

static void
put_mail(struct world *w, int who, int up, unsigned connection,
         const struct note *note, int second)
{
    struct trainer *t = &w->trainer[who];
    double at = w->now + 0.0001 + some(w, dice(w, 50) ? 0.02 : 1);

    if (second)
        at += some(w, 1);
    else if (at < t->last[up])
        at = t->last[up];
    else
        t->last[up] = at;
    if (w->n == NOTES) {
        fail(w, "%d messages are on their way", NOTES);
        return;
    }
    w->mail[w->n++] = (struct mail){at, w->order++, who, up, connection, *note};
}

static void
post(struct world *w, int who, int up, unsigned connection,
     const struct note *note)
{
    static const char *const names[] = {"hello",   "rehello",   "weights.get",
                                        "weights", "state.put", "ok",
                                        "error"};
    const struct trainer *t = &w->trainer[who];
    const int lost = w->loss && !dice(w, w->loss),
              twice = w->twice && !dice(w, w->twice);

    if (!is_up(w, t, connection))
        return;
    log_event(w, "%s %s %s, id %jd, step %jd%s%s%s", t->name, up ? "->" : "<-",
              names[note->what], (intmax_t)note->id, (intmax_t)note->at.step,
              note->state ? ", wants the state" : "",
              note->about ? ", about a message" : "",
              lost    ? ": lost"
              : twice ? ": doubled"
                      : "");
    if (lost)
        w->allowed += 12;
    for (int i = 0; !lost && i < 1 + twice; i++)
        put_mail(w, who, up, connection, note, i);
}

/* The next message, or 0: none arrives before that time. */
static int
next_mail(struct world *w, double before, struct mail *mail)
{
    size_t first = 0;

    for (size_t i = 1; i < w->n; i++)
        if (w->mail[i].at < w->mail[first].at ||
            (w->mail[i].at == w->mail[first].at &&
             w->mail[i].order < w->mail[first].order))
            first = i;
    if (!w->n || w->mail[first].at > before)
        return 0;
    *mail = w->mail[first];
    w->mail[first] = w->mail[--w->n];
    return 1;
}
