#include <errno.h>
#include <string.h>
#include <zmq.h>

#include "wire/gate.h"

#include "pack.h"
#include "sock_impl.h"

/* Hellos without an answer in our version before one in both. */
static const int hellos_ours = 2;

const char *
wire_sock_endpoint(const struct wire_sock *sock)
{
    return sock->endpoint;
}

/* Receive the pending parts of a message into parts[]; returns their number and
 * total size. */
static size_t
take_parts(struct wire_sock *sock, struct wire_id *from, zmq_msg_t *parts,
           size_t *all)
{
    size_t n = 0, bytes = 0;
    int more = 1, is_id = from != NULL;

    while (more) {
        zmq_msg_t part;

        zmq_msg_init(&part);
        if (zmq_msg_recv(&part, sock->socket, ZMQ_DONTWAIT) < 0) {
            zmq_msg_close(&part);
            break;
        }
        more = zmq_msg_more(&part);
        bytes += zmq_msg_size(&part);
        if (n == 0 && !is_id && sock->gate >= 0)
            sock->from = zmq_msg_get(&part, ZMQ_SRCFD);
        if (is_id) {
            from->len = (uint8_t)zmq_msg_size(&part);
            memcpy(from->byte, zmq_msg_data(&part), from->len);
        } else if (n++ < WIRE_PARTS_MAX) {
            zmq_msg_init(&parts[n - 1]);
            zmq_msg_move(&parts[n - 1], &part);
        }
        is_id = 0;
        zmq_msg_close(&part);
    }
    if (sock->gate >= 0)
        wire_gate->count_read(sock->gate, sock->from, n, bytes);
    *all = bytes;
    return n;
}

/* Its sender is answered in the version of a message.  Returns 1 to drop the
 * message: the error with which a binder of version 2 refuses our hello. */
static int
note_version(struct wire_sock *sock, struct wire_id *from,
             const struct wire_msg *msg)
{
    struct wire *wire = sock->wire;
    const int was = sock->version;
    struct err ignored;
    struct wire_reader r = wire_read_start(msg, &ignored);

    sock->hellos = 0;
    // a hello of version 2 that has version 3 only asks what the binder speaks
    if (sock->forwards || msg->version != WIRE_VERSION_OLD ||
        (msg->kind == WIRE_HELLO &&
         wire_read_whole(&r, "version", 0, INT32_MAX) == WIRE_VERSION))
        return 0;
    if (!wire->has_old_peer++)
        err_set(&wire->old_peer,
                "a peer at '%s' speaks version %d of the protocol: update it, "
                "foil 1.1 will refuse it",
                sock->endpoint, WIRE_VERSION_OLD);
    if (from)
        from->version = WIRE_VERSION_OLD;
    else
        sock->version = WIRE_VERSION_OLD;
    return sock->type == WIRE_DEALER && !was && msg->kind == WIRE_ERROR;
}

int
wire_sock_recv(struct wire_sock *sock, struct wire_id *from,
               struct wire_msg **msg, struct err *err)
{
    zmq_msg_t parts[WIRE_PARTS_MAX];
    int events = 0;
    size_t n, bytes, size = sizeof events;

    REQUIRE((sock->type == WIRE_ROUTER) == (from != NULL));
    if (zmq_getsockopt(sock->socket, ZMQ_EVENTS, &events, &size) ||
        !(events & ZMQ_POLLIN)) {
        if (sock->gate >= 0)
            wire_gate->note_drained(sock->gate);
        return 0;
    }
    n = take_parts(sock, from, parts, &bytes);
    if (from)
        from->version = 0;
    sock->subject = (struct wire_subject){"?", {-1, 0, 0}, 0};
    if (n > WIRE_PARTS_MAX || bytes > sock->most) {
        for (size_t i = 0; i < n && i < WIRE_PARTS_MAX; i++)
            zmq_msg_close(&parts[i]);
        return err_set(err,
                       "message of %zu parts and %zu bytes, at most %d and "
                       "%zu",
                       n, bytes, WIRE_PARTS_MAX, sock->most);
    }
    *msg = wire_msg_parse(n, parts, 1, &sock->subject, err);
    if (!*msg)
        return -1;
    if (!note_version(sock, from, *msg))
        return 1;
    wire_msg_free(*msg);
    *msg = NULL;
    return wire_sock_recv(sock, from, msg, err);
}

const struct wire_subject *
wire_sock_subject(const struct wire_sock *sock)
{
    return &sock->subject;
}

/* Whether the bytes queued for subscribers leave room for a message.  From half
 * of the limit on, stuck subscribers are disconnected, so that others miss
 * nothing.  Without a gate none can be: there each has a queue of its own. */
static int
has_room(struct wire_sock *sock, const struct wire_msg *msg)
{
    const size_t bytes = wire_msg_bytes(msg);
    size_t waits;

    if (!sock->unsent || sock->gate < 0 || bytes <= WIRE_PUBLISHED_SMALL)
        return 1;
    waits = wire_unsent_bytes(sock->unsent);
    if (waits + bytes > WIRE_PUBLISHED / 2)
        wire_gate->drop_stuck(sock->gate);
    return waits == 0 || waits + bytes <= WIRE_PUBLISHED;
}

/* The result for a part that was not sent: 0 not now, -1 gone. */
static int
send_error(void)
{
    return errno == EHOSTUNREACH ? -1 : 0;
}

static int
send_message(struct wire_sock *sock, const struct wire_id *to,
             struct wire_msg *msg)
{
    const size_t n = wire_msg_parts(msg);

    if ((sock->type == WIRE_DEALER && !sock->up) || !has_room(sock, msg))
        return 0;
    if (to && zmq_send(sock->socket, to->byte, to->len,
                       ZMQ_SNDMORE | ZMQ_DONTWAIT) < 0)
        return send_error();
    for (size_t i = 0; i < n; i++) {
        const int flags = ZMQ_DONTWAIT | (i + 1 < n ? ZMQ_SNDMORE : 0);
        zmq_msg_t part;

        if (sock->unsent)
            wire_unsent_share(sock->unsent, msg, i, &part);
        else
            wire_msg_share(msg, i, &part);
        if (zmq_msg_send(&part, sock->socket, flags) < 0) {
            zmq_msg_close(&part);
            return send_error();
        }
    }
    return 1;
}

/* Send a message in version 2, in which a hello has the given version. */
static int
send_old(struct wire_sock *sock, const struct wire_id *to,
         const struct wire_msg *msg, int version)
{
    struct wire_msg *old = wire_msg_to_old(msg, version);
    int rc = send_message(sock, to, old);

    wire_msg_free(old);
    return rc;
}

int
wire_sock_send(struct wire_sock *sock, const struct wire_id *to,
               struct wire_msg *msg)
{
    const int version = to ? to->version : sock->version;

    REQUIRE((sock->type == WIRE_ROUTER) == (to != NULL));
    if (sock->forwards || msg->version == WIRE_VERSION_OLD)
        return send_message(sock, to, msg);
    if (version)
        return send_old(sock, to, msg, version);
    if (sock->type == WIRE_DEALER && msg->kind == WIRE_HELLO &&
        ++sock->hellos > hellos_ours)
        send_old(sock, to, msg, WIRE_VERSION);
    return send_message(sock, to, msg);
}

void
wire_sock_send_when_connected(struct wire_sock *sock, struct wire_msg *msg)
{
    if (msg)
        wire_msg_hold(msg);
    wire_msg_free(sock->pending);
    sock->pending = msg;
}

int
wire_sock_has_connected(const struct wire_sock *sock)
{
    if (sock->gate >= 0)
        return wire_gate->has_accepted(sock->gate);
    return sock->binds ? sock->accepted : sock->up;
}

int
wire_sock_lost(struct wire_sock *sock)
{
    int lost = sock->lost;

    sock->lost = 0;
    return lost;
}

void
wire_sock_on_tick(struct wire_sock *sock,
                  double (*on_tick)(void *self, int up, double now), void *self)
{
    sock->on_tick = on_tick;
    sock->self = self;
}

void
wire_sock_admit(struct wire_sock *sock)
{
    if (sock->gate >= 0)
        wire_gate->admit_peer(sock->gate, sock->from);
}

void
wire_sock_expect(struct wire_sock *sock, size_t bytes)
{
    if (sock->gate >= 0)
        wire_gate->expect_known(sock->gate, bytes);
}
