#pragma once

#include "wire/sock.h"

/*
 * A proxy in the middle of an edge reads and forwards all messages: peers
 * connect to it as to a binder, and for each of them it opens a connection of
 * its own to the real binder.  Neither end can tell the difference, so
 * greetings, windows, leases and restarts work through it.
 */
struct wire_proxy;

/*
 * wire_proxy_open() binds at `here` and connects to `there`.
 *   role   of the real binder, when there are keys
 */
struct wire_proxy *wire_proxy_open(struct wire *wire, const char *here,
                                   const char *there, const char *role,
                                   const struct wire_limits *limits,
                                   struct err *err);
void wire_proxy_close(struct wire_proxy *proxy);

/*
 * wire_proxy_next() forwards one message: 1 with that message, to be freed by
 * wire_msg_free(), 0 when there is none now, -1 with a message about one that
 * could not be forwarded (no such peer, not a message of ours).
 *   from   0: the real binder sent it; else the number of a connecting peer,
 *          from 1, in the order of their first messages
 */
int wire_proxy_next(struct wire_proxy *proxy, uint32_t *from,
                    struct wire_msg **msg, struct err *err);
