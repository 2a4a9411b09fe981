/* Mostly waits, 5 s */
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <zmq.h>

#include "t.h"
#include "wire/batch.h"

#include "flow/ends.h"

static const struct wire_limits none = {0};

/* 1 when binding (or connecting) works; else prints the sentence. */
static int
opens(struct wire *wire, int binds, const char *endpoint)
{
    struct err err = {""};
    struct wire_sock *sock =
        binds
            ? wire_sock_open(wire, WIRE_ROUTER, endpoint, NULL, &none, &err)
            : wire_sock_open(wire, WIRE_DEALER, endpoint, "train", &none, &err);
    int ok = sock != NULL;

    T(ok || *err.msg, "(%s)", err.msg);
    wire_sock_close(sock);
    return ok;
}

static const struct {
    int binds, opens;
    const char *endpoint;
} all[] = {
    {1, 1, "tcp://127.0.0.1:*"},
    {0, 1, "tcp://127.0.0.1:1"},
    {0, 1, "tcp://127.255.0.9:65535"},
    {0, 1, "tcp://localhost:9"},
    {0, 1, "tcp://[::1]:9"},
    {1, 1, "tcp://lo:*"},
    // other machines can reach these, or fake them by a name
    {1, 0, "tcp://*:*"},
    {1, 0, "tcp://0.0.0.0:*"},
    {0, 0, "tcp://192.0.2.1:9"},
    {0, 0, "tcp://[::2]:9"},
    {0, 0, "tcp://127.evil.example:1"},
    {0, 0, "tcp://127.0.0.1.evil.example:1"},
    {0, 0, "tcp://localhost.evil.example:1"},
    {0, 0, "tcp://lo:1"},
    {0, 0, "tcp://127.evil.example;1.2.3.4:9"},
    {0, 0, "tcp://127.0.0.1:2;192.0.2.1:9"},
    {0, 0, "tcp://127.1:9"},
    // no port
    {0, 0, "tcp://127.0.0.1"},
    {0, 0, "tcp://127.0.0.1:"},
    {0, 0, "tcp://127.0.0.1:*"},
    {0, 0, "tcp://127.0.0.1:0"},
    {1, 0, "tcp://127.0.0.1:0"},
    {0, 0, "tcp://127.0.0.1:65536"},
    {0, 0, "tcp://127.0.0.1:99999"},
    {1, 0, "tcp://127.0.0.1:99999"},
    {0, 0, "tcp://127.0.0.1:-1"},
    {0, 0, "tcp://127.0.0.1:9x"},
    {0, 0, "tcp://:9"},
    // nowhere
    {1, 0, "nowhere"},
    {1, 0, "pgm://eth0;239.1.1.1:5"},
    {1, 0, "ipc:///nonexistent/x"},
    // not protected by a file
    {1, 0, "ipc://@foil-test-sock"},
    {0, 0, "ipc://@foil-test-sock"},
};

static void
endpoints(struct wire *wire)
{
    char long_path[200] = "ipc:///tmp/";

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        T(opens(wire, all[i].binds, all[i].endpoint) == all[i].opens,
          "to %s '%s' is %s", all[i].binds ? "bind" : "connect to",
          all[i].endpoint, all[i].opens ? "fine" : "refused");
    memset(long_path + 11, 'x', sizeof long_path - 12);
    T(!opens(wire, 1, long_path), "a path that is too long is refused");
}

/* One sentence for all endpoints of tcp without keys, none for others. */
static void
open_to_all(void)
{
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);

    T(opens(wire, 1, at("guarded")) && !wire_refused(wire, &err),
      "access to ipc is that of its folder");
    T(opens(wire, 1, "tcp://127.0.0.1:*") && wire_refused(wire, &err) &&
          strstr(err.msg, "anyone on this machine can connect to 'tcp://127."),
      "tcp without keys is open to anyone: %s", err.msg);
    T(opens(wire, 1, "tcp://127.0.0.1:*") && !wire_refused(wire, &err),
      "which is reported once");
    wire_close(wire);
}

/* The socket file of a killed process is replaced; that of a living one is not.
 */
static void
stale_files(void)
{
    const char *endpoint = at("stale"), *path = endpoint + 6;
    struct err err = {""};
    int ready[2];
    pid_t pid;
    char c;

    if (pipe(ready))
        abort();
    pid = fork();
    if (!pid) {
        struct wire *wire = wire_open(NULL, &err);

        wire_sock_open(wire, WIRE_ROUTER, endpoint, NULL, &none, &err);
        if (write(ready[1], "", 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    T(read(ready[0], &c, 1) == 1, "another process binds");
    {
        struct wire *wire = wire_open(NULL, &err);

        T(!opens(wire, 1, endpoint),
          "the endpoint of a living process is refused");
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        T(file_exists(path), "a killed process leaves a file");
        T(opens(wire, 1, endpoint), "which is replaced");
        wire_close(wire);
    }
    close(ready[0]);
    close(ready[1]);
}

static struct wire_msg *
large_batch(void)
{
    static uint8_t views[2 * 4 * 32 * 32 * 3];
    static const int64_t ids[4];
    const struct wire_batch batch = {.batch.steps = 1,
                                     .batch.epochs = 1,
                                     .batch.b = 4,
                                     .batch.v = 2,
                                     .height = 32,
                                     .width = 32,
                                     .channels = 3,
                                     .batch.ids = ids,
                                     .batch.pixels = views};

    return wire_batch_put(&batch);
}

/* A part beyond the limit is not delivered; the next peer is not affected. */
static void
oversize(void)
{
    const struct wire_limits small = {.edge = WIRE_EDGE_BATCH,
                                      .max_batch = 4096};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *router =
        wire_sock_open(a, WIRE_ROUTER, at("big"), NULL, &small, &err);
    struct wire_sock *dealer =
        wire_sock_open(b, WIRE_DEALER, at("big"), NULL, &none, &err);
    struct wire_msg *big = large_batch(),
                    *heartbeat =
                        wire_heartbeat_put(&(struct wire_heartbeat){0});
    struct wire_msg *msg;
    struct wire_id from;
    int heartbeats = 0, others = 0;

    wire_sock_send_when_connected(dealer, big);
    for (int i = 0; i < 20; i++)
        turn(a, b);
    for (int i = 0; i < 1000 && !heartbeats; i++) {
        if (i % 100 == 0)
            wire_sock_send(dealer, NULL, heartbeat);
        turn(a, b);
        while (wire_sock_recv(router, &from, &msg, &err) > 0) {
            heartbeats += wire_msg_kind(msg) == WIRE_HEARTBEAT;
            others += wire_msg_kind(msg) != WIRE_HEARTBEAT;
            wire_msg_free(msg);
        }
    }
    T(heartbeats == 1 && others == 0,
      "the large part is dropped, not the next peer");
    wire_msg_free(big);
    wire_msg_free(heartbeat);
    wire_close(a);
    wire_close(b);
}

/* Neither end has sent anything. */
static void
connects_late(void)
{
    struct wire_limits limits = {.queue = 10, .edge = WIRE_EDGE_ANY};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct wire_sock *dealer = wire_sock_open(a, WIRE_DEALER, at("late"), NULL,
                                              &limits, &err),
                     *router;

    turn(a, b);
    T(!wire_sock_has_connected(dealer), "a connecting socket has no peer yet");
    router = wire_sock_open(b, WIRE_ROUTER, at("late"), NULL, &limits, &err);
    T(!wire_sock_has_connected(router),
      "a socket that has just bound has no peer yet");
    for (int i = 0; i < 1000 && !wire_sock_has_connected(dealer); i++)
        turn(a, b);
    T(wire_sock_has_connected(dealer) && wire_sock_has_connected(router),
      "both report the connection");
    wire_sock_close(router);
    for (int i = 0; i < 1000 && wire_sock_has_connected(dealer); i++)
        turn(a, b);
    T(!wire_sock_has_connected(dealer),
      "the connecting socket reports the end of the connection");
    wire_close(a);
    wire_close(b);
}

/* Raw parts from a plain ZeroMQ socket. */
static void
send_raw(void *socket, size_t n, const struct wire_part *part)
{
    for (size_t i = 0; i < n; i++)
        zmq_send(socket, part[i].data, part[i].len,
                 i + 1 < n ? ZMQ_SNDMORE : 0);
}

#define PART(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

/* A binder of version 1: the connecting end exits with its name. */
static void
old_binder(void)
{
    static const struct wire_part hello[] = {PART("foil1.hello"), PART("\x80")};
    struct flow_client_config cc = {
        .endpoint = at("old"),
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("augment", "", "", 0),
    };
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err);
    void *context = zmq_ctx_new(), *binder = zmq_socket(context, ZMQ_ROUTER);
    struct flow_client *client;
    const int timeout_ms = 10;
    struct flow_event event;
    char id[256];
    int n, rc = 0;

    zmq_bind(binder, cc.endpoint);
    client = flow_client_open(a, &cc, &err);
    zmq_setsockopt(binder, ZMQ_RCVTIMEO, &timeout_ms, sizeof timeout_ms);
    for (int i = 0; i < 500 && rc >= 0; i++) {
        wire_wait(a, -1, 0.005, &err);
        rc = flow_client_next(client, &event, &err);
        n = zmq_recv(binder, id, sizeof id, 0);
        if (n <= 0)
            continue;
        while (zmq_recv(binder, id + n, 1, ZMQ_DONTWAIT) >= 0)
            ; // the parts of hello
        zmq_send(binder, id, (size_t)n, ZMQ_SNDMORE);
        send_raw(binder, 2, hello);
    }
    T(rc < 0 && strstr(err.msg, "peer speaks foil1, this is foil3"),
      "a binder of version 1 ends the connecting tool: %s", err.msg);
    flow_client_close(client);
    zmq_close(binder);
    zmq_ctx_term(context);
    wire_close(a);
}

/* A peer of version 1 receives the reason why it is refused. */
static void
old_peer(struct wire *a, struct flow_server *server, void *peer)
{
    static const struct wire_part old[] = {PART("foil1.hello"), PART("\x80")};
    const int timeout_ms = 10;
    struct flow_event event;
    char reply[256] = "";
    struct err err;
    int n;

    send_raw(peer, 2, old);
    zmq_setsockopt(peer, ZMQ_RCVTIMEO, &timeout_ms, sizeof timeout_ms);
    for (int i = 0; i < 200 && !strstr(reply, "peer speaks"); i++) {
        wire_wait(a, -1, 0.01, &err);
        while (flow_server_next(server, &event) > 0)
            ;
        n = zmq_recv(peer, reply, sizeof reply - 1, 0);
        reply[n > 0 ? n : 0] = 0;
    }
    T(strstr(reply, "peer speaks foil1, this is foil3") != NULL,
      "version 1 receives the reason");
}

/* Invalid messages are counted, reported now and then, and change nothing. */
static void
nonsense(void)
{
    static const struct wire_part bomb[] = {PART("foil3.next"),
                                            PART("\xdd\xff\x00\x00\x00")};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err);
    struct flow_server_config sc = {
        .endpoint = at("raw"),
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("select", "", "", 0),
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    void *context = zmq_ctx_new(), *peer = zmq_socket(context, ZMQ_DEALER);
    struct flow_event event;
    int reports = 0, other = 0;

    zmq_connect(peer, sc.endpoint);
    for (int i = 0; i < 20; i++)
        send_raw(peer, 2, bomb);
    for (int i = 0; i < 200 && reports < 5 && wire_wait(a, -1, 0.01, &err); i++)
        while (flow_server_next(server, &event) > 0) {
            reports += event.kind == FLOW_REPORT;
            other += event.kind != FLOW_REPORT;
        }
    T(reports == 5 && !other, "20 bombs are reported at 1, 2, 4, 8, 16");
    T(flow_server_peers(server) == 0, "no peer joined");
    old_peer(a, server, peer);
    zmq_close(peer);
    zmq_ctx_term(context);
    flow_server_close(server);
    wire_close(a);
}

/*
 * A peer that floods a busy stage and then closes does not end it: with ZMTP's
 * heartbeats on, libzmq 4.3.4 aborts here, a second later.
 */
static void
flood(void)
{
    static const struct wire_part nothing[] = {PART("foil3.heartbeat"),
                                               PART("\x80")};
    const struct timespec busy = {.tv_sec = 1, .tv_nsec = 300000000};
    const int at_once = 0, many = 100000;
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err);
    struct flow_server_config sc = {
        .endpoint = at("flood"),
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("train", "", "", 0),
        .limits = {.queue = 1},
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    void *context = zmq_ctx_new(), *peer = zmq_socket(context, ZMQ_DEALER);
    struct flow_event event;

    zmq_setsockopt(peer, ZMQ_LINGER, &at_once, sizeof at_once);
    zmq_setsockopt(peer, ZMQ_SNDHWM, &many, sizeof many);
    zmq_connect(peer, sc.endpoint);
    for (int i = 0; i < 20000; i++)
        send_raw(peer, 2, nothing);
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    zmq_close(peer);
    zmq_ctx_term(context);
    nanosleep(&busy, NULL);
    for (int i = 0; i < 10 && wire_wait(a, -1, 0.01, &err) > 0; i++)
        while (flow_server_next(server, &event) > 0)
            ;
    T(flow_server_peers(server) == 0, "a flood, then a close: no peer joined");
    flow_server_close(server);
    wire_close(a);
}

/* Silent connections do not keep a peer out. */
static void
idlers(void)
{
    enum { IDLERS = 300 };
    const char *endpoint = at("idle");
    struct sockaddr_un addr = {.sun_family = AF_UNIX};
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err), *b = wire_open(NULL, &err);
    struct flow_server_config sc = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("select", "", "", 0),
    };
    struct flow_client_config cc = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("augment", "", "", 0),
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    struct flow_client *client;
    struct flow_event event;
    int fd[IDLERS], open = 0;

    snprintf(addr.sun_path, sizeof addr.sun_path, "%s", endpoint + 6);
    for (int i = 0; i < IDLERS; i++) {
        fd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        open += !connect(fd[i], (struct sockaddr *)&addr, sizeof addr);
    }
    client = flow_client_open(b, &cc, &err);
    T(server_sees(a, b, server, FLOW_JOINED, &event, 60),
      "joined among %d silent connections", open);
    for (int i = 0; i < IDLERS; i++)
        close(fd[i]);
    close_ends(a, b, server, client);
}

static void
waiting(struct wire *wire)
{
    struct err err = {""};
    int fd[2];
    double start = clock_now();

    if (pipe(fd))
        abort();
    T(wire_wait(wire, fd[0], 0.05, &err) == 1, "the time is over");
    T(clock_now() - start >= 0.05, "not before");
    T(write(fd[1], "", 1) == 1 && wire_wait(wire, fd[0], 60, &err) == 0,
      "asked to stop");
    close(fd[0]);
    close(fd[1]);
}

int
main(void)
{
    struct wire *wire;
    struct err err;

    scratch_open();
    stale_files();
    wire = wire_open(NULL, &err);
    endpoints(wire);
    open_to_all();
    waiting(wire);
    wire_close(wire);
    wire_close(NULL);
    oversize();
    nonsense();
    connects_late();
    old_binder();
    flood();
    idlers();
    scratch_close();
    return t_done();
}
