#ifndef FLOW_GREETING_H
#define FLOW_GREETING_H

/*
 * The greeting of the connecting end, as a state machine without socket and
 * clock.  Its caller passes it what was received and the time (`now`, in
 * seconds from any start, never decreasing).  lib/flow/client.c connects it to
 * a socket; lib/flow/peer_table.h is the other end's.
 *
 *     OUT       no connection, or one on which no hello was sent
 *     GREETING  hello was sent and is not answered: it is sent again each
 *               second.  Any other message belongs to an earlier connection:
 *               drop it
 *     IN        the binder knows us
 *
 *     state     event                         then
 *     OUT       there is a connection         send hello; GREETING
 *     GREETING  one second without an answer  send hello; GREETING
 *     GREETING  a hello that fits             IN
 *     IN        an error with `again`         OUT
 *     any       the connection is lost        OUT
 *
 * Nothing else changes the state, such as a second hello in IN, or an error
 * with `again` in GREETING. hello is under way.
 */
enum flow_greeting_state { FLOW_OUT, FLOW_GREETING, FLOW_IN };

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

#endif
