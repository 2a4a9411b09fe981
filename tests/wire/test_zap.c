#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t.h"
#include "wire/batch.h"

#include "flow/ends.h"

#ifdef __SANITIZE_THREAD__
/* ZeroMQ hands memory from thread to thread by atomics that tsan does not see.
 */
const char *__tsan_default_suppressions(void);

const char *
__tsan_default_suppressions(void)
{
    return "race:libzmq\nrace:libsodium";
}
#endif

/* Certificates: DIR/x.key_secret, allowed ones in DIR/allow. */
static void
make_keys(void)
{
    static const char *const who[][2] = {
        {"select", "select"},       {"augment", "augment"}, {"train", "train"},
        {"negatives", "negatives"}, {"tap", "tap"},         {"any", "any"},
        {"stranger", "augment"}};
    struct err err;
    char allow[128], from[256], to[256];

    snprintf(allow, sizeof allow, "%s/allow", scratch);
    file_mkdir(allow, 0700, &err);
    for (size_t i = 0; i < sizeof who / sizeof *who; i++) {
        wire_keys_make(scratch, who[i][0], who[i][1], &err);
        snprintf(from, sizeof from, "%s/%s.key", scratch, who[i][0]);
        snprintf(to, sizeof to, "%s/%s.key", allow, who[i][0]);
        if (strcmp(who[i][0], "stranger") && rename(from, to))
            abort();
    }
}

static struct wire_keys
keys_of(const char *name)
{
    char own[128], allow[128];
    struct wire_keys keys;
    struct err err;

    snprintf(own, sizeof own, "%s/%s.key_secret", scratch, name);
    snprintf(allow, sizeof allow, "%s/allow", scratch);
    if (wire_keys_open(&keys, own, allow, &err))
        abort();
    return keys;
}

static struct err reported;

/* A peer with a key (or without) connects to foil-select; returns the result.
 */
static int
connects(const char *name, enum flow_event_kind what, double seconds)
{
    struct wire_keys mine = keys_of("select"), theirs = {0};
    struct err err = {""};
    struct wire *a = wire_open(&mine, &err), *b;
    struct flow_server_config sc = {
        .endpoint = "tcp://127.0.0.1:*",
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("select", "", digest_a, 10),
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    struct flow_client_config cc = {
        .endpoint = flow_server_endpoint(server),
        .role = "select",
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct flow_client *client;
    struct flow_event event;
    int seen;

    if (name)
        theirs = keys_of(name);
    b = wire_open(name ? &theirs : NULL, &err);
    client = flow_client_open(b, &cc, &err);
    seen = server_sees(a, b, server, what, &event, seconds);
    if (what == FLOW_REPORT && seen)
        reported = event.why;
    close_ends(a, b, server, client);
    wire_keys_release(&mine);
    wire_keys_release(&theirs);
    return seen;
}

static struct wire_msg *
small_batch(void)
{
    static const uint8_t views[3];
    static const int64_t ids[1];
    const struct wire_batch batch = {.batch.steps = 1,
                                     .batch.epochs = 1,
                                     .batch.b = 1,
                                     .batch.v = 1,
                                     .height = 1,
                                     .width = 1,
                                     .channels = 3,
                                     .batch.ids = ids,
                                     .batch.pixels = views};

    return wire_batch_put(&batch);
}

/* A key for augment does not allow its owner to be a trainer. */
static void
wrong_role(void)
{
    struct wire_keys mine = keys_of("select"), theirs = keys_of("train");
    struct err err = {""};
    struct wire *a = wire_open(&mine, &err), *b = wire_open(&theirs, &err);
    struct wire_limits limits = {0};
    struct flow_server_config sc = {
        .endpoint = "tcp://127.0.0.1:*",
        .edge = WIRE_EDGE_BATCH,
        .hello = hello_of("select", "", digest_a, 10),
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    struct wire_sock *sock = wire_sock_open(
        b, WIRE_DEALER, flow_server_endpoint(server), "select", &limits, &err);
    struct wire_msg *msg = small_batch(), *reply;
    struct flow_event event;
    int replied = 0;

    wire_sock_send_when_connected(sock, msg);
    T(server_sees(a, b, server, FLOW_REPORT, &event, 60), "refused: %s",
      event.why.msg);
    for (int i = 0; i < 500 && !replied; i++) {
        turn(a, b);
        if (wire_sock_recv(sock, NULL, &reply, &err) <= 0)
            continue;
        replied = wire_msg_kind(reply) == WIRE_ERROR;
        wire_msg_free(reply);
    }
    T(replied, "a refused peer receives the reason");
    wire_msg_free(msg);
    flow_server_close(server);
    wire_close(a);
    wire_close(b);
    wire_keys_release(&mine);
    wire_keys_release(&theirs);
}

/* A binder that computes and does not read its sockets still admits keys, and
 * reports refused ones later. */
static void
busy_binder(void)
{
    struct wire_keys mine = keys_of("select"), theirs = keys_of("augment"),
                     strange = keys_of("stranger");
    struct err err = {""};
    struct wire *a = wire_open(&mine, &err), *b = wire_open(&theirs, &err),
                *c = wire_open(&strange, &err);
    struct wire_limits limits = {0};
    struct wire_sock *server =
                         wire_sock_open(a, WIRE_ROUTER, "tcp://127.0.0.1:*",
                                        NULL, &limits, &err),
                     *peer = wire_sock_open(b, WIRE_DEALER,
                                            wire_sock_endpoint(server),
                                            "select", &limits, &err),
                     *other = wire_sock_open(c, WIRE_DEALER,
                                             wire_sock_endpoint(server),
                                             "select", &limits, &err);
    int admitted = 0, refused = 0;

    for (int i = 0; i < 1000 && !admitted; i++) {
        wire_wait(b, -1, 0.01, &err);
        admitted = wire_sock_has_connected(peer);
    }
    T(admitted, "an allowed key is admitted while the binder reads no socket");
    for (int i = 0; i < 1000 && !refused; i++) {
        wire_wait(c, -1, 0.01, &err);
        refused = wire_refused(a, &err);
    }
    T(refused && strstr(err.msg, "refused a key"),
      "one that is not is reported: %s", err.msg);
    T(!wire_sock_has_connected(other), "a refused key is not connected");
    wire_close(a);
    wire_close(b);
    wire_close(c);
    wire_keys_release(&mine);
    wire_keys_release(&theirs);
    wire_keys_release(&strange);
}

/* Whether a key of that role is admitted at an edge; its hello has a data set
 * of its own, which the binder then adopts. */
static int
gets_in(struct wire *a, const char *role, enum wire_edge edge,
        struct wire_hello *learnt)
{
    struct wire_keys theirs = keys_of(role);
    struct err err = {""};
    struct wire *b = wire_open(&theirs, &err);
    struct flow_server_config sc = {
        .endpoint = "tcp://127.0.0.1:*",
        .edge = edge,
        .hello = hello_of("select", "", "", 0),
    };
    struct flow_server *server = flow_server_open(a, &sc, &err);
    struct flow_client_config cc = {
        .endpoint = flow_server_endpoint(server),
        .role = "select",
        .edge = edge,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct flow_client *client = flow_client_open(b, &cc, &err);
    int joined = 0, over = 0;

    for (int i = 0; i < 2000 && !over; i++) {
        struct flow_event event;

        while (!over && flow_server_next(server, &event) > 0) {
            joined = event.kind == FLOW_JOINED;
            over = joined || event.kind == FLOW_REPORT;
        }
        turn(a, b);
    }
    *learnt = *flow_server_hello(server);
    flow_client_close(client);
    flow_server_close(server);
    wire_close(b);
    wire_keys_release(&theirs);
    return joined;
}

/* Each role at each edge: it is admitted where foil-wire(5) allows it, and only
 * an admitted peer changes the binder's state. */
static void
roles(void)
{
    static const char *const role[] = {"select",    "augment", "train",
                                       "negatives", "tap",     "any"};
    struct wire_keys mine = keys_of("select");
    struct err err = {""};
    struct wire *a = wire_open(&mine, &err);

    for (enum wire_edge edge = 0; edge < WIRE_EDGE_EVENTS; edge++) {
        int fine = 1, taught = 1;

        for (size_t i = 0; i < sizeof role / sizeof *role; i++) {
            const int may = wire_edge_allows_role(edge, WIRE_CONNECTS, role[i]);
            struct wire_hello learnt;

            fine &= gets_in(a, role[i], edge, &learnt) == may;
            taught &= !*learnt.digest == (!may || edge == WIRE_EDGE_FEATURES) &&
                      !*learnt.recipe == !*learnt.digest;
        }
        T(fine, "edge %s admits the roles of the table", wire_edge_name(edge));
        T(taught, "no other role sets the data set");
    }
    wire_close(a);
    wire_keys_release(&mine);
}

/* A connection that is closed before the handshake ends: no attack. */
static void
hang_up(void)
{
    static const struct wire_limits limits = {0};
    struct wire_keys mine = keys_of("select");
    struct err err = {""};
    struct wire *wire = wire_open(&mine, &err);
    struct wire_sock *sock = wire_sock_open(
        wire, WIRE_ROUTER, "tcp://127.0.0.1:*", NULL, &limits, &err);
    const char *port = strrchr(wire_sock_endpoint(sock), ':') + 1;
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port =
                                 htons((uint16_t)strtol(port, NULL, 10)),
                             .sin_addr = {htonl(INADDR_LOOPBACK)}};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    int refused = 0;

    if (connect(fd, (struct sockaddr *)&to, sizeof to))
        abort();
    close(fd);
    while (!refused && wire_wait(wire, -1, 1, &err) > 0)
        refused = wire_refused(wire, &err);
    T(refused && strstr(err.msg, "it has ended, or has no keys"),
      "a peer that leaves during the handshake may have ended: %s", err.msg);
    wire_close(wire);
    wire_keys_release(&mine);
}

int
main(void)
{
    scratch_open();
    make_keys();
    roles();
    busy_binder();
    T(connects("augment", FLOW_JOINED, 5), "an allowed key is admitted");
    T(connects("stranger", FLOW_REPORT, 5), "an unknown key is refused: %s",
      reported.msg);
    T(connects(NULL, FLOW_REPORT, 5), "a peer without key is refused: %s",
      reported.msg);
    hang_up();
    T(!connects("stranger", FLOW_JOINED, 0.3),
      "the unknown key is not admitted");
    T(!connects(NULL, FLOW_JOINED, 0.3), "a peer without key is not admitted");
    wrong_role();
    scratch_close();
    return t_done();
}
