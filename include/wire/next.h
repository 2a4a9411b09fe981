#ifndef WIRE_NEXT_H
#define WIRE_NEXT_H

#include "wire/msg.h"

/*
 * The messages that are a place in the run and little more.
 *
 *     session  whole  nanoseconds since 1970 at the start of the trainer; a
 *                     larger one wins, a smaller one is ignored
 *     epoch    whole  0 ..
 *     step     whole  step of that epoch, 0 ..
 *
 *     next  place + credit   consumer -> producer: `credit` more items are
 *                            welcome; the place is the first step that is
 *                            not trained yet.  credit 0: a sign of life.
 *                            Where the flag `waits` (may be missing) is true,
 *                            the trainer has nothing to do until the batch of
 *                            this place comes
 *     done  place            consumer -> producer: all before it is trained
 *     end   place + over     producer -> consumer: nothing at or after it,
 *                            and where `over` (may be missing) is true, the
 *                            run is over; consumer -> producer: it is over
 *     beat  (nothing)        producer -> consumer: a sign of life
 */
struct wire_place {
    int64_t session, epoch, step;
};

enum { WIRE_CREDIT_MAX = 4096 };

struct wire_next {
    struct wire_place at;
    int64_t credit; /* 0 .. WIRE_CREDIT_MAX */
    int waits;
};

/* wire_place_cmp() orders by (epoch, step): < 0, 0, > 0.  Not by session. */
int wire_place_cmp(const struct wire_place *a, const struct wire_place *b);

struct wire_msg *wire_next_put(const struct wire_next *next);
int wire_next_get(struct wire_next *next, const struct wire_msg *msg,
                  struct err *err);

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
