#pragma once

#include <stddef.h>

#include "wire/msg.h"

/*
 * The edges of a pipeline: which stages may be at each end, what they may send,
 * and how large it may be.  The table of messages (lib/wire/message.h) has the
 * kinds, lib/wire/edge.c roles and limits; foil-wire(5) is compared with all of
 * them.
 *
 * PLAN and BATCH carry items and batches; on NEGATIVES and FEATURES a client
 * connects and sends requests, and a service binds and answers; on EVENTS the
 * binder publishes.
 */
enum wire_edge {
    WIRE_EDGE_PLAN, /* also "items": the same edge after a filter */
    WIRE_EDGE_BATCH,
    WIRE_EDGE_NEGATIVES,
    WIRE_EDGE_FEATURES,
    WIRE_EDGE_EVENTS,
    WIRE_EDGE_ANY, /* of a proxy, which forwards the messages of any edge */
    WIRE_EDGES
};

/* The end that sends. */
enum wire_side { WIRE_CONNECTS, WIRE_BINDS };

#define WIRE_EDGE_BIT(edge) (1u << (edge))

/* wire_edge_name() returns "plan, items", "batch" ..., as in foil-wire(5). */
const char *wire_edge_name(enum wire_edge edge);

/* wire_edge_allows_kind() returns 1 when the end `from` may send messages of a
 * kind. */
int wire_edge_allows_kind(enum wire_edge edge, enum wire_side from,
                          enum wire_kind kind);

/* wire_edge_allows_role() returns 1 when a key of that role is allowed at that
 * end.
 */
int wire_edge_allows_role(enum wire_edge edge, enum wire_side side,
                          const char *role);

/* wire_is_word() returns 1 when a list of words, separated by blanks or commas,
 * has the text of n bytes. */
int wire_is_word(const char *list, const char *text, size_t n);

/* wire_edge_is_service() returns 1 for edges of a service: clients may be
 * silent between two requests. */
int wire_edge_is_service(enum wire_edge edge);

/*
 * wire_edge_part() returns the bytes of the largest part that an end may send,
 * wire_edge_message() those of the largest message, all parts together; the
 * other end refuses larger ones.  For a larger part ZeroMQ closes the
 * connection.  The limit of a message also bounds the unread bytes of a peer,
 * and of all greeted peers together.
 *   max_batch   the trainer's --max-batch for batches; 0: WIRE_BATCH_PART
 */
#define WIRE_BATCH_PART ((size_t)40 << 20)
size_t wire_edge_part(enum wire_edge edge, enum wire_side from,
                      size_t max_batch);
size_t wire_edge_message(enum wire_edge edge, enum wire_side from,
                         size_t max_batch);

/* wire_edge_fits() returns 0 when the other end accepts a message of that size,
 * else -1 with a message that names kind, bytes and limit: ZeroMQ would just
 * close the connection.  For batches the limit is WIRE_BATCH_PART. */
int wire_edge_fits(enum wire_edge edge, enum wire_side from,
                   const struct wire_msg *msg, struct err *err);
