#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
#include <zmq.h>

#include "util/clock.h"
#include "wire/gate.h"

#include "sock_impl.h"

const struct wire_gate *wire_gate;

enum { WAIT_MS = 60000 }; /* a byte takes 1 ms */

/* Send a byte from one socket to the other: 1 when the gate has seen it. */
static int
pass_byte(void *to, void *from)
{
    char name[64], byte;
    const int wait = WAIT_MS, none = 0;
    int gate, ok;

    snprintf(name, sizeof name, "ipc://@foil-%ld-%.9f", (long)getpid(),
             clock_now());
    zmq_setsockopt(to, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_setsockopt(to, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(from, ZMQ_LINGER, &none, sizeof none);
    wire_gate->expect_next(SIZE_MAX / 2, SIZE_MAX / 2);
    ok = !zmq_bind(to, name);
    gate = wire_gate->take_listener();
    ok = ok && gate >= 0 && !zmq_connect(from, name) &&
         zmq_send(from, "", 1, 0) == 1 && zmq_recv(to, &byte, 1, 0) == 1;
    return ok && wire_gate->has_received(gate);
}

int
wire_gate_guards(void)
{
    static atomic_int proved;
    void *context, *to, *from;

    if (proved)
        return 1;
    context = zmq_ctx_new();
    to = context ? zmq_socket(context, ZMQ_PAIR) : NULL;
    from = context ? zmq_socket(context, ZMQ_PAIR) : NULL;
    proved = to && from && pass_byte(to, from);
    if (to)
        zmq_close(to);
    if (from)
        zmq_close(from);
    if (context)
        zmq_ctx_term(context);
    return proved;
}
