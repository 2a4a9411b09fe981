/* A trainer's messages, read by a run_live. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/live.h"
#include "t.h"
#include "util/mem.h"

static struct wire *wire; // of both ends

/* Waits for a message of a kind, and skips others: 1, or 0 after 6 s. */
static int
arrives(struct run_live *live, enum wire_kind kind)
{
    struct err err;

    for (int i = 0; i < 600; i++) {
        while (run_live_next(live))
            if (wire_msg_kind(live->msg) == kind)
                return 1;
        wire_wait(wire, -1, .01, &err);
    }
    return 0;
}

/* Publishes statuses until one arrives: then both ends are connected. */
static int
connect_ends(struct run_live *live, struct wire_feed *feed)
{
    struct wire_status status = {.stage = "augment", .number = 2};

    for (int i = 0; i < 600 && live->received_at <= 0; i++) {
        struct err err;

        wire_feed_status(feed, &status);
        wire_wait(wire, -1, .01, &err);
        run_live_next(live);
    }
    return live->received_at > 0;
}

static void
publish_event(struct wire_feed *feed, const char *what, const char *reason)
{
    struct wire_event event = {.epoch = 3};

    snprintf(event.what, sizeof event.what, "%s", what);
    snprintf(event.reason, sizeof event.reason, "%s", reason);
    wire_feed_event(feed, &event);
}

static void
messages_are_taken(struct run_live *live, struct wire_feed *feed)
{
    const struct wire_status past = {.stage = "select", .number = 1};
    struct wire_metrics metrics = {
        .stage = "negatives", .n = 1, .values = {{"loss", 1, 0}}};

    run_stages_put(&live->stages, &past, 0);
    live->past = 1;
    T(connect_ends(live, feed), "a status arrives");
    T(live->stages.n == 1 && !live->past &&
          run_stages_find(&live->stages, "augment", 2)->received_at ==
              live->received_at,
      "stages of an earlier run are replaced");
    wire_feed_metrics(feed, &metrics);
    snprintf(metrics.stage, sizeof metrics.stage, "train");
    metrics.values[0].value = 2;
    wire_feed_metrics(feed, &metrics);
    T(arrives(live, WIRE_METRICS) && live->metrics.values[0].value == 2,
      "metrics of the trainer arrive, others do not");
    publish_event(feed, "stop", "done");
    T(arrives(live, WIRE_EVENT) && live->over && live->event.epoch == 3 &&
          !strcmp(live->reason, "done"),
      "a stop ends the run, with its reason");
    publish_event(feed, "step", "");
    T(arrives(live, WIRE_EVENT) && !live->over, "a later event continues it");
}

int
main(void)
{
    static const char *const kinds[RUN_LISTENERS] = {"event status", "metrics"};
    const struct wire_limits limits = {.queue = 64};
    char run[] = "/tmp/live-XXXXXX";
    struct run_live live;
    struct wire_feed *feed;

    char *endpoint;
    struct err err;

    if (!mkdtemp(run))
        return 1;
    endpoint = mem_format("ipc://%s/events", run);
    wire = wire_open(NULL, &err);
    feed = wire_feed_open(wire, endpoint, &limits, &err);
    T(!run_live_open(&live, wire, endpoint, kinds, 64, &err),
      "a run is followed");
    messages_are_taken(&live, feed);
    run_live_close(&live);
    T(run_live_open(&live, wire, "odd:", kinds, 64, &err) == -1 &&
          strstr(err.msg, "odd:"),
      "an invalid endpoint is refused: %s", err.msg);
    run_live_close(&live);
    wire_feed_close(feed);
    wire_close(wire);
    free(endpoint);
    rmdir(run);
    return t_done();
}
