/* Mostly waits, 3 s */
#include "t.h"
#include "wire/feed.h"
#include "wire/sock_impl.h"

#include "by_hand.h"

static const struct wire_limits none = {0};

/* A trainer that takes batches of 2 MiB. */
static struct flow_server *
open_trainer(struct wire *wire, const char *name)
{
    const struct flow_server_config config = {
        .endpoint = at(name),
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("train", "", digest_a, 10),
        .limits = {.max_batch = 2 * MIB},
    };
    struct err err;

    return flow_server_open(wire, &config, &err);
}

/* A peer without ZeroMQ that has sent its hello, or -1. */
static int
join_by_hand(struct wire *wire, struct flow_server *server, const char *name)
{
    struct wire_hello hello = hello_of("augment", "", digest_a, 10);
    struct wire_msg *msg = wire_hello_put(&hello);
    const struct wire_part head = wire_msg_part(msg, 1);
    const int fd = reach(at(name));
    struct flow_event event;
    struct err err;
    int joined = 0;

    greet(wire, fd, "DEALER");
    send_by_hand(wire, fd, "foil3.hello", &head);
    for (int i = 0; i < 1000 && !joined; i++) {
        wire_wait(wire, -1, 0.005, &err);
        while (flow_server_next(server, &event) > 0)
            joined |= event.kind == FLOW_JOINED;
    }
    wire_msg_free(msg);
    return joined ? fd : -1;
}

/* 1 when a greeted peer may have so many unread bytes. */
static int
admits(size_t part, size_t bytes, size_t expect, size_t n)
{
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_server *server = open_trainer(wire, "c");
    const int fd = join_by_hand(wire, server, "c");
    int whole;

    if (expect)
        flow_server_expect(server, expect, n);
    whole = endless(wire, fd, part, bytes) >= bytes;
    for (int i = 0; i < 50; i++) // all is read by then
        wire_wait(wire, -1, 0.005, &err);
    whole &= send(fd, "\3", 1, MSG_NOSIGNAL) == 1;
    close(fd);
    flow_server_close(server);
    wire_close(wire);
    return fd >= 0 && whole;
}

static void
admitted(void)
{
    T(admits(64 * KIB, 3 * MIB, 0, 0),
      "a greeted peer may have as many unread bytes as the socket allows");
    T(!admits(64 * KIB, 16 * MIB, 0, 0),
      "more unread bytes are refused in many parts");
    T(!admits(7 * MIB, 7 * MIB, 0, 0),
      "more unread bytes are refused in one part");
    T(admits(MIB, 7 * MIB, 3 * MIB, 1),
      "one message more than expected is accepted");
    T(!admits(MIB, 14 * MIB, 3 * MIB, 1),
      "14 MiB are refused where 3 are expected");
}

/* 1 when the other side has closed by now. */
static int
has_ended(int fd)
{
    char bytes[256];
    ssize_t n;

    do
        n = read(fd, bytes, sizeof bytes);
    while (n > 0);
    return n == 0 || errno != EAGAIN;
}

/* Sixteen greeted peers begin messages that they do not end; then one more
 * sends a whole one. */
static void
greedy_together(void)
{
    enum { PEERS = 16, EACH = 4 * MIB, MOST = 10 * MIB };
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_server *server = open_trainer(wire, "h");
    int fds[PEERS], greeted = 0, cut = 0, last;

    for (int i = 0; i < PEERS; i++) {
        fds[i] = join_by_hand(wire, server, "h");
        greeted += fds[i] >= 0;
    }
    last = join_by_hand(wire, server, "h");
    T(greeted == PEERS && last >= 0, "sixteen peers are greeted, and one more");
    for (int i = 0; i < PEERS; i++)
        endless(wire, fds[i], 512 * KIB, EACH);
    for (int i = 0; i < PEERS; i++)
        cut += has_ended(fds[i]);
    T(cut >= PEERS - MOST / EACH - 1,
      "together they may have no more unread bytes than one: %d are cut off",
      cut);
    T(endless(wire, last, 512 * KIB, EACH) >= EACH,
      "the one that has sent nothing yet may still send");
    T(is_reported(wire, &err) &&
          strstr(err.msg, "more unread bytes than allowed"),
      "it is reported: %s", err.msg);
    for (int i = 0; i < PEERS; i++)
        close(fds[i]);
    close(last);
    flow_server_close(server);
    wire_close(wire);
}

/* Publishes until a subscriber that does not read is disconnected, or for
 * seconds; *got: how many messages a subscriber that reads received. */
static int
outlasts(struct wire *a, struct wire *b, struct wire_feed *feed,
         struct wire_listener *listener, size_t *got)
{
    enum { ROWS = 2 * 32, WIDTH = 4096 }; // 1 MiB
    static float z[ROWS * WIDTH];
    static int64_t ids[ROWS / 2];
    struct wire_features features = {
        .mode = "train",
        .batch = {.b = ROWS / 2, .v = 2, .dim = WIDTH, .ids = ids, .z = z}};
    const double until = clock_now() + PATIENCE;
    struct err err = {""};
    struct wire_msg *msg;
    uint64_t missed;

    for (int i = 0; i < ROWS / 2; i++)
        ids[i] = i;
    while (!wire_refused(a, &err) && clock_now() < until) {
        wire_feed_features(feed, &features);
        turn(a, b);
        while (wire_listener_next(listener, &msg, &missed, &err) > 0) {
            wire_msg_free(msg);
            ++*got;
        }
    }
    return strstr(err.msg, "does not read") != NULL;
}

/* Of two subscribers to features one does not read. */
static void
stuck(void)
{
    const uint8_t all[] = {0, 1, 1};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_feed *feed = wire_feed_open(a, at("i"), &none, &err);
    struct wire_listener *listener =
        wire_listener_open(b, at("i"), "features", &none, &err);
    const int fd = reach(at("i"));
    size_t got = 0;

    greet(a, fd, "SUB");
    push(a, fd, all, sizeof all);
    T(outlasts(a, b, feed, listener, &got),
      "a subscriber that does not read is cut off");
    T(got > 0, "one that reads is not: it received %zu", got);
    T(wire_unsent_bytes(a->first->unsent) <= WIRE_PUBLISHED,
      "queued bytes are bounded");
    close(fd);
    wire_listener_close(listener);
    wire_feed_close(feed);
    wire_close(a);
    wire_close(b);
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
    T(n < 50000 && is_cut(a, fd),
      "a peer that subscribes without end is disconnected");
    close(fd);
    fd = reach(at("d"));
    greet(a, fd, "SUB");
    push(a, fd, longer, sizeof longer);
    T(is_cut(a, fd), "a peer that subscribes to 512 bytes is disconnected");
    close(fd);
    for (int i = 0; i < 1000 && !followed; i++) {
        turn(a, b);
        followed = wire_feed_has_subscribers(feed, WIRE_FEATURES);
    }
    T(followed, "a subscriber to three kinds is not");
    wire_listener_close(listener);
    wire_feed_close(feed);
    wire_close(a);
    wire_close(b);
}

int
main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    scratch_open();
    admitted();
    greedy_together();
    stuck();
    subscriptions();
    scratch_close();
    return t_done();
}
