#ifndef WIRE_GREETING_H
#define WIRE_GREETING_H

#include "wire/sock.h"

/*
 * The greeting of the end that connects, as a state machine: it has no socket
 * and no clock.  Its caller tells it what came and what time it is (`now`, in
 * seconds from any start, never going back).  lib/wire/client.c and service.c
 * bind it to a socket; lib/wire/peers.h is the other end's.
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
enum wire_greeting_state { WIRE_OUT, WIRE_GREETING, WIRE_IN };

struct wire_greeting {
    enum wire_greeting_state state; /* zero: OUT */
    double sent;                    /* when hello was sent last */
};

/*
 * wire_greeting_turn() returns 1 when hello is to be sent now: the machine
 * takes it as sent.  Call it whenever something came, and each second.
 *   connected   there is a connection; 1 where that is not known
 */
int wire_greeting_turn(struct wire_greeting *greeting, int connected,
                       double now);

/* wire_greeting_due() returns when hello is to be sent next: 0 at once, 1e18
 * when nothing is due. */
double wire_greeting_due(const struct wire_greeting *greeting, int connected);

/* wire_greeting_hello(): a hello came that fits.  1 when it is the answer that
 * was waited for: then say what there is to say. */
int wire_greeting_hello(struct wire_greeting *greeting);

/* An error with `again` came; the connection was lost. */
void wire_greeting_again(struct wire_greeting *greeting);
void wire_greeting_lost(struct wire_greeting *greeting);

/*
 * wire_sock_greet() lets a DEALER send hello whenever it is due, from inside
 * wire_wait() and wire_beat(), and its sign of life in IN only.  The socket
 * holds hello, and looks at the machine for as long as it is open.
 */
void wire_sock_greet(struct wire_sock *sock, struct wire_greeting *greeting,
                     struct wire_msg *hello);

#endif
