#include <string.h>

#include "util/clock.h"
#include "util/mem.h"
#include "wire/proxy.h"

/* Seconds without a message after which a peer's connection is closed. */
static const double idle_max_s = 60;

struct pair {
    uint32_t number;
    struct wire_id id;      /* of the peer that connected */
    struct wire_sock *sock; /* its connection to the real binder */
    double last_seen;
};

struct wire_proxy {
    struct wire *wire;
    struct wire_sock *sock;
    char *there, *role;
    struct wire_limits limits;
    size_t n, room;
    struct pair *pair; /* [n] */
    uint32_t last;
};

struct wire_proxy *
wire_proxy_open(struct wire *wire, const char *here, const char *there,
                const char *role, const struct wire_limits *limits,
                struct err *err)
{
    struct wire_proxy *proxy = mem_array(1, sizeof *proxy);

    proxy->wire = wire;
    proxy->there = mem_text(there);
    proxy->role = mem_text(role ? role : "");
    proxy->limits = *limits;
    proxy->limits.edge = WIRE_EDGE_ANY;
    proxy->sock =
        wire_sock_open(wire, WIRE_ROUTER, here, NULL, &proxy->limits, err);
    if (proxy->sock)
        return proxy;
    wire_proxy_close(proxy);
    return NULL;
}

void
wire_proxy_close(struct wire_proxy *proxy)
{
    if (!proxy)
        return;
    for (size_t i = 0; i < proxy->n; i++)
        wire_sock_close(proxy->pair[i].sock);
    wire_sock_close(proxy->sock);
    mem_free(proxy->pair, proxy->there, proxy->role, proxy);
}

/* Close the connection of pair i. */
static void
close_pair(struct wire_proxy *proxy, size_t i)
{
    wire_sock_close(proxy->pair[i].sock);
    proxy->pair[i] = proxy->pair[--proxy->n];
}

static struct pair *
pair_of(struct wire_proxy *proxy, const struct wire_id *id, struct err *err)
{
    struct wire_sock *sock;

    for (size_t i = 0; i < proxy->n; i++)
        if (proxy->pair[i].id.len == id->len &&
            !memcmp(proxy->pair[i].id.byte, id->byte, id->len))
            return &proxy->pair[i];
    sock = wire_sock_open(proxy->wire, WIRE_DEALER, proxy->there, proxy->role,
                          &proxy->limits, err);
    if (!sock)
        return NULL;
    wire_sock_admit(proxy->sock); // the real binder checks the peer
    mem_grow(&proxy->pair, &proxy->room, proxy->n + 1, sizeof *proxy->pair);
    proxy->pair[proxy->n] =
        (struct pair){.number = ++proxy->last, .id = *id, .sock = sock};
    return &proxy->pair[proxy->n++];
}

/* Forward a message of a peer to the real binder. */
static int
forward_up(struct wire_proxy *proxy, uint32_t *from, struct wire_msg **msg,
           struct err *err)
{
    struct wire_id id;
    struct pair *pair;
    int rc = wire_sock_recv(proxy->sock, &id, msg, err);

    if (rc <= 0)
        return rc;
    pair = pair_of(proxy, &id, err);
    if (!pair) {
        wire_msg_free(*msg);
        return -1;
    }
    pair->last_seen = clock_now();
    *from = pair->number;
    // the first message waits for the connection; later ones need not, as
    // greetings are repeated
    if (wire_sock_send(pair->sock, NULL, *msg) != 1)
        wire_sock_send_when_connected(pair->sock, *msg);
    return 1;
}

int
wire_proxy_next(struct wire_proxy *proxy, uint32_t *from, struct wire_msg **msg,
                struct err *err)
{
    const double now = clock_now();
    int rc = forward_up(proxy, from, msg, err);

    if (rc)
        return rc;
    for (size_t i = proxy->n; i-- > 0;) {
        if (now - proxy->pair[i].last_seen > idle_max_s) {
            close_pair(proxy, i);
            continue;
        }
        rc = wire_sock_recv(proxy->pair[i].sock, NULL, msg, err);
        if (!rc)
            continue;
        *from = 0;
        if (rc > 0 && wire_sock_send(proxy->sock, &proxy->pair[i].id, *msg) < 0)
            close_pair(proxy, i);
        return rc;
    }
    return 0;
}
