#define _DEFAULT_SOURCE // syscall()
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "wire/gate.h"

/*
 * The gate of foil's tools and of their tests.
 *
 * ZeroMQ bounds the size of a part, and the number of messages in a queue.  It
 * bounds neither the parts of one message, which it keeps until the last one
 * came, nor connections; and before the handshake a stranger may send a part of
 * any size.  So this file defines socket(), listen(), accept(), accept4(),
 * recv(), send() and close(): libzmq finds them here before the C library's.
 *
 * - It counts the bytes of a connection that came and belong to no message that
 *   the tool has read.  Beyond the bound of the peer recv() returns ECONNRESET,
 *   and ZeroMQ frees all that it kept of the connection.  RATE bytes a second
 *   are not counted, for those of ZMTP itself.
 * - A connection whose descriptor would be FDS - SPARE or above (or that much
 *   below RLIMIT_NOFILE) is closed at once, so that the tool can still open its
 *   files.
 * - EMFILE, which aborts libzmq 4.3.4 on ipc, becomes ECONNABORTED.
 *
 * All admitted peers of a socket together have the bound of one.  Beyond it,
 * the peer whose message has been incomplete for longest, with SMALL bytes at
 * least, is cut off: a peer that sends its message at once stays.
 *
 * send() finds the peers that do not read: one that has something to read, and
 * takes less than TAKES bytes a second, is stuck.
 *
 * Only connections that a bound socket accepted are touched.
 *
 * A message has the descriptor it came by, which may be another connection's
 * when the tool reads it.  So each connection has a number, too, and a message
 * by a descriptor that an earlier connection of this gate had counts for the
 * present one only after the socket was empty.
 */
enum {
    FDS = 1024,
    SPARE = 64,
    RATE = 32,
    SMALL = 64 << 10,
    TAKES = 64 << 10,
    FRAME = 48 /* around each part: ZMTP's 2 or 9 bytes, and CURVE's 33 */
};

enum kind { NOTHING, GATE, PEER };

/* One a descriptor: a socket that listens, or a connection that it took. */
static struct slot {
    atomic_int kind;
    atomic_size_t stranger, known; /* GATE: bytes under way */
    atomic_uint
        refused[WIRE_GATE_REFUSALS]; /* GATE: connections, not yet told */
    atomic_int met, heard;           /* GATE: one was not; bytes came by here */
    unsigned long drained;           /* GATE: all older ones are read */
    size_t held, left;               /* GATE: bytes under way of all admitted
                                      * peers; of closed peers, not drained */
    int gate, again, admitted;       /* PEER; again: it had one before */
    unsigned long born;              /* PEER: which connection of all */
    size_t got, read;                /* PEER: bytes so far */
    double since, moved;             /* PEER; moved: a message was read, or the
                                      * first byte came of what is under way */
    int behind;                      /* PEER: it has not taken all we sent */
    size_t took;   /* PEER: bytes, and when, since it was seen */
    double looked; /*       behind or was looked at last */
} slots[FDS];

/* Held for what a PEER's slot has, `drained`, `held` and `left`; so many were
 * accepted. */
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
    return fd >= 0 && fd < FDS && slots[fd].kind == (int)kind ? &slots[fd]
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
    if (slot) {
        slot->drained = births;
        slot->left = 0;
    }
    pthread_mutex_unlock(&peers);
}

static size_t
under_way(const struct slot *peer)
{
    return peer->got - peer->read;
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
    size_t more = bytes + parts * FRAME;

    pthread_mutex_lock(&peers);
    slot = owner_of(gate, fd);
    if (slot) {
        more = more < under_way(slot) ? more : under_way(slot);
        slot->read += more;
        slot->moved = clock_now();
        if (slot->admitted)
            slots[gate].held -= more;
    }
    pthread_mutex_unlock(&peers);
}

static void
admit_peer(int gate, int fd)
{
    struct slot *slot;

    pthread_mutex_lock(&peers);
    slot = owner_of(gate, fd);
    if (slot && !slot->admitted) {
        slot->admitted = 1;
        slots[gate].held += under_way(slot);
    }
    pthread_mutex_unlock(&peers);
}

static int
has_met(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot && slot->met;
}

static unsigned
take_refused(int gate, enum wire_gate_refusal why)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot ? atomic_exchange(&slot->refused[why], 0) : 0;
}

/* ---- who is closed ------------------------------------------------------ */

/* A connection ends: 1 when whole messages of it may be there still. */
static void
forget_peer(struct slot *peer, int is_left)
{
    struct slot *gate = slot_of(peer->gate, GATE);

    if (gate && peer->admitted) {
        gate->held -= under_way(peer);
        gate->left += is_left ? under_way(peer) : 0;
    }
    peer->kind = NOTHING;
}

/* ZeroMQ sees the end of the connection, and frees what it has of it. */
static void
hang_up(int fd, enum wire_gate_refusal why)
{
    slots[slots[fd].gate].refused[why]++;
    forget_peer(&slots[fd], 0);
    shutdown(fd, SHUT_RDWR);
}

/* The admitted peer which has had a message under way for longest, or -1. */
static int
longest_under_way(int gate)
{
    int oldest = -1;

    for (int fd = 0; fd < FDS; fd++) {
        const struct slot *peer = slot_of(fd, PEER);

        if (peer && peer->gate == gate && peer->admitted &&
            under_way(peer) > SMALL &&
            (oldest < 0 || peer->moved < slots[oldest].moved))
            oldest = fd;
    }
    return oldest;
}

/* So many bytes were taken from us. */
static void
count_taken(int fd, size_t bytes)
{
    struct slot *peer;

    pthread_mutex_lock(&peers);
    peer = slot_of(fd, PEER);
    if (peer)
        peer->took += bytes;
    pthread_mutex_unlock(&peers);
}

/* 1 when a connection had something to read all the time since the last look, a
 * second ago at least, and took next to nothing. */
static int
is_stuck(int fd, double now)
{
    struct slot *peer = &slots[fd];
    const double seconds = now - peer->looked;
    int queued = 0, stuck;

    if (ioctl(fd, SIOCOUTQ, &queued) || !queued) {
        peer->behind = 0;
        return 0;
    }
    if (peer->behind && seconds < 1)
        return 0;
    stuck = peer->behind && (double)peer->took < seconds * TAKES;
    peer->behind = 1;
    peer->looked = now;
    peer->took = 0;
    return stuck;
}

static void
drop_stuck(int gate)
{
    const double now = clock_now();

    pthread_mutex_lock(&peers);
    for (int fd = 0; fd < FDS; fd++) {
        const struct slot *peer = slot_of(fd, PEER);

        if (peer && peer->gate == gate && is_stuck(fd, now))
            hang_up(fd, WIRE_GATE_STUCK);
    }
    pthread_mutex_unlock(&peers);
}

static int
has_heard(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot && slot->heard;
}

static const struct wire_gate gate_of_tools = {
    .expect_next = expect_next,
    .take_made = take_made,
    .expect_known = expect_known,
    .note_drained = note_drained,
    .count_read = count_read,
    .admit_peer = admit_peer,
    .has_met = has_met,
    .has_heard = has_heard,
    .take_refused = take_refused,
    .drop_stuck = drop_stuck,
};

__attribute__((constructor)) static void
install_gate(void)
{
    wire_gate = &gate_of_tools;
}

/* ---- in the place of the C library's ----------------------------------- */

/* A descriptor that ZeroMQ connects with may have been a peer's before. */
int
socket(int domain, int type, int protocol)
{
    const int fd = (int)syscall(SYS_socket, domain, type, protocol);

    if (fd >= 0 && fd < FDS)
        slots[fd].kind = NOTHING;
    return fd;
}

int
listen(int fd, int backlog)
{
    if (coming.wanted && fd >= 0 && fd < FDS) {
        slots[fd].stranger = coming.stranger;
        slots[fd].known = coming.known;
        for (int i = 0; i < WIRE_GATE_REFUSALS; i++)
            slots[fd].refused[i] = 0;
        slots[fd].held = slots[fd].left = 0;
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
    rlim_t most = FDS;

    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < most)
        most = files.rlim_cur;
    return (int)(most > 2 * SPARE ? most - SPARE : most / 2);
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
begin_peer(int fd, int gate)
{
    struct slot *peer = &slots[fd];

    pthread_mutex_lock(&peers);
    peer->again = peer->born && peer->gate == gate;
    peer->gate = gate;
    peer->admitted = 0;
    peer->born = ++births;
    peer->got = peer->read = peer->took = 0;
    peer->behind = 0;
    peer->since = peer->moved = clock_now();
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
        gate->refused[WIRE_GATE_CROWDED]++;
        errno = ECONNABORTED;
        return -1;
    }
    if (peer < 0 && errno == EMFILE)
        errno = ECONNABORTED;
    if (gate && peer >= 0) {
        gate->met = 1;
        peer = move_up(peer);
        begin_peer(peer, fd);
    } else if (peer >= 0 && peer < FDS)
        slots[peer].kind = NOTHING;
    return peer;
}

int
accept(int fd, struct sockaddr *restrict at, socklen_t *restrict len)
{
    return accept4(fd, at, len, 0);
}

/* Which connection is to end, since it, or all together, have more under way
 * than they may; or -1. */
static int
find_greedy(int fd)
{
    const struct slot *peer = &slots[fd], *gate = slot_of(peer->gate, GATE);
    const double spent = (clock_now() - peer->since) * RATE;
    size_t may;
    int longest;

    if (!gate)
        return -1;
    may = peer->admitted ? gate->known : gate->stranger;
    if (under_way(peer) > may + (size_t)spent)
        return fd;
    if (!peer->admitted || gate->held + gate->left <= gate->known)
        return -1;
    longest = longest_under_way(peer->gate);
    return longest >= 0 ? longest : fd;
}

/* So many bytes came: 1 when its connection is to end for them. */
static int
count_got(int fd, size_t came)
{
    struct slot *peer, *gate;
    int greedy = -1;

    pthread_mutex_lock(&peers);
    peer = slot_of(fd, PEER);
    gate = peer ? slot_of(peer->gate, GATE) : NULL;
    if (gate) {
        gate->heard = 1;
        if (under_way(peer) == 0)
            peer->moved = clock_now();
        peer->got += came;
        if (peer->admitted)
            gate->held += came;
        greedy = find_greedy(fd);
    }
    if (greedy >= 0)
        hang_up(greedy, WIRE_GATE_GREEDY);
    pthread_mutex_unlock(&peers);
    return greedy == fd;
}

ssize_t
recv(int fd, void *bytes, size_t len, int flags)
{
    const ssize_t n =
        (ssize_t)syscall(SYS_recvfrom, fd, bytes, len, flags, NULL, NULL);

    if (n <= 0 || !slot_of(fd, PEER) || !count_got(fd, (size_t)n))
        return n;
    errno = ECONNRESET;
    return -1;
}

ssize_t
send(int fd, const void *bytes, size_t len, int flags)
{
    const ssize_t n =
        (ssize_t)syscall(SYS_sendto, fd, bytes, len, flags, NULL, 0);

    if (n > 0 && slot_of(fd, PEER))
        count_taken(fd, (size_t)n);
    return n;
}

/* ThreadSanitizer has to see that a number is free again. */
static int
close_there(int fd)
{
#ifdef __SANITIZE_THREAD__
    extern int __interceptor_close(int fd);

    return __interceptor_close(fd);
#else
    return (int)syscall(SYS_close, fd);
#endif
}

int
close(int fd)
{
    if (slot_of(fd, PEER)) {
        pthread_mutex_lock(&peers);
        if (slot_of(fd, PEER))
            forget_peer(&slots[fd], 1);
        pthread_mutex_unlock(&peers);
    } else if (slot_of(fd, GATE)) {
        slots[fd].kind = NOTHING;
    }
    return close_there(fd);
}
