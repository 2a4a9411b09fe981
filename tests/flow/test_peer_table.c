/* Mostly waits, 4 s */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "flow/greeting.h"
#include "t.h"

#include "ends.h"

static const struct wire_id id_a = {1, {'a'}, 0}, id_b = {1, {'b'}, 0};

static struct flow_known_peer *
greet(struct flow_peer_table *peers, const struct wire_id *id, const char *name,
      double now, enum flow_entry *what)
{
    struct wire_hello hello = hello_of("augment", "", "", 0);
    struct flow_known_peer *peer;

    snprintf(hello.peer, sizeof hello.peer, "%s", name);
    *what = flow_peer_table_greet(peers, id, &hello, now, &peer);
    return peer;
}

static void
names(void)
{
    struct flow_peer_table peers = {0};
    enum flow_entry what;
    struct flow_known_peer *peer = greet(&peers, &id_a, "x", 1, &what);

    T(what == FLOW_ADDED && peer->number == 1, "a name that is new");
    peer = greet(&peers, &id_a, "x", 1, &what);
    T(what == FLOW_KNOWN && peer->number == 1 && !flow_peer_table_left(&peers),
      "its second hello changes nothing");
    peer = greet(&peers, &id_b, "x", 2, &what);
    T(what == FLOW_ADDED && peer->number == 2 && peers.n == 1,
      "a name that is known, on another connection: added again");
    T(flow_peer_table_left(&peers) == 1 && flow_peer_table_left(&peers) == 0,
      "the old one has left, which is reported once");
    T(flow_peer_table_by_name(&peers, "x") == peer &&
          flow_peer_table_by_id(&peers, &id_b) == peer &&
          flow_peer_table_by_number(&peers, 2) == peer,
      "found by name, connection and number");
    T(!flow_peer_table_by_id(&peers, &id_a), "the old connection has no peer");
    for (unsigned i = 1; i < FLOW_PEERS_MAX; i++) {
        struct wire_id id = {2, {(uint8_t)(i >> 8), (uint8_t)i}, 0};
        char text[16];

        snprintf(text, sizeof text, "y%u", i);
        greet(&peers, &id, text, 10 + i, &what);
    }
    greet(&peers, &id_a, "z", 2000, &what);
    T(what == FLOW_TABLE_FULL && peers.n == FLOW_PEERS_MAX,
      "the table is full");
    peers.keeps_silent = 1;
    peer = greet(&peers, &id_a, "z", 2000, &what);
    T(what == FLOW_ADDED && flow_peer_table_left(&peers) == 2,
      "at a service, the one that was silent for longest is dropped");
    flow_peer_table_release(&peers);
}

/* A hello is requested of an unknown connection once a second. */
static void
strangers(void)
{
    struct flow_peer_table peers = {0};
    int asked = 0;

    T(flow_peer_table_unknown(&peers, &id_a, 10),
      "[unknown: anything else] the first message is answered");
    T(!flow_peer_table_unknown(&peers, &id_a, 10.9),
      "another one soon after is not");
    T(flow_peer_table_unknown(&peers, &id_b, 10.9),
      "the first message of another connection is answered");
    T(flow_peer_table_unknown(&peers, &id_a, 11), "a second later it is");
    T(!flow_peer_table_unknown(&peers, &id_b, 11.8), "each by itself");
    for (unsigned i = 0; i < 3 * FLOW_PEERS_MAX; i++) {
        struct wire_id id = {2, {(uint8_t)(i >> 8), (uint8_t)i}, 0};

        asked += flow_peer_table_unknown(&peers, &id, 12);
    }
    T(asked == 3 * FLOW_PEERS_MAX && peers.n_unknown == FLOW_PEERS_MAX,
      "the last thousand are stored");
    flow_peer_table_release(&peers);
}

static void
silence(void)
{
    struct flow_peer_table peers = {0};
    enum flow_entry what;

    greet(&peers, &id_a, "x", 10, &what);
    flow_peer_table_expire(&peers, 13);
    flow_peer_table_expire(&peers, 13.9);
    T(peers.n == 1, "three seconds and a first check: still there");
    flow_peer_table_by_id(&peers, &id_a)->last_seen = 13.95;
    flow_peer_table_expire(&peers, 14);
    flow_peer_table_expire(&peers, 16.9);
    T(peers.n == 1, "it sent a message");
    flow_peer_table_expire(&peers, 17);
    flow_peer_table_expire(&peers, 17.05);
    T(peers.n == 1, "a second check too early");
    flow_peer_table_expire(&peers, 17.1);
    T(peers.n == 0 && flow_peer_table_left(&peers) == 1,
      "[known: nothing for 3 seconds] gone");
    T(peers.n_silent == 1 && peers.silent[0].byte[0] == 'a',
      "the address of a silent peer is stored");
    T(flow_peer_table_unknown(&peers, &id_a, 18),
      "when it is back it sends hello");
    greet(&peers, &id_a, "x", 18, &what);
    T(what == FLOW_ADDED && peers.peer->number == 2,
      "a peer that is back is added again");
    flow_peer_table_release(&peers);
}

/* A process of its own that joins and sends heartbeats until it is killed, or
 * receives the end of the run. */
static pid_t
start_peer(const char *endpoint)
{
    struct flow_client_config cc = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    pid_t pid = fork();
    struct flow_event event;
    struct flow_client *client;
    struct wire *wire;
    struct err err;

    if (pid)
        return pid;
    alarm(30); // without the end in time it has failed
    wire = wire_open(NULL, &err);
    client = flow_client_open(wire, &cc, &err);
    while (wire_wait(wire, -1, 1, &err) > 0)
        while (flow_client_next(client, &event, &err) > 0)
            if (event.kind == FLOW_OVER)
                _exit(0);
    _exit(1);
}

/* Exit code of a peer that ends by itself. */
static int
code_of(pid_t pid)
{
    int status = -1;

    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/*
 * Of three peers one is killed and one is stopped, while the binder does
 * nothing for longer than WIRE_SILENCE.  It must lose these two, and not the
 * third; the stopped one receives the end when it continues.
 */
static void
killed_and_stopped(void)
{
    const char *endpoint = at("killed");
    const pid_t dead = start_peer(endpoint), alive = start_peer(endpoint),
                slow = start_peer(endpoint);
    struct flow_server_config sc = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("train", "", "", 0),
    };
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err);
    struct flow_server *server = flow_server_open(a, &sc, &err);
    struct timespec pause = {3, 300000000};
    struct flow_event event;
    double start;
    int left = 0;

    while (flow_server_peers(server) < 3 && wire_wait(a, -1, 1, &err) > 0)
        while (flow_server_next(server, &event) > 0)
            ;
    kill(dead, SIGKILL);
    kill(slow, SIGSTOP);
    waitpid(dead, NULL, 0);
    nanosleep(&pause, NULL);
    start = clock_now();
    while (clock_now() < start + 0.5 && wire_wait(a, -1, 0.1, &err) > 0)
        while (flow_server_next(server, &event) > 0)
            left += event.kind == FLOW_LEFT;
    T(left == 2, "the killed peer and the stopped one have left");
    T(flow_server_peers(server) == 1, "the third has not");
    flow_server_send_over(server, &(struct wire_place){1, 0, 0});
    kill(slow, SIGCONT);
    flow_server_close(server);
    wire_close(a);
    T(code_of(alive) == 0, "the third receives the end");
    T(code_of(slow) == 0, "the stopped one does when it continues");
}

int
main(void)
{
    scratch_open();
    names();
    strangers();
    silence();
    killed_and_stopped();
    scratch_close();
    return t_done();
}
