/* Mostly waits, 4 s */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "t.h"
#include "wire/peers.h"

#include "ends.h"

static const struct wire_id id_a = {1, {'a'}}, id_b = {1, {'b'}};

static struct wire_peer *
greet(struct wire_peers *peers, const struct wire_id *id, const char *name,
      double now, enum wire_greeted *what)
{
    struct wire_hello hello = hello_of("augment", "", "", 0);
    struct wire_peer *peer;

    snprintf(hello.peer, sizeof hello.peer, "%s", name);
    *what = wire_peers_greet(peers, id, &hello, now, &peer);
    return peer;
}

static void
names(void)
{
    struct wire_peers peers = {0};
    enum wire_greeted what;
    struct wire_peer *peer = greet(&peers, &id_a, "x", 1, &what);

    T(what == WIRE_ENTERED && peer->number == 1, "a name that is new");
    peer = greet(&peers, &id_a, "x", 1, &what);
    T(what == WIRE_KNOWN && peer->number == 1 && !wire_peers_left(&peers),
      "its second hello changes nothing");
    peer = greet(&peers, &id_b, "x", 2, &what);
    T(what == WIRE_ENTERED && peer->number == 2 && peers.n == 1,
      "a name that is known, on another connection: entered anew");
    T(wire_peers_left(&peers) == 1 && wire_peers_left(&peers) == 0,
      "the old one has left, which is reported once");
    T(wire_peers_by_name(&peers, "x") == peer &&
          wire_peers_by_id(&peers, &id_b) == peer &&
          wire_peers_by_number(&peers, 2) == peer,
      "found by name, connection and number");
    T(!wire_peers_by_id(&peers, &id_a), "the old connection is nobody's");
    for (unsigned i = 1; i < WIRE_PEERS_MAX; i++) {
        struct wire_id id = {2, {(uint8_t)(i >> 8), (uint8_t)i}};
        char text[16];

        snprintf(text, sizeof text, "y%u", i);
        greet(&peers, &id, text, 10 + i, &what);
    }
    greet(&peers, &id_a, "z", 2000, &what);
    T(what == WIRE_CROWDED && peers.n == WIRE_PEERS_MAX, "the table is full");
    peers.patient = 1;
    peer = greet(&peers, &id_a, "z", 2000, &what);
    T(what == WIRE_ENTERED && wire_peers_left(&peers) == 2,
      "at a service, the one that was silent for longest makes room");
    wire_peers_release(&peers);
}

/* Connections that are not known are told so once a second each. */
static void
strangers(void)
{
    struct wire_peers peers = {0};
    int told = 0;

    T(wire_peers_again(&peers, &id_a, 10),
      "[unknown: anything else] the first message is answered");
    T(!wire_peers_again(&peers, &id_a, 10.9), "another one soon after is not");
    T(wire_peers_again(&peers, &id_b, 10.9), "but one of another connection");
    T(wire_peers_again(&peers, &id_a, 11), "a second later it is");
    T(!wire_peers_again(&peers, &id_b, 11.8), "each by itself");
    for (unsigned i = 0; i < 3 * WIRE_PEERS_MAX; i++) {
        struct wire_id id = {2, {(uint8_t)(i >> 8), (uint8_t)i}};

        told += wire_peers_again(&peers, &id, 12);
    }
    T(told == 3 * WIRE_PEERS_MAX && peers.n_strangers == WIRE_PEERS_MAX,
      "the last thousand are kept in mind");
    wire_peers_release(&peers);
}

static void
silence(void)
{
    struct wire_peers peers = {0};
    enum wire_greeted what;

    greet(&peers, &id_a, "x", 10, &what);
    wire_peers_judge(&peers, 13);
    wire_peers_judge(&peers, 13.9);
    T(peers.n == 1, "three seconds and a first look: still there");
    wire_peers_hear(wire_peers_by_id(&peers, &id_a), 13.95);
    wire_peers_judge(&peers, 14);
    wire_peers_judge(&peers, 16.9);
    T(peers.n == 1, "something came from it");
    wire_peers_judge(&peers, 17);
    wire_peers_judge(&peers, 17.05);
    T(peers.n == 1, "a second look too early");
    wire_peers_judge(&peers, 17.1);
    T(peers.n == 0 && wire_peers_left(&peers) == 1,
      "[known: nothing for 3 seconds] gone");
    T(peers.n_silent == 1 && peers.silent[0].byte[0] == 'a',
      "but how it is reached is kept");
    T(wire_peers_again(&peers, &id_a, 18), "when it is back it says hello");
    greet(&peers, &id_a, "x", 18, &what);
    T(what == WIRE_ENTERED && peers.peer->number == 2, "and is entered anew");
    wire_peers_release(&peers);
}

/* A process of its own that joins and shows signs of life until it is killed,
 * or hears that the run is over. */
static pid_t
start_peer(const char *endpoint)
{
    struct wire_client_config cc = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    pid_t pid = fork();
    struct wire_news news;
    struct wire_client *client;
    struct wire *wire;
    struct err err;

    if (pid)
        return pid;
    alarm(30); // who is not told in time has failed
    wire = wire_open(NULL, &err);
    client = wire_client_open(wire, &cc, &err);
    while (wire_wait(wire, -1, 1, &err) > 0)
        while (wire_client_next(client, &news, &err) > 0)
            if (news.what == WIRE_OVER)
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
 * Of three peers one is killed and one is stopped, while the binder looks away
 * for longer than silence may last.  It must lose these two, and not the third;
 * the stopped one hears of the end when it goes on.
 */
static void
killed_and_stopped(void)
{
    const char *endpoint = at("killed");
    const pid_t dead = start_peer(endpoint), alive = start_peer(endpoint),
                slow = start_peer(endpoint);
    struct wire_server_config sc = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("train", "", "", 0),
    };
    struct err err = {""};
    struct wire *a = wire_open(NULL, &err);
    struct wire_server *server = wire_server_open(a, &sc, &err);
    struct timespec pause = {3, 300000000};
    struct wire_news news;
    double start;
    int left = 0;

    while (wire_server_peers(server) < 3 && wire_wait(a, -1, 1, &err) > 0)
        while (wire_server_next(server, &news, &err) > 0)
            ;
    kill(dead, SIGKILL);
    kill(slow, SIGSTOP);
    waitpid(dead, NULL, 0);
    nanosleep(&pause, NULL);
    start = clock_now();
    while (clock_now() < start + 0.5 && wire_wait(a, -1, 0.1, &err) > 0)
        while (wire_server_next(server, &news, &err) > 0)
            left += news.what == WIRE_LEFT;
    T(left == 2, "the killed peer and the stopped one have left");
    T(wire_server_peers(server) == 1, "the third has not");
    wire_server_over(server, &(struct wire_place){1, 0, 0});
    kill(slow, SIGCONT);
    wire_server_close(server);
    wire_close(a);
    T(code_of(alive) == 0, "the third hears of the end");
    T(code_of(slow) == 0, "the stopped one does when it goes on");
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
