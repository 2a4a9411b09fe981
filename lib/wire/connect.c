#include <arpa/inet.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
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

#include "sock_impl.h"

const struct wire_gate *wire_gate;

static int
is_tcp(const char *endpoint)
{
    return !strncmp(endpoint, "tcp://", strlen("tcp://"));
}

/* 1 for tcp://HOST:PORT with a port from 1 to 65535, or * for a binder. */
static int
has_port(const char *endpoint, int binds)
{
    const char *colon = strrchr(endpoint, ':'), *port = colon + 1;
    const size_t digits = strspn(port, "0123456789");
    const unsigned long number = strtoul(port, NULL, 10);

    if (colon <= endpoint + strlen("tcp://"))
        return 0;
    if (binds && !strcmp(port, "*"))
        return 1;
    return digits && !port[digits] && number >= 1 && number <= 65535;
}

/* 0, or -1 with a message: another transport, an invalid port, or an ipc
 * address that is not a file: only files have owners and modes. */
static int
check_address(const char *endpoint, int binds, struct err *err)
{
    if (!is_tcp(endpoint) && strncmp(endpoint, "ipc://", 6) &&
        strncmp(endpoint, "inproc://", 9))
        return err_set(
            err, "bad endpoint: '%.200s', want tcp://HOST:PORT or ipc://PATH",
            endpoint);
    if (!strncmp(endpoint, "ipc://@", 7))
        return err_set(err,
                       "'%.200s' is open to all of this machine, want a path: "
                       "ipc://./@NAME for a file of that name",
                       endpoint);
    if (is_tcp(endpoint) && !has_port(endpoint, binds))
        return err_set(err,
                       "bad endpoint: '%.200s', want a port from 1 to 65535%s",
                       endpoint, binds ? ", or *" : "");
    return 0;
}

/* 1 if no other machine can reach or fake a tcp address: a numeric loopback
 * address, localhost, or for a binder the interface lo.  Any other name depends
 * on the name server that ZeroMQ asks. */
static int
is_local(const char *endpoint, int binds)
{
    const char *at = endpoint + strlen("tcp://"), *colon = strrchr(at, ':');
    const int brackets = *at == '[' && colon > at && colon[-1] == ']';
    struct in6_addr v6;
    struct in_addr v4;
    char host[64];
    size_t n;

    if (!colon || (size_t)(colon - at) >= sizeof host)
        return 0;
    n = (size_t)(colon - at);
    memcpy(host, at + brackets, n);
    host[n - 2 * (size_t)brackets] = '\0';
    if (brackets)
        return inet_pton(AF_INET6, host, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
    if (inet_pton(AF_INET, host, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return !strcmp(host, "localhost") || (binds && !strcmp(host, "lo"));
}

static int
set_int(void *socket, int option, int value)
{
    return zmq_setsockopt(socket, option, &value, sizeof value);
}

/* 1 if ZeroMQ reads through the gate of this program: sends a byte through it,
 * once in a process. */
static int
gate_guards(void)
{
    static atomic_int proved;
    void *context, *to = NULL, *from = NULL;
    char name[64], byte;
    int gate, ok;

    if (proved)
        return 1;
    snprintf(name, sizeof name, "ipc://@foil-%ld-%.9f", (long)getpid(),
             clock_now());
    context = zmq_ctx_new();
    if (context && (to = zmq_socket(context, ZMQ_PAIR)) &&
        (from = zmq_socket(context, ZMQ_PAIR))) {
        set_int(to, ZMQ_RCVTIMEO, 60000); // ms; it takes one
        set_int(to, ZMQ_LINGER, 0);
        set_int(from, ZMQ_LINGER, 0);
        wire_gate->expect_next(SIZE_MAX / 2, SIZE_MAX / 2);
        ok = !zmq_bind(to, name);
        gate = wire_gate->take_listener();
        proved = ok && gate >= 0 && !zmq_connect(from, name) &&
                 zmq_send(from, "", 1, 0) == 1 &&
                 zmq_recv(to, &byte, 1, 0) == 1 &&
                 wire_gate->has_received(gate);
    }
    if (to)
        zmq_close(to);
    if (from)
        zmq_close(from);
    if (context)
        zmq_ctx_term(context);
    return proved;
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

    if (!is_tcp(sock->endpoint))
        return 0;
    if (!keys && !is_local(sock->endpoint, sock->binds))
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
    const int tcp = is_tcp(sock->endpoint);
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

static int
bind_sock(struct wire_sock *sock, struct err *err)
{
    const int is_pub = sock->type == WIRE_PUB;
    struct wire *wire = sock->wire;
    mode_t old_mask;
    size_t size = sizeof sock->endpoint;

    if (is_taken(sock->endpoint))
        return err_set(err, "cannot bind '%s': another process has bound it",
                       sock->endpoint);
    if (wire_gate && !gate_guards())
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
    if (!wire->keys && !wire->has_no_keys && is_tcp(sock->endpoint)) {
        wire->has_no_keys = 1;
        err_set(&wire->no_keys,
                "anyone on this machine can connect to '%s': use ipc://PATH, "
                "or --keys and --allow",
                sock->endpoint);
    }
    return 0;
}

struct wire_sock *
wire_sock_open(struct wire *wire, enum wire_type type, const char *endpoint,
               const char *role, const struct wire_limits *limits,
               struct err *err)
{
    const int binds = type == WIRE_ROUTER || type == WIRE_PUB;
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
    if (check_address(endpoint, binds, err))
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
    if (set_keys(sock, role, err) || (binds && bind_sock(sock, err)))
        goto fail;
    if (binds || !zmq_connect(sock->socket, endpoint))
        return sock;
    err_set(err, "cannot connect to '%s': %s", endpoint, zmq_strerror(errno));

fail:
    wire_sock_close(sock);
    return NULL;
}

void
wire_sock_close(struct wire_sock *sock)
{
    const struct timespec pause = {.tv_nsec = 1000000};

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
        zmq_close(sock->socket);
    }
    // ZeroMQ releases an address some time after it was closed: wait for that,
    // so that the next binder can use it; zmq_unbind(3) drops unsent messages
    for (int i = 0; sock->bound && i < 500 && is_taken(sock->endpoint); i++)
        nanosleep(&pause, NULL);
    if (sock->monitor)
        zmq_close(sock->monitor);
    wire_msg_free(sock->pending);
    wire_unsent_free(sock->unsent);
    free(sock);
}
