#include <signal.h>
#include <sys/wait.h>

#include "flow/inlet.h"
#include "flow/replay.h"
#include "t.h"
#include "wire/batch.h"
#include "wire/record.h"

#include "flow/ends.h"

enum { STEPS = 6 };

static uint8_t views[2 * 2 * 4 * 4 * 3];
static const int64_t ids[2] = {3, 4};

static struct wire_msg *
step(enum wire_kind kind, int64_t k)
{
    struct wire_batch batch = {.session = 1,
                               .batch.epoch = 0,
                               .batch.step = k,
                               .batch.steps = STEPS,
                               .batch.epochs = 1,
                               .batch.b = 2,
                               .batch.v = 2,
                               .height = 4,
                               .width = 4,
                               .channels = 3,
                               .batch.ids = ids,
                               .batch.pixels = views};
    struct wire_item item = {.session = 1,
                             .batch.epoch = 0,
                             .batch.step = k,
                             .size = 10,
                             .batch.steps = STEPS,
                             .batch.epochs = 1,
                             .batch.b = 2,
                             .batch.ids = ids};

    views[0] = (uint8_t)k;
    return kind == WIRE_BATCH ? wire_batch_put(&batch) : wire_item_put(&item);
}

/* A recording out of order, with one step twice. */
static void
make(const char *path, enum wire_kind kind)
{
    static const int64_t order[] = {1, 0, 2, 5, 4, 2, 3};
    struct wire_hello hello =
        hello_of(kind == WIRE_BATCH ? "augment" : "select", "r", digest_a, 10);
    struct wire_msg *msg = wire_hello_put(&hello);
    const struct wire_record record = {0, 1};
    FILE *file = fopen(path, "wb");
    struct err err;

    wire_record_start(file, &err);
    wire_record_put(file, &record, msg, &err);
    wire_msg_free(msg);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        msg = step(kind, order[i]);
        wire_record_put(file, &record, msg, &err);
        wire_msg_free(msg);
    }
    fclose(file);
}

static pid_t
play(const char *path, const char *endpoint)
{
    struct flow_replay *replay;
    struct wire *wire;
    struct err err = {""};
    pid_t pid = fork();
    int rc;

    if (pid)
        return pid;
    replay = flow_replay_open(path, &err);
    wire = wire_open(NULL, &err);
    rc = flow_replay_run(replay, wire, -1, endpoint, NULL, &err);
    flow_replay_close(replay);
    wire_close(wire);
    _exit(rc ? 1 : 0);
}

static int
ends_well(pid_t pid)
{
    int status;

    return waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

/* As foil-train: every batch in order, from our place on. */
static void
batches(const char *path)
{
    const char *endpoint = at("batch");
    const pid_t pid = play(path, endpoint);
    struct flow_inlet_config config = {
        .server.endpoint = endpoint,
        .server.hello = hello_of("train", "", "", 0),
        .at = {500, 0, 1},
        .window = 2,
    };
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_inlet *inlet = flow_inlet_open(wire, &config, &err);
    struct wire_batch batch;
    struct wire_place at;
    struct flow_event event;
    int64_t want = 1;
    int right = 1;

    while (flow_consumer_ended(inlet->consumer) != FLOW_ALL_ENDED &&
           wire_wait(wire, -1, 1, &err) > 0) {
        while (flow_inlet_next(inlet, &event)) {
            if (event.kind != FLOW_MESSAGE ||
                wire_batch_get(&batch, event.msg, 10, &err))
                continue;
            right &= batch.batch.step == want && batch.session == 500 &&
                     batch.batch.pixels[0] == want;
            batch.batch.step = ++want;
            at = wire_place_of(batch.session, &batch.batch);
            flow_consumer_set_place(inlet->consumer, &at);
            wire_batch_release(&batch);
        }
        flow_inlet_send_snapshots(inlet);
    }
    T(right && want == STEPS, "each batch once, in order, as recorded");
    T(!strcmp(flow_server_hello(inlet->server)->digest, digest_a),
      "with the recorded hello");
    flow_server_send_over(inlet->server, &config.at);
    flow_inlet_close(inlet);
    wire_close(wire);
    T(ends_well(pid), "it ends when the run is over");
}

/* As foil-augment: what is wanted, in order. */
static void
items(const char *path)
{
    const char *endpoint = at("plan");
    const pid_t pid = play(path, endpoint);
    struct flow_client_config config = {
        .endpoint = endpoint,
        .edge = WIRE_EDGE_PLAN,
        .hello = hello_of("augment", "", digest_a, 10),
    };
    struct err err = {""};
    struct wire *wire = wire_open(NULL, &err);
    struct flow_client *client = flow_client_open(wire, &config, &err);
    struct wire_item item;
    struct flow_event event;
    struct wire_msg *msg;
    int64_t want = 2, serial = 0;
    int ended = 0, right = 1;

    while (!ended && wire_wait(wire, -1, 1, &err) > 0) {
        while (flow_client_next(client, &event, &err) > 0) {
            ended |= event.kind == FLOW_ENDED;
            if (event.kind != FLOW_MESSAGE ||
                wire_item_get(&item, event.msg, 10, &err))
                continue;
            right &= item.batch.step == want++ && item.session == 7;
            wire_item_release(&item);
        }
        msg = next_of(7, 0, want, ++serial);
        flow_client_send(client, msg);
        wire_msg_free(msg);
    }
    T(right && want == STEPS, "each item once, in order, from the place");
    msg = wire_end_put(&(struct wire_end){{7, 0, want}, 1});
    flow_client_send(client, msg);
    wire_msg_free(msg);
    flow_client_close(client);
    wire_close(wire);
    T(ends_well(pid), "it ends when the run is over");
}

int
main(void)
{
    struct flow_replay *replay;
    struct err err = {""};
    char path[128];

    scratch_open();
    snprintf(path, sizeof path, "%s/rec", scratch);
    T(!flow_replay_open(path, &err), "no such file: %s", err.msg);
    make(path, WIRE_BATCH);
    replay = flow_replay_open(path, &err);
    T(replay && !strcmp(flow_replay_edge(replay), "batch"), "an augmenter's");
    flow_replay_close(replay);
    batches(path);
    make(path, WIRE_ITEM);
    replay = flow_replay_open(path, &err);
    T(replay && !strcmp(flow_replay_edge(replay), "plan"), "a selector's");
    flow_replay_close(replay);
    items(path);
    scratch_close();
    return t_done();
}
