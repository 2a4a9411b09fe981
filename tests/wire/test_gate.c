/* Mostly waits, 3 s */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "t.h"
#include "util/limits.h"
#include "wire/gate.h"

#include "by_hand.h"

static const struct wire_limits none = {0};

/* ---- limits ------------------------------------------------------------- */

/* A frame of 1 GiB before the handshake, as far as it goes; whether we are
 * disconnected then. */
static size_t
flood(struct wire *wire, const uint8_t *zeros, size_t most, int *cut)
{
    const char huge[] = "\6\0\0\0\0\x3f\xff\xff\0";
    const int fd = reach(at("a"));
    size_t sent;

    push(wire, fd, "\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL", 16);
    push(wire, fd, zeros, 64 - 16);
    push(wire, fd, huge, 9);
    sent = push(wire, fd, zeros, most);
    *cut = is_cut(wire, fd);
    close(fd);
    return sent;
}

/* For a peer that is not admitted. */
static void
unknown_peer(void)
{
    const size_t slack = 2 * MIB; // of the system's own queues
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_limits limits = {.edge = WIRE_EDGE_ANY};
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_ROUTER, at("a"), NULL, &limits, &err);
    uint8_t *zeros = calloc(1, 16 * MIB);
    int cut = 0, reported = 0, fd;
    size_t sent = 0;

    // on a busy machine the two seconds of a handshake may be over before
    for (int tries = 0; tries < 30 && !reported; tries++) {
        sent = flood(wire, zeros, 16 * MIB, &cut);
        *err.msg = '\0';
        reported = is_reported(wire, &err);
    }
    T(sent < slack, "a frame of 1 GiB before the handshake is refused");
    T(cut, "by closing the connection");
    T(reported, "the refusal of a frame is reported: %s", err.msg);

    fd = reach(at("a"));
    greet(wire, fd, "DEALER");
    T(endless(wire, fd, 4 * KIB, 16 * MIB) < slack && is_cut(wire, fd),
      "an endless message of small parts is cut off");
    close(fd);
    fd = reach(at("a"));
    greet(wire, fd, "DEALER");
    T(endless(wire, fd, 8 * MIB, 16 * MIB) < slack && is_cut(wire, fd),
      "an endless message of large parts is cut off");
    close(fd);
    free(zeros);
    wire_sock_close(sock);
    wire_close(wire);
}

/* A peer that is read may continue: only unread bytes count. */
static void
talkative(void)
{
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_ROUTER, at("b"), NULL, &none, &err);
    struct wire_msg *msg,
        *heartbeat = wire_heartbeat_put(&(struct wire_heartbeat){0});
    const struct wire_part head = wire_msg_part(heartbeat, 1);
    int fd = reach(at("b")), received = 0;

    greet(wire, fd, "DEALER");
    for (int i = 0; i < 10000 && received == i; i++) {
        struct wire_id from;

        send_by_hand(wire, fd, "foil3.heartbeat", &head);
        wire_wait(wire, -1, 5, &err);
        if (wire_sock_recv(sock, &from, &msg, &err) > 0) {
            received++;
            wire_msg_free(msg);
        }
    }
    T(received == 10000, "10,000 small messages that are read are accepted: %d",
      received);
    wire_msg_free(heartbeat);
    close(fd);
    wire_sock_close(sock);
    wire_close(wire);
}

/* Twenty descriptors of unknown peers are free again. */
static void
strangers_come_and_go(struct wire *a, struct wire *b, const char *endpoint)
{
    int fds[20];

    for (int i = 0; i < 20; i++)
        fds[i] = reach(endpoint);
    turn(a, b);
    for (int i = 0; i < 20; i++)
        close(fds[i]);
    for (int i = 0; i < 20; i++)
        turn(a, b);
}

/* A descriptor that a peer had is reused for a connection of ours. */
static void
reused(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *router = wire_sock_open(a, WIRE_ROUTER, at("e"), NULL,
                                              &none, &err),
                     *dealer;
    struct wire_hello hello = hello_of("train", "", digest_a, 10);
    struct wire_msg *msg, *big;
    struct wire_id from;
    int received = 0;

    memset(hello.run, 'x', sizeof hello.run - 1);
    big = wire_hello_put(&hello);
    strangers_come_and_go(a, b, at("e"));
    dealer = wire_sock_open(b, WIRE_DEALER, at("e"), NULL, &none, &err);
    wire_sock_send_when_connected(dealer, big);
    for (int i = 0; i < 500 && wire_sock_recv(router, &from, &msg, &err) <= 0;
         i++)
        turn(a, b);
    wire_msg_free(msg);
    // more than an unknown peer may send
    for (int i = 0; i < 100000 && received < 1000; i++) {
        wire_sock_send(router, &from, big);
        if (i % 8 == 0)
            turn(a, b);
        while (wire_sock_recv(dealer, NULL, &msg, &err) > 0) {
            received++;
            wire_msg_free(msg);
        }
    }
    T(received >= 1000,
      "our connection to a binder is not counted, whichever peer "
      "had its descriptor");
    wire_msg_free(big);
    wire_sock_close(dealer);
    wire_sock_close(router);
    wire_close(a);
    wire_close(b);
}

/* In a process that may open n files: 0 when a peer can connect in the end. */
static int
crowded(int n)
{
    const struct rlimit few = {(rlim_t)n, (rlim_t)n};
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_open(wire, WIRE_ROUTER, at("f"), NULL, &none, &err);
    struct wire_msg *msg;
    struct wire_id from;
    int reported = 0, rc = 0;

    if (setrlimit(RLIMIT_NOFILE, &few))
        return 1;
    while (rc == 0) { // until a message of a peer arrives
        if (wire_wait(wire, -1, 10, &err) < 0)
            return 2;
        reported |= wire_refused(wire, &err) && strstr(err.msg, "about 940");
        rc = wire_sock_recv(sock, &from, &msg, &err);
    }
    if (rc > 0)
        wire_msg_free(msg);
    wire_sock_close(sock);
    wire_close(wire);
    return rc < 0 || !reported;
}

static void
crowd(int files)
{
    enum { MANY = 1200 };
    struct err err = {""};
    struct wire *wire = NULL;
    struct wire_sock *sock;
    struct wire_msg *heartbeat =
        wire_heartbeat_put(&(struct wire_heartbeat){0});
    static int fds[MANY];
    int status = -1, held = 0;
    pid_t pid = fork();

    if (!pid)
        _exit(crowded(files));
    do // until it listens
        fds[0] = reach(at("f"));
    while (fds[0] < 0);
    for (int i = 1; i < MANY; i++)
        held += (fds[i] = reach(at("f"))) >= 0;
    T(waitpid(pid, &status, WNOHANG) == 0,
      "%d files, %d connections: the process survives", files, held);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    wire = wire_open(NULL, &err);
    sock = wire_sock_open(wire, WIRE_DEALER, at("f"), NULL, &none, &err);
    for (int i = 0; i < 4000 && waitpid(pid, &status, WNOHANG) == 0; i++) {
        if (i % 100 == 0)
            wire_sock_send(sock, NULL, heartbeat);
        wire_wait(wire, -1, 0.005, &err);
    }
    T(WIFEXITED(status) && WEXITSTATUS(status) == 0,
      "it reports them, and a later peer is served");
    wire_msg_free(heartbeat);
    wire_sock_close(sock);
    wire_close(wire);
    unlink(at("f") + 6);
}

/* A connection to a listening descriptor; accepted until it has `want`. */
static int
taken_as(int listens, const char *endpoint, int want, int *other)
{
    int fd = -1;

    for (int i = 0; i < 4096; i++) {
        *other = reach(endpoint);
        fd = accept(listens, NULL, NULL);
        if (want < 0 || fd == want || fd < 0)
            return fd;
        close(fd);
        close(*other);
    }
    return -1;
}

/* 1 when recv() reads more than an unknown peer may have unread. */
static int
lets_in(int fd, int other)
{
    static char bytes[4 * KIB];

    return send(other, bytes, sizeof bytes, MSG_NOSIGNAL) == sizeof bytes &&
           recv(fd, bytes, sizeof bytes, 0) == sizeof bytes;
}

static void
generations(void)
{
    const char *endpoint = at("g");
    struct sockaddr_un here = {.sun_family = AF_UNIX};
    const int listens = socket(AF_UNIX, SOCK_STREAM, 0);
    int gate, first, fd, other;

    snprintf(here.sun_path, sizeof here.sun_path, "%s", endpoint + 6);
    T(!bind(listens, (struct sockaddr *)&here, sizeof here), "bound");
    wire_gate->expect_next(KIB, MIB);
    listen(listens, 8);
    gate = wire_gate->take_listener();
    first = taken_as(listens, endpoint, -1, &other);
    wire_gate->admit_peer(gate, first);
    T(lets_in(first, other), "an admitted peer may have more unread bytes");
    close(first);
    close(other);
    fd = taken_as(listens, endpoint, -1, &other);
    T(fd != first, "the next connection has another descriptor");
    close(fd);
    close(other);
    fd = taken_as(listens, endpoint, first, &other);
    T(fd == first, "later one has the same");
    wire_gate->admit_peer(gate, fd);
    T(!lets_in(fd, other),
      "a message of the previous connection does not admit it");
    close(other);
    close(fd);
    fd = taken_as(listens, endpoint, first, &other);
    wire_gate->note_drained(gate);
    wire_gate->admit_peer(gate, fd);
    T(lets_in(fd, other), "one received after all was read does");
    close(other);
    close(fd);
    close(listens);
    unlink(endpoint + 6);
}

int
main(void)
{
    nofile_raise();
    setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_open();
    crowd(2048);
    crowd(1024);
    crowd(60);
    unknown_peer();
    talkative();
    reused();
    generations();
    scratch_close();
    return t_done();
}
