#pragma once

#include "wire/hello.h"
#include "wire/progress.h"
#include "wire/sock.h"

#include "link.h"

/*
 * The greeting, for both ends, as state machines without socket and clock: the
 * tables Greeting of foil-wire(5).  Their callers pass them what was received
 * and the time (`now`, in seconds from any start, never decreasing).
 *
 * The connecting end (lib/flow/client.c):
 */
enum flow_greeting_state {
    FLOW_OUT,      /* no connection, or one on which no hello was sent */
    FLOW_GREETING, /* hello was sent and is not answered; any other message
                    * belongs to an earlier connection */
    FLOW_IN        /* the binder knows us */
};

struct flow_greeting {
    enum flow_greeting_state state; /* zero: OUT */
    double sent;                    /* time of the last hello */
};

/*
 * flow_greeting_turn() returns 1 when hello is to be sent now, and assumes that
 * it is sent.  Call it after each event, and each second.
 *   connected   there is a connection; 1 where that is not known
 */
int flow_greeting_turn(struct flow_greeting *greeting, int connected,
                       double now);

/* flow_greeting_due() returns the time of the next hello: 0 at once, 1e18 when
 * none is due. */
double flow_greeting_due(const struct flow_greeting *greeting, int connected);

/* flow_greeting_hello() takes a hello that fits: 1 when it is the awaited
 * answer. */
int flow_greeting_hello(struct flow_greeting *greeting);

/* flow_greeting_again() takes an error with `again`, flow_greeting_lost() the
 * loss of the connection. */
void flow_greeting_again(struct flow_greeting *greeting);
void flow_greeting_lost(struct flow_greeting *greeting);

/* The peers of the binding end (lib/flow/server.c), found by routing id (the
 * sender of a message), by number (the tool's name for a peer) and by the name
 * in their hello (a reconnection).  Searches are linear: there are tens. */
enum { FLOW_PEERS_MAX = 1024 };

struct flow_known_peer {
    uint64_t number;
    struct wire_id id;
    struct wire_hello hello;
    struct wire_heartbeat heartbeat; /* the last */
    double last_seen; /* time of its last message: the caller sets it */
    double overdue;   /* since when its silence is too long; 0: it is not */
    int over_sent;    /* the end of the run was sent to it */
    int gone;         /* sending failed: it leaves when all messages are read */
    struct flow_refusal refusal; /* of its messages */
};

/* A connection without hello, which was requested. */
struct flow_unknown_peer {
    struct wire_id id;
    double requested; /* time of that request */
};

struct flow_peer_table {
    int keeps_silent; /* silent peers stay; when the table is full, the one that
                       * was silent for longest is dropped */
    size_t n, room;
    struct flow_known_peer *peer; /* [n] */
    uint64_t last_number;         /* highest number in use so far */
    size_t n_left, room_left;
    uint64_t *left; /* [n_left] numbers of peers that left, to be reported */
    size_t n_silent, room_silent;
    struct wire_id *silent; /* [n_silent] peers removed for their silence: a
                             * slow one still receives the end of the run */
    size_t n_unknown, room_unknown, next_unknown;
    struct flow_unknown_peer *unknown; /* [n_unknown] the most recent ones */
};

void flow_peer_table_release(struct flow_peer_table *table);

/* These return NULL when there is none. */
struct flow_known_peer *
flow_peer_table_by_id(const struct flow_peer_table *table,
                      const struct wire_id *id);
struct flow_known_peer *
flow_peer_table_by_number(const struct flow_peer_table *table, uint64_t number);
struct flow_known_peer *
flow_peer_table_by_name(const struct flow_peer_table *table, const char *name);

/* flow_peer_table_greet() takes a hello that fits.  *peer is its sender, to be
 * answered; a new peer has a new number. */
enum flow_entry {
    FLOW_TABLE_FULL = -1, /* the table is full: no peer */
    FLOW_KNOWN,           /* a known connection: nothing has changed */
    FLOW_ADDED
};
enum flow_entry flow_peer_table_greet(struct flow_peer_table *table,
                                      const struct wire_id *id,
                                      const struct wire_hello *hello,
                                      double now,
                                      struct flow_known_peer **peer);

/* flow_peer_table_unknown() takes any other message of an unknown connection.
 * Returns 1 when a hello is to be requested of it: once a second at most. */
int flow_peer_table_unknown(struct flow_peer_table *table,
                            const struct wire_id *id, double now);

/* flow_peer_table_left() returns the number of a peer that left and is not
 * reported yet, or 0. */
uint64_t flow_peer_table_left(struct flow_peer_table *table);

/* flow_peer_table_remove_gone() removes the peers to which sending failed.
 * Call it when all messages are read, as their END may be among them. */
void flow_peer_table_remove_gone(struct flow_peer_table *table);

/*
 * flow_peer_table_expire() removes peers that were silent for WIRE_SILENCE and
 * still are at a second check 0.1 s later: at the first check after a pause of
 * ours, their heartbeats may be in transit.  The addresses of the last
 * FLOW_PEERS_MAX are stored in `silent`.
 */
void flow_peer_table_expire(struct flow_peer_table *table, double now);
