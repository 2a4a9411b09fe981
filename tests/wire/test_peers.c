#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "t.h"
#include "wire/peers.h"

#include "ends.h"

static const struct wire_id id_a = {1, {'a'}}, id_b = {1, {'b'}};

static void
names(void)
{
    struct wire_peers peers = {0};
    struct wire_hello hello = hello_of("augment", "", "", 0);
    struct wire_peer *peer;

    peer = wire_peers_greet(&peers, &id_a, &hello, 1);
    T(peer->number == 1 && !strcmp(peer->name, "61"), "named by connection");
    snprintf(hello.peer, sizeof hello.peer, "x");
    peer = wire_peers_greet(&peers, &id_b, &hello, 1);
    T(peer->number == 2 && !strcmp(peer->name, "x"), "named by hello");
    wire_peers_leave(&peers, wire_peers_by_number(&peers, 1));
    T(wire_peers_left(&peers) == 1 && wire_peers_left(&peers) == 0,
      "who left is reported once");
    T(wire_peers_by_name(&peers, "x") == peers.peer, "found by its name");
    wire_peers_leave(&peers, wire_peers_by_name(&peers, "x"));
    wire_peers_left(&peers);
    peer = wire_peers_greet(&peers, &id_a, &hello, 2);
    T(peer->number == 3 && peers.n == 1, "who is back is somebody new");
    T(wire_peers_by_id(&peers, &id_a) == peer, "found by the new connection");
    T(!wire_peers_by_id(&peers, &id_b), "not by the old one");
    T(!wire_peers_by_name(&peers, ""), "no name is nobody's");

    *hello.peer = 0;
    for (unsigned i = 1; i < WIRE_PEERS_MAX; i++) {
        struct wire_id id = {2, {(uint8_t)(i >> 8), (uint8_t)i}};

        wire_peers_greet(&peers, &id, &hello, 2);
    }
    T(!wire_peers_greet(&peers, &id_b, &hello, 2), "the table is full");
    wire_peers_release(&peers);
}

static void
silence(void)
{
    struct wire_peers peers = {0};
    struct wire_hello hello = hello_of("augment", "", "", 0);

    wire_peers_greet(&peers, &id_a, &hello, 10);
    wire_peers_judge(&peers, 13);
    wire_peers_judge(&peers, 13.9);
    T(peers.n == 1, "three seconds and a first look: still there");
    wire_peers_by_id(&peers, &id_a)->heard = 13.95;
    wire_peers_judge(&peers, 14);
    wire_peers_judge(&peers, 16.9);
    T(peers.n == 1, "heard again");
    wire_peers_judge(&peers, 17);
    wire_peers_judge(&peers, 17.05);
    T(peers.n == 1, "a second look too early");
    wire_peers_judge(&peers, 17.1);
    T(peers.n == 0 && wire_peers_left(&peers) == 1, "gone");
    wire_peers_release(&peers);
}

/* A process of its own that joins and shows signs of life until it is killed,
 * or hears that the run is over. */
static pid_t
start_peer(const char *endpoint)
{
    struct wire_client_config cc = {
        .endpoint = endpoint,
        .kind = WIRE_BRINGS,
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
            if (news.what == WIRE_ENDED)
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
        .kind = WIRE_CONSUMES,
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
    silence();
    killed_and_stopped();
    scratch_close();
    return t_done();
}
