#pragma once

#include "util/batch.h"
#include "wire/codec.h"

/*
 * The messages about the progress of a run.
 *
 *     want       consumer -> producer: which items are wanted
 *     end        producer -> consumer: nothing at or after the place;
 *                consumer -> producer: the run is over
 *     heartbeat  producer -> consumer: a sign of life, with its state
 */
struct wire_place {
    int64_t session; /* nanoseconds since 1970 at the start of the trainer; a
                      * larger one wins, a smaller one is ignored */
    int64_t epoch;   /* from 0, below WIRE_EPOCH_MAX */
    int64_t step;    /* of that epoch, from 0, below WIRE_STEP_MAX */
};

/* wire_place_of() returns the place of a batch of a session. */
static inline struct wire_place
wire_place_of(int64_t session, const struct batch *batch)
{
    return (struct wire_place){session, batch->epoch, batch->step};
}

enum { WIRE_WINDOW_MAX = 4096 };

/* A snapshot of a consumer: "of the `window` places from `at` on, in the order
 * of the plan, I hold those in `have` and want the others".  The newer of two
 * snapshots is valid, by (session, serial); a repeated one changes nothing. */
struct wire_want {
    struct wire_place at; /* every step before is trained */
    int64_t serial;       /* > 0, rises with each new snapshot of a session */
    int64_t window;       /* 1 .. WIRE_WINDOW_MAX */
    size_t n_have;        /* k, up to the window */
    const int64_t *have;  /* [k,2] (epoch, step), in order; NULL: none */
    int64_t room;         /* unfinished items that it may have at once, up to
                           * WIRE_WINDOW_MAX; -1: as many as the window; 0:
                           * none, it gives its items back */
    char plan[256];       /* of the last item that was trained, */
    char order[33]; /* and its order, if `at` is in the same epoch; or "" */
    struct wire_msg *msg; /* held by a decoded one; else NULL */
};

struct wire_end {
    struct wire_place at;
    int over; /* 1: the run is over; a consumer always sends 1 */
};

/* The state of an augmenter; {0}: not known. */
struct wire_heartbeat {
    int64_t room;    /* as in its want; 0: not known */
    int64_t items;   /* items received whose batch is not made yet */
    int64_t ready;   /* batches that are made and not sent */
    int64_t made;    /* batches that were made since its start */
    char source[32]; /* the stage that sends its items; "": not connected */
};

WIRE_HELD(want, WIRE_WANT)
WIRE_PLAIN(end, WIRE_END)
WIRE_PLAIN(heartbeat, WIRE_HEARTBEAT)

/*
 * wire_session_begin() returns the session of a trainer that starts: the clock,
 * or before + 1 if that is larger, as the clock may have been set back.  A
 * `before` more than a day ahead of the clock is ignored: peers would refuse a
 * later one, and they forget that one.  But with a clock before 2025, which was
 * never set, they refuse nothing.
 *   before   the run's last session; 0: it had none
 *   clock    nanoseconds since 1970
 */
int64_t wire_session_begin(int64_t before, int64_t clock);

/* wire_place_cmp() orders by (epoch, step): < 0, 0, > 0.  Not by session. */
int wire_place_cmp(const struct wire_place *a, const struct wire_place *b);

/* wire_session_check() returns -1 for a session more than a day ahead of our
 * clock: once accepted, it would be newer than all true ones.  A clock
 * before 2025 was never set; then nothing is refused. */
int wire_session_check(int64_t session, struct err *err);
