#pragma once

/* Peers that a test plays message by message. */
#include <time.h>

#include "flow/ends.h"

/* Such a peer, with a name of its own. */
__attribute__((unused)) static struct wire_sock *
join(struct wire *wire, const char *endpoint, const char *name)
{
    const struct wire_limits limits = {0};
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_msg *msg;
    struct err err;
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_DEALER, endpoint, NULL, &limits, &err);

    snprintf(hello.peer, sizeof hello.peer, "%s", name);
    msg = wire_hello_put(&hello);
    while (!wire_sock_send(sock, NULL, msg))
        wire_wait(wire, -1, 0.001, &err);
    wire_msg_free(msg);
    return sock;
}

/* Send, also while the queue is full: no message of a burst may be lost. */
__attribute__((unused)) static void
send_and_free(struct wire_sock *sock, struct wire_msg *msg)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    const double until = clock_now() + 5;

    while (!wire_sock_send(sock, NULL, msg) && clock_now() < until)
        nanosleep(&pause, NULL);
    wire_msg_free(msg);
}
