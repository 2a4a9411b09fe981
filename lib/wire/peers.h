#ifndef WIRE_PEERS_H
#define WIRE_PEERS_H

#include "wire/hello.h"
#include "wire/next.h"
#include "wire/sock.h"

#include "link.h"

/*
 * The peers of a binder, and the greeting of its side, as a state
 * machine: it has no socket and no clock.  Its caller tells it what came and
 * what time it is (`now`, in seconds from any start, never going back).
 * lib/wire/binder.c binds it to a socket; lib/wire/greeting.h is the other
 * end's.
 *
 *     connection  what comes              then
 *     unknown     a hello that fits       it is entered, and answered.  A peer
 *                                         of that name on another connection
 *                                         leaves: what was on its way there may
 *                                         be lost
 *     unknown     anything else           an error with `again`, at most one a
 *                                         second for each connection
 *     known       a hello that fits       it is answered, and changes nothing
 *     known       nothing for 3 seconds   it leaves, and is remembered
 *
 * Silence is judged only when everything that is there was read, twice, 0.1 s
 * apart.
 *
 * Peers are found by routing id (which sent this?), by number (the tool's name
 * for them) and by the name in their hello (is that one back?).  Linear
 * searches: there are tens, at most WIRE_PEERS_MAX.
 */
enum { WIRE_PEERS_MAX = 1024 };

struct wire_peer {
    uint64_t number;
    struct wire_id id;
    struct wire_hello hello;
    struct wire_beat beat; /* the last */
    double heard;          /* when something came from it last */
    double suspect; /* since when it is silent for too long; 0: it is not */
    int dismissed;  /* told that the run is over */
    int gone;       /* cannot be sent to: leaves when all is read that came */
    struct wire_refusal refusal; /* of its messages */
};

/* A connection without hello that was told to say it. */
struct wire_stranger {
    struct wire_id id;
    double told;
};

struct wire_peers {
    int patient; /* silence tells nothing: when the table is full, the peer that
                  * was silent for longest makes room */
    size_t n, room;
    struct wire_peer *peer; /* [n] */
    uint64_t last;          /* number given last */
    size_t n_left, room_left;
    uint64_t *left; /* [n_left] numbers, not reported yet */
    size_t n_silent, room_silent;
    struct wire_id *silent; /* [n_silent] of peers that left by saying nothing:
                               they may only be slow, and hear us still */
    size_t n_strangers, room_strangers, next_stranger;
    struct wire_stranger *stranger; /* [n_strangers] the last ones */
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
 * wire_peers_greet(): a connection sent a hello that fits.  Returns what that
 * comes to; *peer is its sender: answer it.  A peer that is new has a new
 * number.
 */
enum wire_greeted {
    WIRE_CROWDED = -1, /* the table is full: no peer */
    WIRE_KNOWN,        /* this connection is known: nothing has changed */
    WIRE_ENTERED
};
enum wire_greeted wire_peers_greet(struct wire_peers *peers,
                                   const struct wire_id *id,
                                   const struct wire_hello *hello, double now,
                                   struct wire_peer **peer);

/*
 * wire_peers_again(): something else came by a connection that is not known.
 * Returns 1 when it is to be told to say hello.
 */
int wire_peers_again(struct wire_peers *peers, const struct wire_id *id,
                     double now);

/* wire_peers_hear(): something came from a peer. */
void wire_peers_hear(struct wire_peer *peer, double now);

/* wire_peers_left() returns a number of one that left and was not reported, or
 * 0. */
uint64_t wire_peers_left(struct wire_peers *peers);

/*
 * wire_peers_part() lets those leave that cannot be sent to any more.  Call it
 * when everything is read: their END may be there.
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
