#define _DEFAULT_SOURCE // syscall()
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <zmq.h>

#include "util/clock.h"

#include "bounds.h"

/* Around each part: ZMTP's 2 or 9 bytes, and CURVE's 33. */
enum { FRAME = 48 };

enum kind { NOTHING, GATE, PEER };

/* One a descriptor: a socket that listens, or a connection that it took. */
static struct slot {
    atomic_int kind;
    atomic_size_t stranger, known; /* GATE: bytes under way */
    atomic_uint cut, away;         /* GATE: connections refused, not yet told */
    atomic_int met, heard;         /* GATE: one was not; bytes came by here */
    unsigned long drained;         /* GATE: all older ones are read */
    int gate, again, admitted;     /* PEER; again: it had one before */
    unsigned long born;            /* PEER: which connection of all */
    size_t got, read;              /* PEER: bytes so far */
    double since;                  /* PEER */
} slots[WIRE_GATE_FDS];

/* Held for what a PEER's slot has, and `drained`; so many were accepted. */
static pthread_mutex_t peers = PTHREAD_MUTEX_INITIALIZER;
static unsigned long births;

/* What listen() in this thread makes next. */
static _Thread_local struct {
    size_t stranger, known;
    int wanted, made;
} coming;

static struct slot *
slot_of(int fd, enum kind kind)
{
    return fd >= 0 && fd < WIRE_GATE_FDS && slots[fd].kind == (int)kind
               ? &slots[fd]
               : NULL;
}

static void
expect_next(size_t stranger, size_t known)
{
    coming.stranger = stranger;
    coming.known = known;
    coming.wanted = 1;
    coming.made = -1;
}

static int
take_made(void)
{
    coming.wanted = 0;
    return coming.made;
}

static void
expect_known(int gate, size_t known)
{
    struct slot *slot = slot_of(gate, GATE);

    if (slot)
        slot->known = known;
}

static void
note_drained(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    pthread_mutex_lock(&peers);
    if (slot)
        slot->drained = births;
    pthread_mutex_unlock(&peers);
}

/* Whose message by this descriptor is read: NULL when it may be that of the
 * connection which had the descriptor before. */
static struct slot *
owner_of(int gate, int fd)
{
    struct slot *slot = slot_of(fd, PEER);

    return slot && slot->gate == gate &&
                   (!slot->again || slot->born <= slots[gate].drained)
               ? slot
               : NULL;
}

/* More than there was is not read: what a part costs is a guess. */
static void
count_read(int gate, int fd, size_t parts, size_t bytes)
{
    struct slot *slot;
    size_t read;

    pthread_mutex_lock(&peers);
    slot = owner_of(gate, fd);
    if (slot) {
        read = slot->read + bytes + parts * FRAME;
        slot->read = read < slot->got ? read : slot->got;
    }
    pthread_mutex_unlock(&peers);
}

static void
admit_peer(int gate, int fd)
{
    struct slot *slot;

    pthread_mutex_lock(&peers);
    slot = owner_of(gate, fd);
    if (slot)
        slot->admitted = 1;
    pthread_mutex_unlock(&peers);
}

static int
has_met(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot && slot->met;
}

static unsigned
take_refused(int gate, unsigned *cut)
{
    struct slot *slot = slot_of(gate, GATE);

    *cut = slot ? atomic_exchange(&slot->cut, 0) : 0;
    return *cut + (slot ? atomic_exchange(&slot->away, 0) : 0);
}

/* ---- does ZeroMQ come by here? ------------------------------------------ */

enum { PATIENCE = 60000 }; /* milliseconds; a byte takes one */

/* A byte from one socket to another: 1 when recv() below has had it. */
static int
hears_byte(void *to, void *from)
{
    char name[64], byte;
    const int wait = PATIENCE, none = 0;
    int gate, came;

    snprintf(name, sizeof name, "ipc://@foil-%ld-%.9f", (long)getpid(),
             clock_now());
    zmq_setsockopt(to, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_setsockopt(to, ZMQ_LINGER, &none, sizeof none);
    zmq_setsockopt(from, ZMQ_LINGER, &none, sizeof none);
    expect_next(SIZE_MAX / 2, SIZE_MAX / 2);
    came = !zmq_bind(to, name);
    gate = take_made();
    came = came && gate >= 0 && !zmq_connect(from, name) &&
           zmq_send(from, "", 1, 0) == 1 && zmq_recv(to, &byte, 1, 0) == 1;
    return came && slots[gate].heard;
}

static int
does_guard(void)
{
    static atomic_int proved;
    void *context, *to, *from;

    if (proved)
        return 1;
    context = zmq_ctx_new();
    to = context ? zmq_socket(context, ZMQ_PAIR) : NULL;
    from = context ? zmq_socket(context, ZMQ_PAIR) : NULL;
    proved = to && from && hears_byte(to, from);
    if (to)
        zmq_close(to);
    if (from)
        zmq_close(from);
    if (context)
        zmq_ctx_term(context);
    return proved;
}

static const struct wire_gate gate_of_tools = {
    .does_guard = does_guard,
    .expect_next = expect_next,
    .take_made = take_made,
    .expect_known = expect_known,
    .note_drained = note_drained,
    .count_read = count_read,
    .admit_peer = admit_peer,
    .has_met = has_met,
    .take_refused = take_refused,
};

__attribute__((constructor)) static void
stand_there(void)
{
    wire_gate_set(&gate_of_tools);
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
    if (coming.wanted && fd >= 0 && fd < WIRE_GATE_FDS) {
        slots[fd].stranger = coming.stranger;
        slots[fd].known = coming.known;
        slots[fd].cut = slots[fd].away = 0;
        slots[fd].met = slots[fd].heard = 0;
        slots[fd].drained = births;
        slots[fd].kind = GATE;
        coming.made = fd;
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

/* Numbers go round, so that one comes again as late as can be: what is unread
 * of the one who had it before is hardly there any more. */
static int
move_up(int fd)
{
    static atomic_int last;
    const int most = most_fds();
    int to = fcntl(fd, F_DUPFD_CLOEXEC, last + 1 < most ? last + 1 : fd);

    if (to < 0 || to >= most) {
        if (to >= 0)
            close(to);
        last = 0;
        return fd;
    }
    close(fd);
    last = to;
    return to;
}

static void
begin(int fd, int gate)
{
    struct slot *peer = &slots[fd];

    pthread_mutex_lock(&peers);
    peer->again = peer->born && peer->gate == gate;
    peer->gate = gate;
    peer->admitted = 0;
    peer->born = ++births;
    peer->got = peer->read = 0;
    peer->since = clock_now();
    peer->kind = PEER;
    pthread_mutex_unlock(&peers);
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
        peer = move_up(peer);
        begin(peer, fd);
    } else if (peer >= 0 && peer < WIRE_GATE_FDS)
        slots[peer].kind = NOTHING;
    return peer;
}

int
accept(int fd, struct sockaddr *restrict at, socklen_t *restrict len)
{
    return accept4(fd, at, len, 0);
}

/* So many bytes came: 1 when a peer has more under way than it may. */
static int
is_beyond(struct slot *peer, size_t came)
{
    const double spent = (clock_now() - peer->since) * WIRE_GATE_RATE;
    struct slot *gate;
    size_t may;
    int beyond;

    pthread_mutex_lock(&peers);
    gate = slot_of(peer->gate, GATE);
    peer->got += came;
    may = gate ? peer->admitted ? gate->known : gate->stranger : 0;
    beyond = gate && peer->got - peer->read > may + (size_t)spent;
    pthread_mutex_unlock(&peers);
    if (gate)
        gate->heard = 1;
    if (beyond)
        gate->cut++;
    return beyond;
}

ssize_t
recv(int fd, void *bytes, size_t len, int flags)
{
    struct slot *peer = slot_of(fd, PEER);
    const ssize_t n =
        (ssize_t)syscall(SYS_recvfrom, fd, bytes, len, flags, NULL, NULL);

    if (!peer || n <= 0 || !is_beyond(peer, (size_t)n))
        return n;
    errno = ECONNRESET;
    return -1;
}
