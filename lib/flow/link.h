#pragma once

#include "flow/event.h"
#include "util/err.h"
#include "wire/error.h"
#include "wire/hello.h"
#include "wire/sock.h"

/*
 * How both ends of an edge, the connecting one (client.c) and the binding one
 * (server.c), handle the messages of the other end.
 *
 * A refused message changes nothing and is counted.  Its sender receives an
 * `error` that names it, FLOW_REFUSALS_RATE a second at most.  The tool prints
 * the 1st, 2nd, 4th, 8th ... of its kind.
 *
 * Nothing here is thread-safe.
 */
struct flow_link {
    struct wire *wire;
    struct wire_sock *sock;
    enum wire_edge edge;
    enum wire_side side;     /* ours */
    struct wire_hello hello; /* ours */
    struct tally refused;    /* refused messages of the other end */
    struct tally errors;     /* received errors about messages of ours */
    struct wire_msg *msg;    /* of the last event; NULL: none */
    struct wire_want want;   /* the same, decoded, if it is a want */
    struct err last; /* why the last message was refused; "": it was not */
};

/* The refused messages of one sender. */
struct flow_refusal {
    int64_t count;        /* all of them */
    unsigned streak;      /* since the last good message */
    double budget, as_of; /* errors that may be sent to it, at time as_of */
};

enum {
    FLOW_REFUSALS_RATE = 16, /* errors a second to one sender, at most */
    FLOW_REFUSALS_MAX = 64   /* in a row; then the peer is disconnected */
};

/*
 * flow_refusal_add() counts one more: 1 when an error may be sent for it.
 * flow_refusal_good() takes a good message of a kind.  Greetings and heartbeats
 * do not count: a peer that sends nothing else of use is disconnected.
 *   now   seconds from any start, never decreasing
 */
int flow_refusal_add(struct flow_refusal *refusal, double now);
void flow_refusal_good(struct flow_refusal *refusal, enum wire_kind kind);

/* flow_error_about() returns what an error is about. */
enum flow_about {
    FLOW_ABOUT_GREETING, /* send hello again */
    FLOW_ABOUT_MESSAGE,  /* the message that it names was refused */
    FLOW_ABOUT_REQUEST,  /* the request of its id has no other answer */
    FLOW_ABOUT_US        /* we are refused for good */
};
enum flow_about flow_error_about(const struct wire_error *error);

/*
 * flow_link_init() initialises an end without a socket.
 *   edge, side   which end of which edge it is
 *   hello        ours; version and an empty `peer` are filled in
 */
void flow_link_init(struct flow_link *link, struct wire *wire,
                    enum wire_edge edge, enum wire_side side,
                    const struct wire_hello *hello);

/* flow_link_release() closes the socket and releases the last message. */
void flow_link_release(struct flow_link *link);

/* flow_link_poll_refused() clears *event, and returns 1 with a REPORT when
 * connections were refused. */
int flow_link_poll_refused(struct flow_link *link, struct flow_event *event);

/*
 * flow_link_read() releases the last message and receives the next one, as
 * wire_sock_recv(); the link owns the message, *event is a MESSAGE, and any
 * fault of it is in event->why.
 *   from   receives its sender, at a binding end; else NULL
 */
int flow_link_read(struct flow_link *link, struct wire_id *from,
                   struct flow_event *event);

/* flow_link_decode() decodes an end, to ENDED or OVER with its place, and a
 * want, to event->want; it ignores other kinds.  Returns 0, or -1 with the
 * fault in event->why. */
int flow_link_decode(struct flow_link *link, struct flow_event *event);

/*
 * flow_link_check() refuses a message whose kind the edge does not allow, or
 * whose session is impossible: -1 with a message, else 0.
 *   subject   of that message
 */
int flow_link_check(const struct flow_link *link, enum wire_kind kind,
                    const struct wire_subject *subject, struct err *err);

/* flow_link_error() sends an error with that reason to a peer, or to the only
 * other end when `to` is NULL. */
void flow_link_error(struct flow_link *link, const struct wire_id *to,
                     struct wire_error error, const char *reason);

/*
 * flow_link_refuse() refuses a message: it sends the reason, and *event becomes
 * a REPORT.  Returns 1 when that is to be printed.
 *   to        the sender, at a binding end; else NULL
 *   refusal   of that sender
 *   name      of the sender, to begin the message with
 *   subject   the message
 *   event      event->why has the fault of the message
 */
int flow_link_refuse(struct flow_link *link, const struct wire_id *to,
                     struct flow_refusal *refusal, const char *name,
                     const struct wire_subject *subject,
                     struct flow_event *event);

/*
 * flow_link_on_refusal() takes an error about a message of ours.  For an item
 * or a batch *event becomes UNWANTED with its place, else a REPORT.  Returns 1
 * when there is an event.
 *   name   of the other end
 */
int flow_link_on_refusal(struct flow_link *link, const struct wire_error *error,
                         const char *name, struct flow_event *event);
