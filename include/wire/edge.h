#ifndef WIRE_EDGE_H
#define WIRE_EDGE_H

#include <stddef.h>

#include "wire/msg.h"

/*
 * The edges of a pipeline: which stages may be at each end, what they may send,
 * and how large it may be.  The kinds stand in the table of messages
 * (lib/wire/message.h), roles and limits in lib/wire/edge.c; foil-wire(5) is
 * compared with all of them.
 *
 * On PLAN and BATCH items and batches flow; on NEGATIVES and FEATURES a client
 * connects and asks, and a service binds and answers; on EVENTS the binder
 * publishes.
 */
enum wire_edge {
    WIRE_EDGE_PLAN, /* plan, and items: the same edge behind a filter */
    WIRE_EDGE_BATCH,
    WIRE_EDGE_NEGATIVES,
    WIRE_EDGE_FEATURES,
    WIRE_EDGE_EVENTS,
    WIRE_EDGE_ANY, /* of a proxy, which passes on the messages of any edge */
    WIRE_EDGES
};

/* The end that sends. */
enum wire_side { WIRE_CONNECTS, WIRE_BINDS };

#define WIRE_EDGE_BIT(edge) (1u << (edge))

/* wire_edge_name() returns "plan, items", "batch" ..., as foil-wire(5), which
 * is compared with it, calls them. */
const char *wire_edge_name(enum wire_edge edge);

/* wire_edge_may() returns 1 when that end may send messages of a kind. */
int wire_edge_may(enum wire_edge edge, enum wire_side from,
                  enum wire_kind kind);

/* wire_edge_takes() returns 1 when the holder of a key of that role may be that
 * end. */
int wire_edge_takes(enum wire_edge edge, enum wire_side side, const char *role);

/* wire_edge_serves() returns 1 for edges where a service binds: clients may be
 * silent between two requests. */
int wire_edge_serves(enum wire_edge edge);

/*
 * wire_edge_part() returns the bytes of the largest part that an end may send,
 * wire_edge_message() those of the largest message, all of its parts together;
 * the other end refuses larger ones.  Beyond the first ZeroMQ closes the
 * connection; the second is also what a peer, and all greeted peers together,
 * may have sent that is not read yet.
 *   max_batch   the trainer's --max-batch for batches; 0: WIRE_BATCH_PART
 */
#define WIRE_BATCH_PART ((size_t)40 << 20)
size_t wire_edge_part(enum wire_edge edge, enum wire_side from,
                      size_t max_batch);
size_t wire_edge_message(enum wire_edge edge, enum wire_side from,
                         size_t max_batch);

/*
 * wire_edge_fits() says whether the other end takes a message of that size: 0,
 * or -1 with a sentence that names kind, bytes and limit.  For a larger one
 * ZeroMQ would close the connection without a word.  For batches the limit is
 * WIRE_BATCH_PART.
 */
int wire_edge_fits(enum wire_edge edge, enum wire_side from,
                   const struct wire_msg *msg, struct err *err);

#endif
