#ifndef WIRE_REFUSAL_H
#define WIRE_REFUSAL_H

#include "util/tally.h"
#include "wire/error.h"
#include "wire/sock.h"

/*
 * What becomes of a message that is refused: it changes nothing, its sender is
 * told by an `error` that names it, and whoever goes on like that is sent away.
 * For the ends of edges: client.c, service.c, binder.c.
 */
struct wire_refusal {
    int64_t count;        /* messages of one sender that were refused */
    unsigned row;         /* of them, since the last good one */
    double budget, as_of; /* errors that may be sent to it, at that time */
};

enum {
    WIRE_REFUSALS_RATE = 16, /* errors a second to one sender, at most */
    WIRE_REFUSALS_MAX = 64   /* in a row, and a peer is sent away */
};

/*
 * wire_refusal_add() counts one more: 1 when its sender is to be told.
 * wire_refusal_good(): a good message of that kind came.  Greetings and signs
 * of life do not count: a peer that sends nothing else of use is sent away.
 */
int wire_refusal_add(struct wire_refusal *refusal, double now);
void wire_refusal_good(struct wire_refusal *refusal, enum wire_kind kind);

/*
 * wire_refusal_tell() adds one, and tells its sender.
 *   to        the peer, on a ROUTER; else NULL
 *   subject   the message
 */
void wire_refusal_tell(struct wire_refusal *refusal, struct wire_sock *sock,
                       const struct wire_id *to,
                       const struct wire_subject *subject,
                       const struct err *why);

/*
 * wire_refusal_words() makes the sentence about an error of the other end that
 * names a message of ours.
 *   from   name of the peer that refuses it
 */
void wire_refusal_words(const struct wire_error *error, const char *from,
                        struct err *why);

/*
 * wire_refusal_last() tells the one at the other end of a DEALER why we end,
 * and waits 0.1 s, as a process that ends at once would take it along.
 */
void wire_refusal_last(struct wire *wire, struct wire_sock *sock,
                       const struct err *why);

#endif
