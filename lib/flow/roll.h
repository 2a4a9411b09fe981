#ifndef FLOW_ROLL_H
#define FLOW_ROLL_H

#include "wire/hello.h"
#include "wire/next.h"
#include "wire/sock.h"

#include "link.h"

/*
 * The peers of a binder, and the greeting of its side, as a state
 * machine: it has no socket and no clock.  Its caller tells it what came and
 * what time it is (`now`, in seconds from any start, never going back).
 * lib/flow/server.c binds it to a socket; lib/flow/greeting.h is the other
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
 * Silence is looked at only when everything that is there was read, twice, 0.1
 * s apart.
 *
 * Peers are found by routing id (which sent this?), by number (the tool's name
 * for them) and by the name in their hello (is that one back?).  Linear
 * searches: there are tens, at most FLOW_PEERS_MAX.
 */
enum { FLOW_PEERS_MAX = 1024 };

struct flow_greeted {
    uint64_t number;
    struct wire_id id;
    struct wire_hello hello;
    struct wire_beat beat; /* the last */
    double heard;   /* when something came from it last: its caller sets it */
    double suspect; /* since when it is silent for too long; 0: it is not */
    int dismissed;  /* told that the run is over */
    int gone;       /* cannot be sent to: leaves when all is read that came */
    struct flow_refusal refusal; /* of its messages */
};

/* A connection without hello that was told to say it. */
struct flow_stranger {
    struct wire_id id;
    double told;
};

struct flow_roll {
    int patient; /* silence tells nothing: when the table is full, the peer that
                  * was silent for longest makes room */
    size_t n, room;
    struct flow_greeted *peer; /* [n] */
    uint64_t last;             /* number given last */
    size_t n_left, room_left;
    uint64_t *left; /* [n_left] numbers, not reported yet */
    size_t n_silent, room_silent;
    struct wire_id *silent; /* [n_silent] of peers that left by saying nothing:
                               they may only be slow, and hear us still */
    size_t n_strangers, room_strangers, next_stranger;
    struct flow_stranger *stranger; /* [n_strangers] the last ones */
};

void flow_roll_release(struct flow_roll *roll);

/* These return NULL when there is none. */
struct flow_greeted *flow_roll_by_id(const struct flow_roll *roll,
                                     const struct wire_id *id);
struct flow_greeted *flow_roll_by_number(const struct flow_roll *roll,
                                         uint64_t number);
struct flow_greeted *flow_roll_by_name(const struct flow_roll *roll,
                                       const char *name);

/*
 * flow_roll_greet(): a connection sent a hello that fits.  Returns what that
 * comes to; *peer is its sender: answer it.  A peer that is new has a new
 * number.
 */
enum flow_entry {
    FLOW_CROWDED = -1, /* the table is full: no peer */
    FLOW_KNOWN,        /* this connection is known: nothing has changed */
    FLOW_ENTERED
};
enum flow_entry flow_roll_greet(struct flow_roll *roll,
                                const struct wire_id *id,
                                const struct wire_hello *hello, double now,
                                struct flow_greeted **peer);

/*
 * flow_roll_again(): something else came by a connection that is not known.
 * Returns 1 when it is to be told to say hello.
 */
int flow_roll_again(struct flow_roll *roll, const struct wire_id *id,
                    double now);

/* flow_roll_left() returns a number of one that left and was not reported, or
 * 0. */
uint64_t flow_roll_left(struct flow_roll *roll);

/*
 * flow_roll_part() lets those leave that cannot be sent to any more.  Call it
 * when everything is read: their END may be there.
 */
void flow_roll_part(struct flow_roll *roll);

/*
 * flow_roll_expire() lets those leave that were silent for WIRE_SILENCE, and
 * were still so on a second look a tenth of a second later: at the first look
 * after a pause of ours their signs of life may be on their way up.  The last
 * FLOW_PEERS_MAX of them are kept in `silent`.
 */
void flow_roll_expire(struct flow_roll *roll, double now);

#endif
