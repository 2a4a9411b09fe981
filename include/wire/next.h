#ifndef WIRE_NEXT_H
#define WIRE_NEXT_H

#include "wire/codec.h"

/*
 * The messages that are a place in the run and little more.
 *
 *     next  consumer -> producer: more items are welcome; at is the first
 *           step that is not trained yet
 *     done  consumer -> producer: all before the place is trained
 *     end   producer -> consumer: nothing at or after the place;
 *           consumer -> producer: the run is over
 *     beat  producer -> consumer: a sign of life
 */
struct wire_place {
    int64_t session; /* nanoseconds since 1970 at the start of the trainer; a
                      * larger one wins, a smaller one is ignored */
    int64_t epoch;   /* from 0, below WIRE_EPOCH_MAX */
    int64_t step;    /* of that epoch, from 0, below WIRE_STEP_MAX */
};

enum { WIRE_CREDIT_MAX = 4096 };

struct wire_next {
    struct wire_place at;
    int64_t credit; /* so many more, 0 .. WIRE_CREDIT_MAX; 0: a sign of life */
    int waits;      /* the trainer has nothing to do until the batch of this
                     * place comes */
};

struct wire_end {
    struct wire_place at;
    int over; /* of a producer: the run is over */
};

WIRE_PLAIN(next, WIRE_NEXT)
WIRE_PLAIN(end, WIRE_END)

/* wire_place_cmp() orders by (epoch, step): < 0, 0, > 0.  Not by session. */
int wire_place_cmp(const struct wire_place *a, const struct wire_place *b);

/* kind: WIRE_DONE or WIRE_END. */
struct wire_msg *wire_place_put(enum wire_kind kind,
                                const struct wire_place *at);
int wire_place_get(struct wire_place *at, const struct wire_msg *msg,
                   struct err *err);

/* wire_over_put() makes an end that says that the run is over;
 * wire_over_get() asks a message whether it is one. */
struct wire_msg *wire_over_put(const struct wire_place *at);
int wire_over_get(const struct wire_msg *msg);

struct wire_msg *wire_beat_put(void);

/*
 * wire_session_judge() refuses a session that cannot be.  It is the clock of
 * the trainer's machine at its start; one that lies more than a day ahead of
 * ours would make every true one look old, for good.  A clock of ours that has
 * not been set since before 2025 judges nothing.
 */
int wire_session_judge(int64_t session, struct err *err);

#endif
