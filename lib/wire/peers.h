#ifndef WIRE_PEERS_H
#define WIRE_PEERS_H

#include "wire/hello.h"
#include "wire/sock.h"

/*
 * The table of who is connected to a binder: for lib/wire/server.c.
 *
 * Peers are found by routing id (who sent this?), by number (the tool's name
 * for them) and by the name in their hello (is that one back?).  Linear
 * searches: there are tens, at most WIRE_PEERS_MAX.
 */
enum { WIRE_PEERS_MAX = 1024 };

struct wire_peer {
    uint64_t number;
    struct wire_id id;
    struct wire_hello hello;
    char name[64];     /* hello's `peer`, or made from id */
    double heard;      /* when it was heard last */
    double suspect;    /* since when it is silent for too long; 0: it is not */
    int dismissed;     /* told that the run is over */
    double offended;   /* when it sent a malformed message last */
    unsigned offences; /* so many of late; see lib/wire/binder.c */
    double refused;    /* when it was told last that a message was refused */
    int gone;          /* cannot be sent to: leaves when its words are read */
};

struct wire_peers {
    size_t n, room;
    struct wire_peer *peer; /* [n] */
    uint64_t last;          /* number given last */
    size_t n_left, room_left;
    uint64_t *left; /* [n_left] numbers, not reported yet */
    size_t n_silent, room_silent;
    struct wire_id *silent; /* [n_silent] of who left by saying nothing: it may
                               only be slow, and hear us still */
};

void wire_peers_release(struct wire_peers *peers);

/* These return NULL when there is none. */
struct wire_peer *wire_peers_by_id(const struct wire_peers *peers,
                                   const struct wire_id *id);
struct wire_peer *wire_peers_by_number(const struct wire_peers *peers,
                                       uint64_t number);
struct wire_peer *wire_peers_by_name(const struct wire_peers *peers,
                                     const char *name);

/*
 * wire_peers_greet() enters a peer that said hello, under a new number.  NULL
 * when the table is full.
 */
struct wire_peer *wire_peers_greet(struct wire_peers *peers,
                                   const struct wire_id *id,
                                   const struct wire_hello *hello, double now);

/* wire_peers_leave() removes one, to be reported by wire_peers_left(). */
void wire_peers_leave(struct wire_peers *peers, struct wire_peer *peer);

/* wire_peers_left() returns a number that left and was not reported, or 0. */
uint64_t wire_peers_left(struct wire_peers *peers);

/*
 * wire_peers_part() lets those leave that cannot be sent to any more.  Call it
 * when all that had come is read: among it may be their END.
 */
void wire_peers_part(struct wire_peers *peers);

/*
 * wire_peers_judge() lets those leave that were silent for WIRE_SILENCE, and
 * were still so on a second look a tenth of a second later: at the first look
 * after a pause of ours their signs of life may be on their way up.  The last
 * WIRE_PEERS_MAX of them are kept in `silent`.
 */
void wire_peers_judge(struct wire_peers *peers, double now);

#endif
