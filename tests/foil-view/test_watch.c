#include "foil-view/watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"
#include "util/mem.h"

struct bench {
    char run[32];
    struct wire *wire;
    struct wire_feed *feed;
    struct watch watch;
};

/* Publishes a status until the log has n lines: the first ones may come before
 * the watch is connected. */
static int
has_lines(struct bench *b, size_t n)
{
    struct err err;

    for (int i = 0; i < 6000 && json_array_size(b->watch.log) != n; i++) {
        struct wire_status status = {.stage = "train", .number = 1};

        wire_feed_status(b->feed, &status);
        wire_wait(b->watch.stage.wire, -1, .01, &err);
        watch_poll(&b->watch);
    }
    return json_array_size(b->watch.log) == n;
}

static const char *
path_of(const struct bench *b, size_t i)
{
    return json_string_value(
        json_object_get(json_array_get(b->watch.log, i), "path"));
}

static void
publish_checkpoint(struct bench *b, const char *path)
{
    struct wire_event event = {.what = "checkpoint"};

    snprintf(event.path, sizeof event.path, "%s", path);
    wire_feed_event(b->feed, &event);
}

int
main(void)
{
    struct bench b = {.run = "/tmp/watch-XXXXXX"};
    const struct wire_limits limits = {.queue = 64};
    char *saved, *endpoint;
    struct err err;

    if (!mkdtemp(b.run))
        return 1;
    saved = mem_format("%s/step-00000007", b.run);
    endpoint = mem_format("ipc://%s/events", b.run);
    b.wire = wire_open(NULL, &err);
    b.feed = wire_feed_open(b.wire, endpoint, &limits, &err);
    watch_open(&b.watch,
               &(struct watch_where){.stage.run = b.run, .points = 100});
    T(b.feed && !json_array_size(b.watch.log), "a run without checkpoints");
    T(!mkdir(saved, 0700) && has_lines(&b, 1) && !strcmp(path_of(&b, 0), saved),
      "a checkpoint saved before the connection is in the log");
    publish_checkpoint(&b, "elsewhere/step-00000008");
    publish_checkpoint(&b, "elsewhere/step-00000007");
    publish_checkpoint(&b, "elsewhere/step-00000009");
    T(has_lines(&b, 3) && !strcmp(path_of(&b, 1), "elsewhere/step-00000007"),
      "a checkpoint in the directory and an event is there once");
    watch_close(&b.watch);
    wire_feed_close(b.feed);
    wire_close(b.wire);
    rmdir(saved);
    rmdir(b.run);
    free(saved);
    free(endpoint);
    return t_done();
}
