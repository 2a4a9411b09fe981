/* Mostly waits, 3 s */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "t.h"
#include "util/nofile.h"
#include "wire/bounds.h"
#include "wire/feed.h"

#include "ends.h"

enum { KIB = 1024, MIB = 1 << 20 };

/* Seconds: what comes late on a busy machine is told from what never comes. */
enum { PATIENCE = 60 };

static const struct wire_limits none = {0};

/* ---- a stranger who speaks ZMTP by hand --------------------------------- */

static int
reach(const char *endpoint)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);

    snprintf(to.sun_path, sizeof to.sun_path, "%s", endpoint + 6);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to)) {
        close(fd);
        return -1;
    }
    fcntl(fd, F_SETFL, O_NONBLOCK);
    return fd;
}

/* Send all while both are turned; how much went before we were cut off. */
static size_t
push(struct wire *wire, int fd, const void *bytes, size_t len)
{
    const double until = clock_now() + 10;
    struct err err;
    size_t sent = 0;

    while (sent < len && clock_now() < until) {
        ssize_t n =
            send(fd, (const char *)bytes + sent, len - sent, MSG_NOSIGNAL);

        if (n > 0)
            sent += (size_t)n;
        else if (errno != EAGAIN)
            break;
        else
            wire_wait(wire, -1, 0.001, &err);
    }
    return sent;
}

/* 1 when the other side has closed. */
static int
is_cut(struct wire *wire, int fd)
{
    const double until = clock_now() + PATIENCE;
    struct err err;
    char bytes[256];

    while (clock_now() < until) {
        ssize_t n = read(fd, bytes, sizeof bytes);

        if (n == 0 || (n < 0 && errno != EAGAIN))
            return 1;
        wire_wait(wire, -1, 0.005, &err);
    }
    return 0;
}

/* 1 when it is said that a connection was refused, within seconds: who closes
 * is a thread of ZeroMQ's, and tells us after it. */
static int
is_said(struct wire *wire, struct err *why)
{
    const double until = clock_now() + 5;
    struct err err;

    while (!wire_refused(wire, why) && clock_now() < until)
        wire_wait(wire, -1, 0.005, &err);
    return *why->msg != '\0';
}

/* The whole handshake: nothing may follow before the other side is ready. */
static void
greet(struct wire *wire, int fd, const char *type)
{
    size_t came = 0;
    struct err err;
    char bytes[128] = "\xff\0\0\0\0\0\0\0\0\x7f\3\0NULL";
    const size_t n = strlen(type);
    char *ready = bytes + 64;

    ready[0] = 4;
    ready[1] = (char)(6 + 12 + 4 + n);
    memcpy(ready + 2, "\5READY\13Socket-Type\0\0\0", 6 + 12 + 3);
    ready[2 + 6 + 12 + 3] = (char)n;
    memcpy(ready + 2 + 6 + 12 + 4, type, n);
    push(wire, fd, bytes, 64 + 2 + 6 + 12 + 4 + n);
    for (int i = 0; i < 1000 && came < 64 + 27; i++) { // of the shortest READY
        ssize_t got = read(fd, bytes, sizeof bytes);

        came += got > 0 ? (size_t)got : 0;
        wire_wait(wire, -1, 0.001, &err);
    }
}

/* Endless parts of so many bytes, each with more to come; bytes that went. */
static size_t
endless(struct wire *wire, int fd, size_t part, size_t most)
{
    uint8_t *frame = calloc(1, 9 + part);
    size_t sent = 0, n = 9 + part;

    frame[0] = 3;
    for (int i = 0; i < 8; i++)
        frame[8 - i] = (uint8_t)(part >> 8 * i);
    while (sent < most && n == 9 + part) {
        n = push(wire, fd, frame, 9 + part);
        sent += n;
    }
    free(frame);
    return sent;
}

/* One whole message of two short parts. */
static void
say(struct wire *wire, int fd, const char *kind, const struct wire_part *head)
{
    uint8_t bytes[1024];
    const size_t n = strlen(kind);

    bytes[0] = 1;
    bytes[1] = (uint8_t)n;
    memcpy(bytes + 2, kind, n);
    bytes[2 + n] = 0;
    bytes[3 + n] = (uint8_t)head->len;
    memcpy(bytes + 4 + n, head->data, head->len);
    push(wire, fd, bytes, 4 + n + head->len);
}

/* ---- what it may do ----------------------------------------------------- */

/* A frame of 1 GiB before the handshake, as far as it goes; whether we are cut
 * off then. */
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

/* Without having been admitted, whatever comes. */
static void
stranger(void)
{
    const size_t slack = 2 * MIB; // of the system's own queues
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_limits limits = {.edge = WIRE_EDGE_ANY};
    struct wire_sock *sock =
        wire_sock_bind(wire, WIRE_ROUTER, at("a"), &limits, &err);
    uint8_t *zeros = calloc(1, 16 * MIB);
    int cut = 0, said = 0, fd;
    size_t sent = 0;

    // on a busy machine the two seconds of a handshake may be over before
    for (int tries = 0; tries < 30 && !said; tries++) {
        sent = flood(wire, zeros, 16 * MIB, &cut);
        *err.msg = '\0';
        said = is_said(wire, &err);
    }
    T(sent < slack, "a frame of 1 GiB before the handshake is cut off");
    T(cut, "by closing the connection");
    T(said, "which is said: %s", err.msg);

    fd = reach(at("a"));
    greet(wire, fd, "DEALER");
    T(endless(wire, fd, 4 * KIB, 16 * MIB) < slack && is_cut(wire, fd),
      "a message of small parts without end is cut off");
    close(fd);
    fd = reach(at("a"));
    greet(wire, fd, "DEALER");
    T(endless(wire, fd, 8 * MIB, 16 * MIB) < slack && is_cut(wire, fd),
      "so is one of large parts");
    close(fd);
    free(zeros);
    wire_sock_close(sock);
    wire_close(wire);
}

/* Whoever is read may go on: what counts is what is under way. */
static void
talkative(void)
{
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_bind(wire, WIRE_ROUTER, at("b"), &none, &err);
    struct wire_msg *msg, *beat = wire_beat_put(&(struct wire_beat){0});
    const struct wire_part head = wire_msg_part(beat, 1);
    int fd = reach(at("b")), came = 0;

    greet(wire, fd, "DEALER");
    for (int i = 0; i < 10000 && came == i; i++) {
        struct wire_id from;

        say(wire, fd, "foil2.beat", &head);
        wire_wait(wire, -1, 5, &err);
        if (wire_sock_recv(sock, &from, &msg, &err) > 0) {
            came++;
            wire_msg_free(msg);
        }
    }
    T(came == 10000, "10,000 small messages that are read come in: %d", came);
    wire_msg_free(beat);
    close(fd);
    wire_sock_close(sock);
    wire_close(wire);
}

/* 1 when a peer whose hello was taken may have so many bytes under way. */
static int
admits(size_t part, size_t bytes, size_t expect, size_t n)
{
    const struct wire_server_config config = {
        .endpoint = at("c"),
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("train", "", digest_a, 10),
        .limits = {.max_batch = 2 * MIB},
    };
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_server *server = wire_server_open(wire, &config, &err);
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_msg *msg = wire_hello_put(&hello);
    const struct wire_part head = wire_msg_part(msg, 1);
    int fd = reach(at("c")), whole;
    struct wire_news news;
    int joined = 0;

    greet(wire, fd, "DEALER");
    say(wire, fd, "foil2.hello", &head);
    for (int i = 0; i < 1000 && !joined; i++) {
        wire_wait(wire, -1, 0.005, &err);
        while (wire_server_next(server, &news, &err) > 0)
            joined |= news.what == WIRE_JOINED;
    }
    if (expect)
        wire_server_expect(server, expect, n);
    whole = endless(wire, fd, part, bytes) >= bytes;
    for (int i = 0; i < 50; i++) // all is read by then
        wire_wait(wire, -1, 0.005, &err);
    whole &= send(fd, "\3", 1, MSG_NOSIGNAL) == 1;
    wire_msg_free(msg);
    close(fd);
    wire_server_close(server);
    wire_close(wire);
    return joined && whole;
}

static void
admitted(void)
{
    T(admits(64 * KIB, 3 * MIB, 0, 0),
      "who said hello may have under way what the socket was opened for");
    T(!admits(64 * KIB, 8 * MIB, 0, 0), "but not more, in many parts");
    T(!admits(7 * MIB, 7 * MIB, 0, 0), "or in one");
    T(admits(MIB, 7 * MIB, 3 * MIB, 1),
      "of what is expected one message more is let in");
    T(!admits(MIB, 14 * MIB, 3 * MIB, 1), "and nothing beyond");
}

static void
subscriptions(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_feed *feed = wire_feed_open(a, at("d"), &none, &err);
    struct wire_listener *listener =
        wire_listener_open(b, at("d"), "event metrics features", &none, &err);
    const uint8_t topic[] = {0, 9, 1, 'f', 'o', 'i', 'l', '1', '.', 'x', 'y'};
    const uint8_t longer[] = {2, 0, 0, 0, 0, 0, 0, 2, 1};
    int fd = reach(at("d")), followed = 0;
    size_t n = 0;

    greet(a, fd, "SUB");
    while (n < 100000 && push(a, fd, topic, sizeof topic) == sizeof topic)
        n++;
    T(n < 50000 && is_cut(a, fd), "who subscribes without end is cut off");
    close(fd);
    fd = reach(at("d"));
    greet(a, fd, "SUB");
    push(a, fd, longer, sizeof longer);
    T(is_cut(a, fd), "so is who follows a topic of 512 bytes");
    close(fd);
    for (int i = 0; i < 1000 && !followed; i++) {
        turn(a, b);
        followed = wire_feed_followed(feed);
    }
    T(followed, "who follows three kinds is not touched");
    wire_listener_close(listener);
    wire_feed_close(feed);
    wire_close(a);
    wire_close(b);
}

/* Twenty descriptors that were strangers' are free again. */
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

/* A descriptor that a peer had is free for what we connect with ourselves. */
static void
reused(void)
{
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *router =
                         wire_sock_bind(a, WIRE_ROUTER, at("e"), &none, &err),
                     *dealer;
    struct wire_hello hello = hello_of("train", "", digest_a, 10);
    struct wire_msg *msg, *big;
    struct wire_id from;
    int came = 0;

    memset(hello.run, 'x', sizeof hello.run - 1);
    big = wire_hello_put(&hello);
    strangers_come_and_go(a, b, at("e"));
    dealer = wire_sock_connect(b, WIRE_DEALER, at("e"), NULL, &none, &err);
    wire_sock_soon(dealer, big);
    for (int i = 0; i < 500 && wire_sock_recv(router, &from, &msg, &err) <= 0;
         i++)
        turn(a, b);
    wire_msg_free(msg);
    // more to the one who connected than a stranger may send
    for (int i = 0; i < 100000 && came < 1000; i++) {
        wire_sock_send(router, &from, big);
        if (i % 8 == 0)
            turn(a, b);
        while (wire_sock_recv(dealer, NULL, &msg, &err) > 0) {
            came++;
            wire_msg_free(msg);
        }
    }
    T(came >= 1000, "the binder of what we connect to is not counted, whoever "
                    "had its descriptor");
    wire_msg_free(big);
    wire_sock_close(dealer);
    wire_sock_close(router);
    wire_close(a);
    wire_close(b);
}

/* In a process that may open n files: 0 when a peer comes in in the end. */
static int
crowded(int n)
{
    const struct rlimit few = {(rlim_t)n, (rlim_t)n};
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct wire_sock *sock =
        wire_sock_bind(wire, WIRE_ROUTER, at("f"), &none, &err);
    struct wire_msg *msg;
    struct wire_id from;
    int told = 0, rc = 0;

    if (setrlimit(RLIMIT_NOFILE, &few))
        return 1;
    while (rc == 0) { // until a peer is heard
        if (wire_wait(wire, -1, 10, &err) < 0)
            return 2;
        told |= wire_refused(wire, &err);
        rc = wire_sock_recv(sock, &from, &msg, &err);
    }
    if (rc > 0)
        wire_msg_free(msg);
    wire_sock_close(sock);
    wire_close(wire);
    return rc < 0 || !told;
}

static void
crowd(int files)
{
    enum { MANY = 1200 };
    struct err err = {""};
    struct wire *wire = NULL;
    struct wire_sock *sock;
    struct wire_msg *beat = wire_beat_put(&(struct wire_beat){0});
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
      "%d files, %d connections: the process lives", files, held);
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    wire = wire_open(NULL, &err);
    sock = wire_sock_connect(wire, WIRE_DEALER, at("f"), NULL, &none, &err);
    wire_sock_beat(sock, beat);
    for (int i = 0; i < 4000 && waitpid(pid, &status, WNOHANG) == 0; i++)
        wire_wait(wire, -1, 0.005, &err);
    T(WIFEXITED(status) && WEXITSTATUS(status) == 0,
      "it said so, and who comes later is heard");
    wire_msg_free(beat);
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

/* 1 when recv() lets in what no stranger may have under way. */
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
    gate = wire_gate->take_made();
    first = taken_as(listens, endpoint, -1, &other);
    wire_gate->admit_peer(gate, first);
    T(lets_in(first, other), "who is admitted may have more under way");
    close(first);
    close(other);
    fd = taken_as(listens, endpoint, -1, &other);
    T(fd != first, "the next connection has another descriptor");
    close(fd);
    close(other);
    fd = taken_as(listens, endpoint, first, &other);
    T(fd == first, "later one has the same");
    wire_gate->admit_peer(gate, fd);
    T(!lets_in(fd, other), "a message of the one before does not admit it");
    close(other);
    close(fd);
    fd = taken_as(listens, endpoint, first, &other);
    wire_gate->note_drained(gate);
    wire_gate->admit_peer(gate, fd);
    T(lets_in(fd, other), "one that came after all was read does");
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
    stranger();
    talkative();
    admitted();
    subscriptions();
    reused();
    generations();
    scratch_close();
    return t_done();
}
