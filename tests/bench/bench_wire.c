#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "flow/client.h"
#include "flow/server.h"
#include "util/clock.h"
#include "util/file.h"
#include "util/mem.h"
#include "wire/batch.h"

/*
 * bench_wire N: what a batch of 32 pairs of 32x32 RGB views costs on the wire,
 * in microseconds, the medians of N:
 *
 *     from a snapshot to a decoded batch, between two processes over ipc
 *     to fill and encode one, copy of the views included
 *     to judge and decode one that has come
 */
enum { VIEWS = 2, PAIRS = 32, SIDE = 32, CHANNELS = 3 };

static char endpoint[64] = "ipc:///tmp/foil-bench-XXXXXX/batch";

static struct wire_msg *
make(int64_t session, int64_t step)
{
    static uint8_t views[VIEWS * PAIRS * SIDE * SIDE * CHANNELS];
    static int64_t ids[PAIRS];
    const struct wire_batch batch = {
        .session = session,
        .batch.epoch = 0,
        .batch.step = step,
        .batch.steps = step + 1,
        .batch.epochs = 1,
        .batch.b = PAIRS,
        .batch.v = VIEWS,
        .height = SIDE,
        .width = SIDE,
        .channels = CHANNELS,
        .batch.ids = ids,
        .batch.pixels = views,
    };

    memset(views, (int)(step & 255), sizeof views); // as fresh from augmenting
    for (size_t i = 0; i < PAIRS; i++)
        ids[i] = (int64_t)i;
    return wire_batch_put(&batch);
}

/* The augmenter: a batch for each snapshot, as long as there is a trainer. */
static void
bring(void)
{
    const struct flow_client_config config = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_BATCH,
        .hello = {.stage = "augment", .recipe = "none"},
    };
    struct err err;
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *client = flow_client_open(wire, &config, &err);
    struct flow_event event;
    struct wire_msg *msg;
    const pid_t trainer = getppid();
    int64_t step = 0;

    while (getppid() == trainer && wire_wait(wire, -1, 1, &err) > 0) {
        while (flow_client_next(client, &event, &err) > 0) {
            if (event.kind != FLOW_MESSAGE)
                continue;
            msg = make(event.want->at.session, step++);
            flow_client_send(client, msg);
            wire_msg_free(msg);
        }
    }
}

static int
by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void
print_median(size_t n, double *seconds)
{
    qsort(seconds, n, sizeof *seconds, by_size);
    printf("%.1f ", seconds[n / 2] * 1e6);
}

/* Waits for an event of that kind; what is refused ends the measurement. */
static void
until(struct wire *wire, struct flow_server *server, enum flow_event_kind what,
      struct flow_event *event)
{
    struct err err;

    for (;;) {
        while (flow_server_next(server, event) > 0) {
            if (event->kind == what)
                return;
            if (event->kind == FLOW_REPORT) {
                fprintf(stderr, "bench_wire: %s\n", event->why.msg);
                exit(1);
            }
        }
        wire_wait(wire, -1, 1, &err);
    }
}

/* The trainer: asks for one, takes it in. */
static void
round_trips(size_t n, double *trip, double *decode)
{
    const struct flow_server_config config = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_BATCH,
        .hello = {.stage = "train"},
    };
    struct err err;
    struct wire *wire = wire_open(NULL, &err);
    struct flow_server *server = flow_server_open(wire, &config, &err);
    struct wire_batch batch;
    struct wire_want one = {.at = {1, 0, 0}, .window = 1, .room = -1};
    struct flow_event event;
    uint64_t peer;

    REQUIRE(server);
    until(wire, server, FLOW_JOINED, &event);
    peer = event.peer;
    for (size_t i = 0; i < n; i++) {
        const double start = clock_now();
        struct wire_msg *next;
        double came;

        one.serial = (int64_t)i + 1;
        next = wire_want_put(&one);
        flow_server_send(server, peer, next);
        wire_msg_free(next);
        until(wire, server, FLOW_MESSAGE, &event);
        came = clock_now();
        REQUIRE(!wire_batch_get(&batch, event.msg, 0, &err));
        decode[i] = clock_now() - came;
        trip[i] = clock_now() - start;
        wire_batch_release(&batch);
    }
    flow_server_close(server);
    wire_close(wire);
}

int
main(int argc, char **argv)
{
    const size_t n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    double *trip, *encode, *decode;
    char *folder = mem_text(endpoint + strlen("ipc://"));
    struct err err;
    pid_t pid;

    if (!n)
        return 2;
    *strrchr(folder, '/') = 0;
    if (!mkdtemp(folder))
        return 1;
    memcpy(endpoint + strlen("ipc://"), folder, strlen(folder));
    pid = fork();
    if (!pid) {
        bring();
        _exit(0);
    }
    trip = mem_array(n, sizeof *trip);
    encode = mem_array(n, sizeof *encode);
    decode = mem_array(n, sizeof *decode);
    round_trips(n, trip, decode);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    for (size_t i = 0; i < n; i++) {
        const double start = clock_now();
        struct wire_msg *msg = make(1, 0);

        encode[i] = clock_now() - start;
        wire_msg_free(msg);
    }
    print_median(n, trip);
    print_median(n, encode);
    print_median(n, decode);
    printf("\n");
    file_remove(folder, &err);
    free(folder);
    free(trip);
    free(encode);
    free(decode);
    return 0;
}
