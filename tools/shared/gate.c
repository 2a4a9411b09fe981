#define _DEFAULT_SOURCE // syscall()
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/clock.h"
#include "wire/gate.h"

/*
 * Limits on connections and memory for foil's tools and their tests.
 *
 * ZeroMQ bounds the size of a message part and the number of queued messages.
 * It bounds neither the parts of one message, which it stores until the last
 * one has arrived, nor connections; and before the handshake a stranger may
 * send a part of any size.  So this file defines socket(), listen(), accept(),
 * accept4(), recv(), send() and close(), which libzmq then calls instead of
 * those of the C library.
 *
 * - It counts the unread bytes of each connection: those received, less those
 *   of messages that the tool has read.  Above the peer's limit recv() returns
 *   ECONNRESET, and ZeroMQ frees all memory of the connection.  RATE bytes a
 *   second are not counted, as an allowance for ZMTP itself.
 * - A new connection with a descriptor of FDS - SPARE or above (or that much
 *   below RLIMIT_NOFILE) is closed at once, so the tool can still open files.
 * - EMFILE, which makes libzmq 4.3.4 abort on ipc, becomes ECONNABORTED.
 *
 * All admitted peers of a socket together have the limit of one peer.  Above
 * it, the peer with the oldest incomplete message of at least SMALL bytes is
 * disconnected: a peer that sends its message without delay stays.
 *
 * send() detects peers that do not read: a peer is stuck if it has data to
 * read, and reads less than READS_MIN bytes a second.
 *
 * Only connections accepted by a bound socket are limited.
 *
 * A message has the descriptor that it arrived on, which may belong to another
 * connection when the tool reads it.  So connections are numbered.  If an
 * earlier connection of this socket had the same descriptor, messages count for
 * the present one only once the tool has read all older ones.
 */
enum {
    FDS = 1024,
    SPARE = 64,
    RATE = 32,
    SMALL = 64 << 10,
    READS_MIN = 64 << 10,
    FRAME = 48 /* bytes added to a part: 2 or 9 of ZMTP, 33 of CURVE */
};

enum kind { NOTHING, GATE, PEER };

/* State of a descriptor: a listening socket (GATE), or an accepted connection
 * (PEER). */
static struct slot {
    atomic_int kind;
    // of a GATE
    atomic_size_t stranger, known;           // limits of unread bytes
    atomic_uint refused[WIRE_GATE_REFUSALS]; // connections, not yet reported
    atomic_int accepted, received;           // 1: any connection; any bytes
    unsigned long drained; // messages of connections up to this number are read
    size_t held;           // unread bytes of all admitted peers
    size_t left;           // unread bytes of closed peers, not drained
    // of a PEER
    int gate, reused, admitted; // reused: the gate had this descriptor before
    unsigned long number;       // of the connection
    size_t got, read;           // bytes so far
    double since, moved; // moved: when a message was read, or the first unread
                         // byte arrived
    int has_unsent;      // it has not read all bytes sent to it
    size_t took;         // bytes it has read since `checked`
    double checked;      // when is_stuck() checked last
} slots[FDS];

/* Protects the fields of a PEER, and `drained`, `held`, `left` and
 * `connections`. */
static pthread_mutex_t peers = PTHREAD_MUTEX_INITIALIZER;
static unsigned long connections;

/* The next gate that listen() makes in this thread. */
static _Thread_local struct {
    size_t stranger, known;
    int wanted, listener;
} next_gate;

static struct slot *
slot_of(int fd, enum kind kind)
{
    return fd >= 0 && fd < FDS && slots[fd].kind == (int)kind ? &slots[fd]
                                                              : NULL;
}

static void
expect_next(size_t stranger, size_t known)
{
    next_gate.stranger = stranger;
    next_gate.known = known;
    next_gate.wanted = 1;
    next_gate.listener = -1;
}

static int
take_listener(void)
{
    next_gate.wanted = 0;
    return next_gate.listener;
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
        slot->drained = connections;
        slot->left = 0;
    }
    pthread_mutex_unlock(&peers);
}

static size_t
unread_bytes(const struct slot *peer)
{
    return peer->got - peer->read;
}

/* The peer whose message is read from this descriptor: NULL if it may be of an
 * earlier connection with the same descriptor. */
static struct slot *
find_owner(int gate, int fd)
{
    struct slot *slot = slot_of(fd, PEER);

    return slot && slot->gate == gate &&
                   (!slot->reused || slot->number <= slots[gate].drained)
               ? slot
               : NULL;
}

/* Never counts more than was unread: the bytes added to a part are an
 * estimate. */
static void
count_read(int gate, int fd, size_t parts, size_t bytes)
{
    struct slot *slot;
    size_t more = bytes + parts * FRAME;

    pthread_mutex_lock(&peers);
    slot = find_owner(gate, fd);
    if (slot) {
        more = more < unread_bytes(slot) ? more : unread_bytes(slot);
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
    slot = find_owner(gate, fd);
    if (slot && !slot->admitted) {
        slot->admitted = 1;
        slots[gate].held += unread_bytes(slot);
    }
    pthread_mutex_unlock(&peers);
}

static int
has_accepted(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot && slot->accepted;
}

static unsigned
take_refused(int gate, enum wire_gate_refusal why)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot ? atomic_exchange(&slot->refused[why], 0) : 0;
}

/* ---- disconnecting peers ------------------------------------------------ */

/* Ends the count of a connection; is_left: complete messages of it may still
 * be queued. */
static void
forget_peer(struct slot *peer, int is_left)
{
    struct slot *gate = slot_of(peer->gate, GATE);

    if (gate && peer->admitted) {
        gate->held -= unread_bytes(peer);
        gate->left += is_left ? unread_bytes(peer) : 0;
    }
    peer->kind = NOTHING;
}

/* ZeroMQ then sees the end of the connection and frees its memory. */
static void
hang_up(int fd, enum wire_gate_refusal why)
{
    slots[slots[fd].gate].refused[why]++;
    forget_peer(&slots[fd], 0);
    shutdown(fd, SHUT_RDWR);
}

/* The admitted peer with the oldest unread message, or -1. */
static int
find_oldest_unread(int gate)
{
    int oldest = -1;

    for (int fd = 0; fd < FDS; fd++) {
        const struct slot *peer = slot_of(fd, PEER);

        if (peer && peer->gate == gate && peer->admitted &&
            unread_bytes(peer) > SMALL &&
            (oldest < 0 || peer->moved < slots[oldest].moved))
            oldest = fd;
    }
    return oldest;
}

/* 1 if a connection had data to read ever since the last check, at least a
 * second ago, and read almost nothing. */
static int
is_stuck(int fd, double now)
{
    struct slot *peer = &slots[fd];
    const double seconds = now - peer->checked;
    int queued = 0, stuck;

    if (ioctl(fd, SIOCOUTQ, &queued) || !queued) {
        peer->has_unsent = 0;
        return 0;
    }
    if (peer->has_unsent && seconds < 1)
        return 0;
    stuck = peer->has_unsent && (double)peer->took < seconds * READS_MIN;
    peer->has_unsent = 1;
    peer->checked = now;
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
has_received(int gate)
{
    struct slot *slot = slot_of(gate, GATE);

    return slot && slot->received;
}

static const struct wire_gate gate_of_tools = {
    .expect_next = expect_next,
    .take_listener = take_listener,
    .expect_known = expect_known,
    .note_drained = note_drained,
    .count_read = count_read,
    .admit_peer = admit_peer,
    .has_accepted = has_accepted,
    .has_received = has_received,
    .take_refused = take_refused,
    .drop_stuck = drop_stuck,
};

__attribute__((constructor)) static void
install_gate(void)
{
    wire_gate = &gate_of_tools;
}

/* ---- replacements of C library functions -------------------------------- */

/* A descriptor for an outgoing connection may have been a peer's before. */
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
    if (next_gate.wanted && fd >= 0 && fd < FDS) {
        slots[fd].stranger = next_gate.stranger;
        slots[fd].known = next_gate.known;
        for (int i = 0; i < WIRE_GATE_REFUSALS; i++)
            slots[fd].refused[i] = 0;
        slots[fd].held = slots[fd].left = 0;
        slots[fd].accepted = slots[fd].received = 0;
        slots[fd].drained = connections;
        slots[fd].kind = GATE;
        next_gate.listener = fd;
    }
    return (int)syscall(SYS_listen, fd, backlog);
}

/* Descriptors from here on are reserved for the tool's files. */
static int
most_fds(void)
{
    struct rlimit files;
    rlim_t most = FDS;

    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < most)
        most = files.rlim_cur;
    return (int)(most > 2 * SPARE ? most - SPARE : most / 2);
}

/* Uses descriptors in rotation, so that one is reused as late as possible: by
 * then its earlier connection has hardly any unread messages. */
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
    peer->reused = peer->number && peer->gate == gate;
    peer->gate = gate;
    peer->admitted = 0;
    peer->number = ++connections;
    peer->got = peer->read = peer->took = 0;
    peer->has_unsent = 0;
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
        gate->accepted = 1;
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

/* The connection to end because it, or all together, exceed the limit of
 * unread bytes; or -1. */
static int
find_over_limit(int fd)
{
    const struct slot *peer = &slots[fd], *gate = slot_of(peer->gate, GATE);
    const double spent = (clock_now() - peer->since) * RATE;
    size_t may;
    int longest;

    if (!gate)
        return -1;
    may = peer->admitted ? gate->known : gate->stranger;
    if (unread_bytes(peer) > may + (size_t)spent)
        return fd;
    if (!peer->admitted || gate->held + gate->left <= gate->known)
        return -1;
    longest = find_oldest_unread(peer->gate);
    return longest >= 0 ? longest : fd;
}

/* Counts received bytes: 1 if the connection must end. */
static int
count_got(int fd, size_t came)
{
    struct slot *peer, *gate;
    int greedy = -1;

    pthread_mutex_lock(&peers);
    peer = slot_of(fd, PEER);
    gate = peer ? slot_of(peer->gate, GATE) : NULL;
    if (gate) {
        gate->received = 1;
        if (unread_bytes(peer) == 0)
            peer->moved = clock_now();
        peer->got += came;
        if (peer->admitted)
            gate->held += came;
        greedy = find_over_limit(fd);
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
    struct slot *peer;

    if (n <= 0 || !slot_of(fd, PEER))
        return n;
    pthread_mutex_lock(&peers);
    peer = slot_of(fd, PEER);
    if (peer)
        peer->took += (size_t)n;
    pthread_mutex_unlock(&peers);
    return n;
}

/* ThreadSanitizer must see that the descriptor is free again. */
static int
close_descriptor(int fd)
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
    return close_descriptor(fd);
}
