#ifndef WIRE_REFUSAL_H
#define WIRE_REFUSAL_H

#include "wire/news.h"
#include "wire/sock.h"

/*
 * What becomes of a message that is refused: its sender hears the reason in an
 * `error` with `message`, and the receiver counts it and says so.  For the
 * ends of edges: client.c, service.c, binder.c.
 */
struct wire_refusal {
    struct tally n;
    double told; /* when the sender was told last */
};

/*
 * wire_refusal_tell() tells the sender, at most ten times a second: two ends
 * that cannot read each other must not keep each other busy.
 *   told   when that was last; 0: never
 *   to     whom, on a ROUTER; else NULL
 */
void wire_refusal_tell(double *told, struct wire_sock *sock,
                       const struct wire_id *to, const struct err *why);

/*
 * wire_refusal_add() tells the one at the other end of a DEALER, and counts.
 * Returns 1 when *why should be said, as tally_add(), with the sender
 * before it.
 *   from   the sender; "": not known
 */
int wire_refusal_add(struct wire_refusal *refusal, struct wire_sock *sock,
                     const char *from, struct err *why);

/*
 * wire_refusal_last() tells the one at the other end of a DEALER why we end,
 * and waits 0.1 s, as a process that ends at once would take it along.
 */
void wire_refusal_last(struct wire *wire, struct wire_sock *sock,
                       const struct err *why);

#endif
