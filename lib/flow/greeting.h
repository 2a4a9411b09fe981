#ifndef FLOW_GREETING_H
#define FLOW_GREETING_H

/*
 * The greeting of the end that connects, as a state machine: it has no socket
 * and no clock.  Its caller tells it what came and what time it is (`now`, in
 * seconds from any start, never going back).  lib/flow/client.c binds it to a
 * socket; lib/flow/roll.h is the other end's.
 *
 *     OUT       no connection, or one on which no hello was sent
 *     GREETING  hello was sent and is not answered: it is sent again each
 *               second.  Whatever else comes was meant for an earlier
 *               connection: drop it
 *     IN        the binder knows us
 *
 *     state     what happens                  then
 *     OUT       there is a connection         hello; GREETING
 *     GREETING  one second without an answer  hello; GREETING
 *     GREETING  a hello that fits             IN
 *     IN        an error with `again`         OUT
 *     any       the connection is lost        OUT
 *
 * All else changes nothing: a second hello in IN, an error with `again` while a
 * hello is under way.
 */
enum flow_greeting_state { FLOW_OUT, FLOW_GREETING, FLOW_IN };

struct flow_greeting {
    enum flow_greeting_state state; /* zero: OUT */
    double sent;                    /* when hello was sent last */
};

/*
 * flow_greeting_turn() returns 1 when hello is to be sent now: the machine
 * takes it as sent.  Call it whenever something came, and each second.
 *   connected   there is a connection; 1 where that is not known
 */
int flow_greeting_turn(struct flow_greeting *greeting, int connected,
                       double now);

/* flow_greeting_due() returns when hello is to be sent next: 0 at once, 1e18
 * when nothing is due. */
double flow_greeting_due(const struct flow_greeting *greeting, int connected);

/* flow_greeting_hello(): a hello came that fits.  1 when it is the answer that
 * was waited for: then say what there is to say. */
int flow_greeting_hello(struct flow_greeting *greeting);

/* An error with `again` came; the connection was lost. */
void flow_greeting_again(struct flow_greeting *greeting);
void flow_greeting_lost(struct flow_greeting *greeting);

#endif
