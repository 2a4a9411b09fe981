#include <stdio.h>
#include <string.h>
#include <zmq.h>

#include "sock_impl.h"

/* Topics and their subscribers: the part of wire/sock.h for PUB and SUB. */

void
wire_sock_subscribe(struct wire_sock *sock, const char *kind)
{
    char prefix[64];
    int n = snprintf(prefix, sizeof prefix, "foil%d.%s", WIRE_VERSION, kind);

    REQUIRE(!zmq_setsockopt(sock->socket, ZMQ_SUBSCRIBE, prefix, (size_t)n));
}

int
wire_sock_topic(struct wire_sock *sock, int *on, char *topic, size_t room,
                size_t *n)
{
    zmq_msg_t change;
    const uint8_t *byte;
    int known = 0;

    REQUIRE(sock->type == WIRE_PUB);
    zmq_msg_init(&change);
    while (!known && zmq_msg_recv(&change, sock->socket, ZMQ_DONTWAIT) >= 0) {
        byte = zmq_msg_data(&change);
        known = zmq_msg_size(&change) && byte[0] <= 1; // else no subscription
        if (!known)
            continue;
        *on = byte[0];
        *n = zmq_msg_size(&change) - 1;
        memcpy(topic, byte + 1, *n < room ? *n : room);
    }
    zmq_msg_close(&change);
    return known;
}
