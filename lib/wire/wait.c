#include <errno.h>
#include <math.h>
#include <string.h>
#include <zmq.h>

#include "util/clock.h"
#include "util/limits.h"
#include "util/mem.h"
#include "wire/gate.h"

#include "sock_impl.h"

/* With fewer than these the gate would leave no room for connections. */
enum { FILES_LEAST = 64 };

struct wire *
wire_open(const struct wire_keys *keys, struct err *err)
{
    struct wire *wire = mem_array(1, sizeof *wire);

    wire->keys = keys;
    if (nofile_raise() < FILES_LEAST)
        err_set(err,
                "at most %lu files may be open, want %d for connections and "
                "files: raise ulimit -n",
                nofile_raise(), FILES_LEAST);
    else if (!(wire->context = zmq_ctx_new()))
        err_set(err, "cannot start ZeroMQ: %s", zmq_strerror(errno));
    else if (!keys || (wire->zap = wire_zap_open(wire->context, keys, err)))
        return wire;
    wire_close(wire);
    return NULL;
}

void
wire_close(struct wire *wire)
{
    if (!wire)
        return;
    while (wire->first)
        wire_sock_close(wire->first);
    wire_zap_close(wire->zap);
    if (wire->context)
        zmq_ctx_term(wire->context);
    mem_free(wire->items, wire);
}

void
wire_tick(struct wire *wire)
{
    const double now = clock_now();

    for (struct wire_sock *sock = wire->first; sock; sock = sock->next)
        if (sock->on_tick)
            sock->due = sock->on_tick(sock->self, sock->up, now);
}

/* Count a refused connection; store the reason if it is to be printed. */
static void
count_refusal(struct wire *wire, const struct err *why)
{
    struct err why_now = *why;

    if (!tally_add(&wire->refused, &why_now))
        return;
    wire->why = why_now;
    wire->unreported = 1;
}

int
wire_refused(struct wire *wire, struct err *why)
{
    static const char *const reasons[WIRE_GATE_REFUSALS] = {
        [WIRE_GATE_CROWDED] =
            ("refused: a stage has room for about 940 connections, fewer "
             "where ulimit -n is below 1024"),
        [WIRE_GATE_GREEDY] =
            "disconnected: it sent more unread bytes than allowed",
        [WIRE_GATE_STUCK] = "disconnected: it does not read what is sent",
    };
    struct err reason;

    for (struct wire_sock *s = wire->first; s; s = s->next)
        for (int i = 0; s->gate >= 0 && i < WIRE_GATE_REFUSALS; i++) {
            err_set(&reason, "a peer at %s was %s", s->endpoint, reasons[i]);
            for (unsigned n = wire_gate->take_refused(s->gate, i); n; n--)
                count_refusal(wire, &reason);
        }
    for (unsigned n = wire->zap ? wire_zap_refused(wire->zap, &reason) : 0; n;
         n--)
        count_refusal(wire, &reason);
    for (int i = 0; i < 2; i++) {
        struct err *once = i ? &wire->old_peer : &wire->no_keys;

        if (!*once->msg)
            continue;
        *why = *once;
        *once->msg = '\0';
        return 1;
    }
    if (!wire->unreported)
        return 0;
    wire->unreported = 0;
    *why = wire->why;
    return 1;
}

/* Read the events of ZeroMQ's monitor: connected, lost, failed. */
static void
read_monitor(struct wire_sock *sock)
{
    uint8_t event[6];
    char address[128];
    uint16_t what;
    struct err why;

    while (zmq_recv(sock->monitor, event, sizeof event, ZMQ_DONTWAIT) ==
           (int)sizeof event) {
        zmq_recv(sock->monitor, address, sizeof address, 0);
        memcpy(&what, event, sizeof what);
        if (what == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
            sock->up = 1;
            *sock->trouble.msg = '\0';
            continue;
        }
        if (what == ZMQ_EVENT_ACCEPTED) {
            sock->accepted = 1;
            continue;
        }
        if (what == ZMQ_EVENT_DISCONNECTED) {
            sock->lost |= sock->up;
            sock->up = sock->version = sock->hellos = 0;
            continue;
        }
        err_set(&why,
                what == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH
                    ? "%s does not allow our key"
                : what == ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL
                    ? "a peer at %s left during the handshake: it has ended, "
                      "or has no keys"
                    : "no handshake at %s: only one end has keys, or they do "
                      "not match",
                sock->endpoint);
        sock->trouble = why;
        count_refusal(sock->wire, &why);
    }
}

int
wire_sock_trouble(const struct wire_sock *sock, struct err *why)
{
    if (!*sock->trouble.msg)
        return 0;
    *why = sock->trouble;
    return 1;
}

/* The sockets to poll: stop_fd, then each socket with its monitor. */
static size_t
fill_items(struct wire *wire, const struct wire_sock *only, int any,
           int stop_fd)
{
    size_t n = 1;

    for (struct wire_sock *s = wire->first; s; s = s->next)
        n += 2;
    mem_grow(&wire->items, &wire->room, n, sizeof *wire->items);
    n = 0;
    if (stop_fd >= 0)
        wire->items[n++] = (zmq_pollitem_t){NULL, stop_fd, ZMQ_POLLIN, 0};
    for (struct wire_sock *s = wire->first; s; s = s->next) {
        short events =
            s->type != WIRE_PUB && (any || s == only) ? ZMQ_POLLIN : 0;

        if (s->pending && s->up)
            events |= ZMQ_POLLOUT;
        wire->items[n++] = (zmq_pollitem_t){s->socket, 0, events, 0};
        if (s->monitor)
            wire->items[n++] = (zmq_pollitem_t){s->monitor, 0, ZMQ_POLLIN, 0};
    }
    return n;
}

/* Handle the events that are ours; 1 when there are some for the tool. */
static int
handle_events(struct wire *wire, const zmq_pollitem_t *item)
{
    int ready = 0;

    for (struct wire_sock *s = wire->first; s; s = s->next) {
        const short events = (item++)->revents;

        ready |= (events & ZMQ_POLLIN) != 0;
        if (s->pending && (events & ZMQ_POLLOUT) &&
            wire_sock_send(s, NULL, s->pending) == 1)
            wire_sock_send_when_connected(s, NULL);
        if (s->monitor && (item++)->revents)
            read_monitor(s);
    }
    return ready;
}

/* Wait for messages on any socket, or on `only`. */
static int
wait_for(struct wire *wire, const struct wire_sock *only, int any, int stop_fd,
         double seconds, struct err *err)
{
    const double until = clock_now() + seconds;
    const size_t stops = stop_fd >= 0;

    for (;;) {
        double left = until;
        size_t n;

        wire_tick(wire);
        n = fill_items(wire, only, any, stop_fd);
        for (const struct wire_sock *s = wire->first; s; s = s->next)
            if (s->on_tick)
                left = fmin(left, s->due);
        left = ceil(1000 * fmax(left - clock_now(), 0));
        if (zmq_poll(wire->items, (int)n, (long)left) < 0) {
            if (errno == EINTR)
                continue;
            return err_set(err, "cannot wait: %s", zmq_strerror(errno));
        }
        if (stops && wire->items[0].revents)
            return 0;
        if (handle_events(wire, wire->items + stops) || clock_now() >= until)
            return 1;
    }
}

int
wire_wait(struct wire *wire, int stop_fd, double seconds, struct err *err)
{
    return wait_for(wire, NULL, 1, stop_fd, seconds, err);
}

int
wire_sock_wait(struct wire *wire, struct wire_sock *sock, int stop_fd,
               double seconds, struct err *err)
{
    return wait_for(wire, sock, 0, stop_fd, seconds, err);
}
