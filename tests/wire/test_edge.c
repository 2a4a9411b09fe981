/* Mostly waits, 5 s */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "t.h"
#include "util/limits.h"

#include "flow/ends.h"

/* Bytes that ZMTP sends before and with a socket's READY, at least. */
enum { READY = 64 + 27 };

static struct sockaddr_un
address(const char *endpoint)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    snprintf(to.sun_path, sizeof to.sun_path, "%s", endpoint + 6);
    return to;
}

/* The other end of an edge, by hand: *sock is ours, which binds or connects. */
static int
connect_raw(struct wire *wire, enum wire_edge edge, enum wire_side from,
            const struct wire_limits *limits, struct wire_sock **sock)
{
    const int events = edge == WIRE_EDGE_EVENTS;
    const char *endpoint = at("edge");
    const struct sockaddr_un to = address(endpoint);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), listening = fd;
    struct err err = {""};

    if (from == WIRE_CONNECTS) {
        *sock = wire_sock_open(wire, events ? WIRE_PUB : WIRE_ROUTER, endpoint,
                               NULL, limits, &err);
        if (connect(fd, (const struct sockaddr *)&to, sizeof to))
            abort();
    } else {
        unlink(to.sun_path);
        if (bind(fd, (const struct sockaddr *)&to, sizeof to) || listen(fd, 1))
            abort();
        *sock = wire_sock_open(wire, events ? WIRE_SUB : WIRE_DEALER, endpoint,
                               "", limits, &err);
        fd = accept(listening, NULL, NULL);
        close(listening);
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* The whole handshake, as a socket of that type. */
static void
shake(struct wire *wire, int fd, const char *type)
{
    char bytes[128] = "\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL";
    const size_t n = strlen(type);
    char *ready = bytes + 64;
    size_t received = 0;
    struct err err;

    ready[0] = 4;
    ready[1] = (char)(6 + 12 + 4 + n);
    memcpy(ready + 2, "\5READY\13Socket-Type\0\0\0", 6 + 12 + 3);
    ready[2 + 6 + 12 + 3] = (char)n;
    memcpy(ready + 2 + 6 + 12 + 4, type, n);
    if (send(fd, bytes, 64 + 2 + 6 + 12 + 4 + n, MSG_NOSIGNAL) < 0)
        abort();
    for (int i = 0; i < 1000 && received < READY; i++) {
        ssize_t got = read(fd, bytes, sizeof bytes);

        received += got > 0 ? (size_t)got : 0;
        wire_wait(wire, -1, 0.001, &err);
    }
}

/* 1 when the connection is closed within so many seconds after the head of a
 * part of so many bytes. */
static int
is_closed(enum wire_edge edge, enum wire_side from,
          const struct wire_limits *limits, size_t part, double seconds)
{
    static const char *const types[WIRE_EDGES][2] = {
        [WIRE_EDGE_EVENTS] = {"SUB", "XPUB"}};
    const char *type = types[edge][from];
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_sock *sock;
    int fd = connect_raw(wire, edge, from, limits, &sock), closed = 0;
    char head[9] = {2}, byte;
    double until;

    shake(wire, fd, type ? type : from == WIRE_CONNECTS ? "DEALER" : "ROUTER");
    for (int i = 0; i < 8; i++)
        head[8 - i] = (char)(part >> 8 * i);
    if (send(fd, head, sizeof head, MSG_NOSIGNAL) != sizeof head)
        abort();
    until = clock_now() + seconds;
    while (!closed && clock_now() < until) {
        ssize_t n;

        wire_wait(wire, -1, 0.005, &err);
        while ((n = read(fd, &byte, 1)) > 0)
            ; // its own handshake
        closed = n == 0 || (n < 0 && errno != EAGAIN);
    }
    close(fd);
    wire_sock_close(sock);
    wire_close(wire);
    return closed;
}

static int
is_refused(enum wire_edge edge, enum wire_side from,
           const struct wire_limits *limits, size_t part)
{
    return is_closed(edge, from, limits, part, 60);
}

static int
is_taken(enum wire_edge edge, enum wire_side from,
         const struct wire_limits *limits, size_t part)
{
    return !is_closed(edge, from, limits, part, 0.15);
}

/* The largest part of each edge, and one byte more. */
static void
parts(void)
{
    static const char *const sides[] = {"the connecting end", "the binder"};

    for (enum wire_edge edge = 0; edge < WIRE_EDGES; edge++)
        for (enum wire_side from = 0; from < 2; from++) {
            const struct wire_limits limits = {.edge = edge};
            const size_t most = wire_edge_part(edge, from, 0);

            T(is_taken(edge, from, &limits, most),
              "%s: a part of %zu bytes is accepted from %s",
              wire_edge_name(edge), most, sides[from]);
            T(is_refused(edge, from, &limits, most + 1),
              "one byte more is not");
        }
    T(is_taken(
          WIRE_EDGE_BATCH, WIRE_CONNECTS,
          &(struct wire_limits){.edge = WIRE_EDGE_BATCH, .max_batch = 5000},
          5000) &&
          is_refused(
              WIRE_EDGE_BATCH, WIRE_CONNECTS,
              &(struct wire_limits){.edge = WIRE_EDGE_BATCH, .max_batch = 5000},
              5001),
      "the trainer's limit applies to batches");
    T(is_refused(WIRE_EDGE_PLAN, WIRE_CONNECTS,
                 &(struct wire_limits){.edge = WIRE_EDGE_PLAN, .max_batch = 9},
                 64 * 1024 + 1),
      "more than 65,536 samples are refused whatever that limit");
}

/* A message of n parts of so many bytes to the connecting end: 1 when it is
 * read as one, even if invalid, -1 when it is refused for its size. */
static int
fate(size_t n, size_t bytes)
{
    const struct wire_limits limits = {.edge = WIRE_EDGE_PLAN};
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_sock *sock;
    int fd = connect_raw(wire, WIRE_EDGE_PLAN, WIRE_BINDS, &limits, &sock),
        rc = 0;
    const size_t frame = 9 + bytes;
    uint8_t *all = calloc(n, frame);
    struct wire_msg *msg;
    size_t sent = 0;

    shake(wire, fd, "ROUTER");
    for (size_t k = 0; k < n; k++) {
        all[k * frame] = k + 1 < n ? 3 : 2;
        for (int i = 0; i < 8; i++)
            all[k * frame + 8 - (size_t)i] = (uint8_t)(bytes >> 8 * i);
    }
    for (int i = 0; i < 5000 && !rc; i++) {
        ssize_t got = send(fd, all + sent, n * frame - sent, MSG_NOSIGNAL);

        sent += got > 0 ? (size_t)got : 0;
        wire_wait(wire, -1, 0.001, &err);
        rc = wire_sock_recv(sock, NULL, &msg, &err);
    }
    REQUIRE(rc < 0); // it is no message at all
    close(fd);
    free(all);
    wire_sock_close(sock);
    wire_close(wire);
    return strstr(err.msg, "bytes, at most") ? -1 : 1;
}

static void
messages(void)
{
    const size_t part = wire_edge_part(WIRE_EDGE_PLAN, WIRE_BINDS, 0),
                 all = wire_edge_message(WIRE_EDGE_PLAN, WIRE_BINDS, 0);

    T(all == 4 * part && fate(4, part) == 1, "four of the largest parts are "
                                             "taken as a message");
    T(fate(5, all / 5 + 1) == -1, "more than that together is not");
}

/* Each kind has an edge, and can be sent on it. */
static void
kinds(void)
{
    for (enum wire_kind kind = 0; kind < WIRE_KINDS; kind++) {
        int edges = 0;

        for (enum wire_edge edge = 0; edge < WIRE_EDGE_ANY; edge++)
            edges += wire_edge_allows_kind(edge, WIRE_CONNECTS, kind) ||
                     wire_edge_allows_kind(edge, WIRE_BINDS, kind);
        T(edges, "%s belongs to an edge", wire_kind_name(kind));
        T(wire_edge_allows_kind(WIRE_EDGE_ANY, WIRE_BINDS, kind),
          "a proxy forwards it");
    }
    T(wire_edge_allows_kind(WIRE_EDGE_BATCH, WIRE_CONNECTS, WIRE_BATCH) &&
          !wire_edge_allows_kind(WIRE_EDGE_BATCH, WIRE_BINDS, WIRE_BATCH),
      "batches are sent one way");
    T(!wire_edge_allows_kind(WIRE_EDGE_EVENTS, WIRE_CONNECTS, WIRE_HELLO),
      "a publisher gets no hello");
}

int
main(void)
{
    nofile_raise();
    scratch_open();
    kinds();
    parts();
    messages();
    scratch_close();
    return t_done();
}
