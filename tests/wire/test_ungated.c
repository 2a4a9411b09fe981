/* A gate that no byte passes, as with a ZeroMQ that reads by another call; and
 * none at all, as in another program. */
#define _DEFAULT_SOURCE // syscall()
#include <sys/socket.h>

ssize_t recv_nothing(int fd, void *bytes, size_t len, int flags);
#define recv recv_nothing
#undef _DEFAULT_SOURCE // gate.c has it, too
#include "shared/gate.c"
#undef recv

#include "t.h"

#include "flow/ends.h"

static const struct wire_limits none = {0};

static void
refuses_to_bind(struct wire *wire)
{
    struct err err = {""};
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_ROUTER, at("a"), NULL, &none, &err);

    T(!sock && strstr(err.msg, "cannot limit what peers of"),
      "a gate without effect is reported: %s", err.msg);
    wire_sock_close(sock);
}

static void
binds_without(struct wire *a, struct wire *b)
{
    struct err err = {""};
    struct wire_sock *router = wire_sock_open(a, WIRE_ROUTER, at("b"), NULL,
                                              &none, &err),
                     *dealer = wire_sock_open(b, WIRE_DEALER, at("b"), NULL,
                                              &none, &err);
    struct wire_msg *heartbeat =
                        wire_heartbeat_put(&(struct wire_heartbeat){0}),
                    *msg;
    struct wire_id from;
    int received = 0;

    T(router && !wire_sock_has_connected(router),
      "without a gate a socket is bound");
    wire_sock_send_when_connected(dealer, heartbeat);
    for (int i = 0; router && i < 10000 && received <= 0; i++) {
        turn(a, b);
        received = wire_sock_recv(router, &from, &msg, &err);
    }
    T(received == 1, "a message arrives");
    if (received == 1)
        wire_msg_free(msg);
    for (int i = 0; router && i < 10000 && !wire_sock_has_connected(router);
         i++)
        turn(a, b);
    T(router && wire_sock_has_connected(router), "its peer is connected");
    wire_msg_free(heartbeat);
    wire_sock_close(dealer);
    wire_sock_close(router);
}

int
main(void)
{
    struct err err = {""};
    struct wire *a, *b;

    scratch_open();
    a = wire_open(NULL, &err);
    b = wire_open(NULL, &err);
    refuses_to_bind(a);
    wire_gate = NULL;
    binds_without(a, b);
    wire_close(b);
    wire_close(a);
    scratch_close();
    return t_done();
}
