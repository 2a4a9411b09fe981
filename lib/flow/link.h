#ifndef FLOW_LINK_H
#define FLOW_LINK_H

#include "flow/news.h"
#include "util/tally.h"
#include "wire/error.h"
#include "wire/hello.h"
#include "wire/sock.h"

/*
 * One end of an edge: what the end that connects (client.c) and the end that
 * binds (server.c) do alike with what the other end sends.
 *
 * A message that is refused changes nothing, is counted, and its sender is told
 * by an `error` that names it, FLOW_REFUSALS_RATE times a second at most.  What
 * is told to the tool is the 1st, 2nd, 4th, 8th ... of its sort.
 *
 * Nothing here is thread-safe.
 */
struct flow_link {
    struct wire *wire;
    struct wire_sock *sock;
    enum wire_edge edge;
    enum wire_side side;     /* ours */
    struct wire_hello hello; /* ours */
    struct tally refused;    /* messages of the other end */
    struct tally told;       /* errors about messages of ours */
    struct wire_msg *msg;    /* of the news that is out; NULL: none */
    struct wire_next next;   /* the same, where it is one */
    struct err last; /* why what came last was refused; "": it was not */
};

/* How often a peer was refused something. */
struct flow_refusal {
    int64_t count;        /* messages of one sender that were refused */
    unsigned row;         /* of them, since the last good one */
    double budget, as_of; /* errors that may be sent to it, at that time */
};

enum {
    FLOW_REFUSALS_RATE = 16, /* errors a second to one sender, at most */
    FLOW_REFUSALS_MAX = 64   /* in a row, and a peer is sent away */
};

/*
 * flow_refusal_add() counts one more: 1 when its sender is to be told.
 * flow_refusal_good(): a good message of that kind came.  Greetings and signs
 * of life do not count: a peer that sends nothing else of use is sent away.
 *   now   seconds from any start, never going back
 */
int flow_refusal_add(struct flow_refusal *refusal, double now);
void flow_refusal_good(struct flow_refusal *refusal, enum wire_kind kind);

/* flow_error_about() returns what an error is about. */
enum flow_about {
    FLOW_ABOUT_GREETING, /* say hello again */
    FLOW_ABOUT_MESSAGE,  /* a message that it names was refused */
    FLOW_ABOUT_REQUEST,  /* the request of its id has no other answer */
    FLOW_ABOUT_US        /* we are refused, for good */
};
enum flow_about flow_error_about(const struct wire_error *error);

/*
 * flow_link_init() makes an end without a socket.
 *   edge, side   which end of which edge it is
 *   hello        ours; version and, where it is "", `peer` are filled in
 */
void flow_link_init(struct flow_link *link, struct wire *wire,
                    enum wire_edge edge, enum wire_side side,
                    const struct wire_hello *hello);

/* flow_link_release() closes the socket and lets go of the last message. */
void flow_link_release(struct flow_link *link);

/* flow_link_look() empties *news, and returns 1 when connections were refused:
 * then it is a REPORT of that. */
int flow_link_look(struct flow_link *link, struct flow_news *news);

/*
 * flow_link_read() lets go of the last message and takes the next one:
 * wire_sock_recv(), but that the message is the link's, *news is a MESSAGE,
 * and what is wrong with it is in news->why.
 *   from   its sender, of an end that binds; else NULL
 */
int flow_link_read(struct flow_link *link, struct wire_id *from,
                   struct flow_news *news);

/*
 * flow_link_decode() makes news of an end, ENDED or OVER with its place, and of
 * a next, news->next; others it leaves.  Returns 0, or -1 with what is wrong in
 * news->why.
 */
int flow_link_decode(struct flow_link *link, struct flow_news *news);

/*
 * flow_link_check() refuses a message that has no use on the edge, or is of a
 * session that cannot be: -1 and a sentence, else 0.
 *   subject   of that message
 */
int flow_link_check(const struct flow_link *link, enum wire_kind kind,
                    const struct wire_subject *subject, struct err *err);

/* flow_link_error() sends an error with that reason to a peer, or where `to` is
 * NULL to the other end; as wire_sock_send(). */
int flow_link_error(struct flow_link *link, const struct wire_id *to,
                    struct wire_error error, const char *reason);

/*
 * flow_link_refuse() refuses a message: its sender is told why, and *news
 * becomes a REPORT.  Returns 1 when that is to be printed.
 *   to        the sender, of an end that binds; else NULL
 *   refusal   of that sender
 *   name      of the sender, before the sentence
 *   subject   the message
 *   news      its `why` says what is wrong with the message
 */
int flow_link_refuse(struct flow_link *link, const struct wire_id *to,
                     struct flow_refusal *refusal, const char *name,
                     const struct wire_subject *subject,
                     struct flow_news *news);

/*
 * flow_link_told(): the other end refuses a message of ours.  Where that is an
 * item or a batch *news becomes UNWANTED, with its place, else a REPORT.
 * Returns 1 when there is news.
 *   name   of the other end
 */
int flow_link_told(struct flow_link *link, const struct wire_error *error,
                   const char *name, struct flow_news *news);

/*
 * flow_link_end() tells the process at the other end of a DEALER why we end,
 * and waits 0.1 s, as a process that ends at once would take the message along.
 */
void flow_link_end(struct flow_link *link, const struct err *why);

#endif
