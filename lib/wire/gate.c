#define _DEFAULT_SOURCE // syscall()
#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"

#include "gate.h"

/* Around each part: ZMTP's 2 or 9 bytes, and CURVE's 33. */
enum { FRAME = 48 };

enum kind { NOTHING, GATE, PEER };

/* One a descriptor: a socket that listens, or a connection that it took. */
static struct slot {
    atomic_int kind;
    atomic_size_t stranger, known; /* GATE: bytes under way */
    atomic_uint cut, away;         /* GATE: connections refused, not yet told */
    atomic_int met;                /* GATE: one was not */
    atomic_int gate, admitted;     /* PEER */
    atomic_size_t got, read;       /* PEER: bytes so far */
    double since;                  /* PEER: only its own thread looks */
} slots[WIRE_GATE_FDS];

/* listen() was called here. */
static atomic_int called;

/* What listen() in this thread makes next. */
static _Thread_local struct {
    size_t stranger, known;
    int wanted, made;
} next;

static struct slot *
slot_of(int fd, enum kind kind)
{
    return fd >= 0 && fd < WIRE_GATE_FDS && slots[fd].kind == (int)kind
               ? &slots[fd]
               : NULL;
}

void
wire_gate_next(size_t stranger, size_t known)
{
    next.stranger = stranger;
    next.known = known;
    next.wanted = 1;
    next.made = -1;
}

int
wire_gate_made(void)
{
    next.wanted = 0;
    return next.made;
}

int
wire_gate_called(void)
{
    return called;
}

void
wire_gate_expect(int gate, size_t known)
{
    struct slot *slot = slot_of(gate, GATE);

    if (slot)
        slot->known = known;
}

/* More than there was is not read: what a part costs is a guess. */
void
wire_gate_read(int fd, size_t parts, size_t bytes)
{
    struct slot *slot = slot_of(fd, PEER);
    size_t got, read;

    if (!slot)
        return;
    got = slot->got;
    read = slot->read + bytes + parts * FRAME;
    slot->read = read < got ? read : got;
}

void
wire_gate_admit(int fd)
{
    struct slot *slot = slot_of(fd, PEER);

    if (slot)
        slot->admitted = 1;
}

int
wire_gate_met(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot && slot->met;
}

unsigned
wire_gate_refused(int gate, unsigned *cut)
{
    struct slot *slot = slot_of(gate, GATE);

    *cut = slot ? atomic_exchange(&slot->cut, 0) : 0;
    return *cut + (slot ? atomic_exchange(&slot->away, 0) : 0);
}

/* ---- in the place of the C library's ----------------------------------- */

/* A descriptor that ZeroMQ connects with may have been a peer's before. */
int
socket(int domain, int type, int protocol)
{
    const int fd = (int)syscall(SYS_socket, domain, type, protocol);

    if (fd >= 0 && fd < WIRE_GATE_FDS)
        slots[fd].kind = NOTHING;
    return fd;
}

int
listen(int fd, int backlog)
{
    called = 1;
    if (next.wanted && fd >= 0 && fd < WIRE_GATE_FDS) {
        slots[fd].stranger = next.stranger;
        slots[fd].known = next.known;
        slots[fd].cut = slots[fd].away = 0;
        slots[fd].met = 0;
        slots[fd].kind = GATE;
        next.made = fd;
    }
    return (int)syscall(SYS_listen, fd, backlog);
}

/* Descriptors from here on are the tool's own. */
static int
most_fds(void)
{
    struct rlimit files;
    rlim_t most = WIRE_GATE_FDS;

    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < most)
        most = files.rlim_cur;
    return (int)(most > 2 * WIRE_GATE_SPARE ? most - WIRE_GATE_SPARE
                                            : most / 2);
}

static void
begin(struct slot *peer, int gate)
{
    peer->gate = gate;
    peer->admitted = 0;
    peer->got = peer->read = 0;
    peer->since = clock_now();
    peer->kind = PEER;
}

int accept4(int fd, struct sockaddr *restrict at, socklen_t *restrict len,
            int flags);

int
accept4(int fd, struct sockaddr *restrict at, socklen_t *restrict len,
        int flags)
{
    struct slot *gate = slot_of(fd, GATE);
    int peer = (int)syscall(SYS_accept4, fd, at, len, flags);

    if (gate && peer >= most_fds()) {
        close(peer);
        gate->away++;
        errno = ECONNABORTED;
        return -1;
    }
    if (peer < 0 && errno == EMFILE)
        errno = ECONNABORTED;
    if (gate && peer >= 0) {
        gate->met = 1;
        begin(&slots[peer], fd);
    } else if (peer >= 0 && peer < WIRE_GATE_FDS)
        slots[peer].kind = NOTHING;
    return peer;
}

int
accept(int fd, struct sockaddr *restrict at, socklen_t *restrict len)
{
    return accept4(fd, at, len, 0);
}

/* 1 when a peer has more under way than it may. */
static int
is_beyond(const struct slot *peer)
{
    struct slot *gate = slot_of(peer->gate, GATE);
    const double spent = (clock_now() - peer->since) * WIRE_GATE_RATE;
    const size_t held = peer->got - peer->read;

    if (!gate ||
        held <= (peer->admitted ? gate->known : gate->stranger) + (size_t)spent)
        return 0;
    gate->cut++;
    return 1;
}

ssize_t
recv(int fd, void *bytes, size_t len, int flags)
{
    struct slot *peer = slot_of(fd, PEER);
    const ssize_t n =
        (ssize_t)syscall(SYS_recvfrom, fd, bytes, len, flags, NULL, NULL);

    if (!peer || n <= 0)
        return n;
    peer->got += (size_t)n;
    if (!is_beyond(peer))
        return n;
    errno = ECONNRESET;
    return -1;
}
