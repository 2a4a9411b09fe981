#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <zmq.h>

#include "util/clock.h"
#include "util/mem.h"
#include "wire/gate.h"

#include "pack.h"
#include "raw.h"
#include "sock_impl.h"

/* Hellos without an answer in our version before one in both. */
static const int hellos_ours = 2;

static int
set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value);
}

/*
 * The limits of wire/sock.h.  ZMTP's own heartbeats remain off: libzmq 4.3.4
 * aborts the process when one is due on a connection that was lost while its
 * receiving queue was full (issues 4364 and 4767 of libzmq).  TCP detects a cut
 * link as fast, and our heartbeats a peer that hangs.
 */
static int
set_limits(struct wire_sock *sock, const struct wire_limits *limits)
{
    const size_t queue = limits->queue ? limits->queue : 8;
    const enum wire_side from = sock->binds ? WIRE_CONNECTS : WIRE_BINDS;
    const int64_t bytes =
        (int64_t)wire_edge_part(limits->edge, from, limits->max_batch);
    const struct {
        int option, value;
    } all[] = {
        {ZMQ_LINGER, 2000},
        {ZMQ_HANDSHAKE_IVL, 2000},
        {ZMQ_SNDHWM, (int)queue + 64}, // also for a burst of small ones
        {ZMQ_RCVHWM, (int)queue + 8},
        {ZMQ_TCP_MAXRT, 3000},
        {ZMQ_TCP_KEEPALIVE, 1},
        {ZMQ_TCP_KEEPALIVE_IDLE, 1},
        {ZMQ_TCP_KEEPALIVE_INTVL, 1},
        {ZMQ_TCP_KEEPALIVE_CNT, 3},
        {ZMQ_RECONNECT_IVL, 100},
        // a subscriber loses all that is published before it reconnects
        {ZMQ_RECONNECT_IVL_MAX, sock->type == WIRE_SUB ? 100 : 5000},
        {ZMQ_CONNECT_TIMEOUT, 5000},
    };
    int rc = zmq_setsockopt(sock->socket, ZMQ_MAXMSGSIZE, &bytes, sizeof bytes);

    sock->most = wire_edge_message(limits->edge, from, limits->max_batch);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        rc |= set_int(sock->socket, all[i].option, all[i].value);
    if (sock->type == WIRE_ROUTER)
        rc |= set_int(sock->socket, ZMQ_ROUTER_MANDATORY, 1);
    return rc;
}

/* tcp is encrypted whenever there are keys; ipc is protected by its folder. */
static int
set_keys(struct wire_sock *sock, const char *role, struct err *err)
{
    const struct wire_keys *keys = sock->wire->keys;
    const struct wire_cert *server;
    int rc = 0;

    if (!wire_address_is_tcp(sock->endpoint))
        return 0;
    if (!keys && !wire_address_is_local(sock->endpoint, sock->binds))
        return err_set(err,
                       "'%s' may be beyond this machine: want keys, or "
                       "127.0.0.1, [::1] or localhost as its host",
                       sock->endpoint);
    if (!keys)
        return 0;
    if (sock->binds) {
        rc |= set_int(sock->socket, ZMQ_CURVE_SERVER, 1);
        rc |= zmq_setsockopt(sock->socket, ZMQ_ZAP_DOMAIN, "foil", 4);
    } else {
        server = wire_keys_find(keys, role, err);
        if (!server)
            return -1;
        rc |= zmq_setsockopt(sock->socket, ZMQ_CURVE_SERVERKEY,
                             server->public_key, WIRE_KEY_TEXT);
    }
    rc |= zmq_setsockopt(sock->socket, ZMQ_CURVE_PUBLICKEY,
                         keys->own.public_key, WIRE_KEY_TEXT);
    rc |= zmq_setsockopt(sock->socket, ZMQ_CURVE_SECRETKEY,
                         keys->own.secret_key, WIRE_KEY_TEXT);
    return rc ? err_set(err, "cannot use keys: %s", zmq_strerror(errno)) : 0;
}

/*
 * Only a monitor shows whether a peer is connected.  (ZMQ_IMMEDIATE would not
 * queue messages without a peer, but drops received, unread messages when the
 * other side closes: the last END, often.)  A peer without a key disconnects
 * when it sees that one is needed; the event is a handshake that failed without
 * detail.
 */
static int
open_monitor(struct wire_sock *sock)
{
    const int tcp = wire_address_is_tcp(sock->endpoint);
    int events = 0;
    char name[64];

    if (sock->type == WIRE_DEALER)
        events |= ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED;
    if (tcp && !sock->binds)
        events |= ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                  ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    if (tcp && sock->binds && sock->wire->keys)
        events |= ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL |
                  ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL;
    if (sock->binds && !wire_gate)
        events |= ZMQ_EVENT_ACCEPTED;
    if (!events)
        return 0;
    snprintf(name, sizeof name, "inproc://monitor-%lu", ++sock->wire->monitors);
    if (zmq_socket_monitor(sock->socket, name, events) < 0)
        return -1;
    sock->monitor = zmq_socket(sock->wire->context, ZMQ_PAIR);
    return !sock->monitor || set_int(sock->monitor, ZMQ_LINGER, 0) ||
                   zmq_connect(sock->monitor, name)
               ? -1
               : 0;
}

/* ZeroMQ removes an existing socket file even when its owner is alive.  So try
 * to connect first: the file of a dead process refuses connections. */
static int
is_taken(const char *endpoint)
{
    const char *path = endpoint + strlen("ipc://");
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    int fd, taken;

    if (strncmp(endpoint, "ipc://", strlen("ipc://")) || *path == '*' ||
        strlen(path) >= sizeof addr.sun_path)
        return 0;
    memcpy(addr.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return 0;
    taken = !connect(fd, (struct sockaddr *)&addr, sizeof addr);
    close(fd);
    return taken;
}

/* Without keys a tcp endpoint is protected by its address only. */
static void
warn_open(struct wire_sock *sock)
{
    struct wire *wire = sock->wire;

    if (wire->keys || wire->opened || !wire_address_is_tcp(sock->endpoint))
        return;
    wire->opened = 1;
    err_set(&wire->open,
            "anyone on this machine can connect to '%s': use ipc://PATH, or "
            "--keys and --allow",
            sock->endpoint);
}

static int
bind_sock(struct wire_sock *sock, struct err *err)
{
    const int is_pub = sock->type == WIRE_PUB;
    mode_t old_mask;
    size_t size = sizeof sock->endpoint;

    if (is_taken(sock->endpoint))
        return err_set(err, "cannot bind '%s': another process has bound it",
                       sock->endpoint);
    if (wire_gate && !wire_gate_guards())
        return err_set(err,
                       "cannot limit what peers of '%s' send: this ZeroMQ "
                       "reads in another way",
                       sock->endpoint);
    if (wire_gate)
        wire_gate->expect_next(is_pub ? WIRE_SUBSCRIBER : WIRE_STRANGER,
                               sock->most);
    old_mask = umask(S_IRWXO);
    umask(old_mask | S_IRWXO); // keep other users out, whatever the umask
    sock->bound = !zmq_bind(sock->socket, sock->endpoint);
    umask(old_mask);
    sock->gate = wire_gate ? wire_gate->take_listener() : -1;
    if (!sock->bound)
        return err_set(err, "cannot bind '%s': %s", sock->endpoint,
                       zmq_strerror(errno));
    if (wire_gate && sock->gate < 0 && strncmp(sock->endpoint, "inproc:", 7))
        return err_set(
            err,
            "cannot limit what peers of '%s' send: this ZeroMQ listens in "
            "another way, or too many files are open",
            sock->endpoint);
    zmq_getsockopt(sock->socket, ZMQ_LAST_ENDPOINT, sock->endpoint, &size);
    warn_open(sock);
    return 0;
}

static int
attach_sock(struct wire_sock *sock, struct err *err)
{
    if (sock->binds)
        return bind_sock(sock, err);
    if (zmq_connect(sock->socket, sock->endpoint))
        return err_set(err, "cannot connect to '%s': %s", sock->endpoint,
                       zmq_strerror(errno));
    return 0;
}

static struct wire_sock *
open_sock(struct wire *wire, enum wire_type type, int binds,
          const char *endpoint, const char *role,
          const struct wire_limits *limits, struct err *err)
{
    static const int types[] = {ZMQ_ROUTER, ZMQ_DEALER, ZMQ_XPUB, ZMQ_SUB};
    struct wire_sock *sock = mem_array(1, sizeof *sock);

    sock->wire = wire;
    sock->next = wire->first;
    wire->first = sock;
    sock->type = type;
    sock->binds = binds;
    sock->gate = sock->from = -1;
    sock->forwards = limits->edge == WIRE_EDGE_ANY;
    sock->unsent = type == WIRE_PUB ? wire_unsent_new() : NULL;
    if (wire_address_check(endpoint, binds, err))
        goto fail;
    if (strlen(endpoint) >= sizeof sock->endpoint) {
        err_set(err, "bad endpoint: '%.200s' is too long", endpoint);
        goto fail;
    }
    snprintf(sock->endpoint, sizeof sock->endpoint, "%s", endpoint);
    sock->socket = zmq_socket(wire->context, types[type]);
    if (!sock->socket || set_limits(sock, limits) || open_monitor(sock) ||
        (strchr(endpoint, '[') && set_int(sock->socket, ZMQ_IPV6, 1))) {
        err_set(err, "cannot open a socket: %s", zmq_strerror(errno));
        goto fail;
    }
    if (set_keys(sock, role, err) || attach_sock(sock, err))
        goto fail;
    return sock;

fail:
    wire_sock_close(sock);
    return NULL;
}

struct wire_sock *
wire_sock_bind(struct wire *wire, enum wire_type type, const char *endpoint,
               const struct wire_limits *limits, struct err *err)
{
    return open_sock(wire, type, 1, endpoint, NULL, limits, err);
}

struct wire_sock *
wire_sock_connect(struct wire *wire, enum wire_type type, const char *endpoint,
                  const char *role, const struct wire_limits *limits,
                  struct err *err)
{
    return open_sock(wire, type, 0, endpoint, role, limits, err);
}

/*
 * ZeroMQ releases an address some time after it was closed: wait for that, so
 * that the next binder, in this process or another, can use it.  zmq_close(3)
 * and not zmq_unbind(3), which drops unsent messages.
 */
static void
close_and_wait(struct wire_sock *sock)
{
    const struct timespec pause = {.tv_nsec = 1000000};

    zmq_close(sock->socket);
    for (int i = 0; sock->bound && i < 500 && is_taken(sock->endpoint); i++)
        nanosleep(&pause, NULL);
}

void
wire_sock_close(struct wire_sock *sock)
{
    if (!sock)
        return;
    for (struct wire_sock **at = &sock->wire->first; *at; at = &(*at)->next) {
        if (*at != sock)
            continue;
        *at = sock->next;
        break;
    }
    if (sock->socket) {
        zmq_socket_monitor(sock->socket, NULL, 0);
        close_and_wait(sock);
    }
    if (sock->monitor)
        zmq_close(sock->monitor);
    wire_msg_free(sock->heartbeat);
    wire_msg_free(sock->pending);
    wire_unsent_free(sock->unsent);
    free(sock);
}

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

/* A hello of version 2 that has version 3 only asks what the binder speaks. */
static int
speaks_old(const struct wire_msg *msg)
{
    struct err ignored;
    struct wire_reader r = wire_read_start(msg, &ignored);

    return msg->version == WIRE_VERSION_OLD &&
           (msg->kind != WIRE_HELLO ||
            wire_read_whole(&r, "version", 0, INT32_MAX) != WIRE_VERSION);
}

/*
 * Its sender is answered in the version of a message.  Returns 1 to drop the
 * message: the error with which a binder of version 2 refuses our hello.
 */
static int
note_version(struct wire_sock *sock, struct wire_id *from,
             const struct wire_msg *msg)
{
    struct wire *wire = sock->wire;
    const int was = sock->version;

    sock->hellos = 0;
    if (sock->forwards || !speaks_old(msg))
        return 0;
    if (!wire->met_old++)
        err_set(&wire->old,
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

/*
 * Whether the bytes queued for subscribers leave room for a message.  From half
 * of the limit on, stuck subscribers are disconnected, so that others miss
 * nothing.  Without a gate none can be: there each has a queue of its own.
 */
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

size_t
wire_sock_unsent(const struct wire_sock *sock)
{
    return sock->unsent ? wire_unsent_bytes(sock->unsent) : 0;
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

static void
replace_message(struct wire_msg **at, struct wire_msg *msg)
{
    if (msg)
        wire_msg_hold(msg);
    wire_msg_free(*at);
    *at = msg;
}

void
wire_sock_heartbeat(struct wire_sock *sock, struct wire_msg *msg)
{
    if (!sock->heartbeat)
        sock->heartbeat_at = clock_now() + WIRE_HEARTBEAT_S;
    replace_message(&sock->heartbeat, msg);
}

void
wire_sock_send_when_connected(struct wire_sock *sock, struct wire_msg *msg)
{
    replace_message(&sock->pending, msg);
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
