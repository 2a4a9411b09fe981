#include <stdlib.h>
#include <string.h>

#include "run/metrics.h"
#include "top.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/keys.h"

/* Bytes of metrics.jsonl that are read, of its end. */
static const long most = 16 << 20;

/* The steps that a trainer wrote down: of a longer file the first line that is
 * read is half a one, and has no number. */
static void
read_steps(struct top *top, const char *run)
{
    struct run_metrics step = {.n = 0};

    run_lines_skip(&step.lines, run, RUN_METRICS, most);
    while (run_metrics_next(&step, run))
        top_step(top, step.value, step.n);
    run_metrics_release(&step);
}

void
top_listen(struct top_ear *ear, const struct top_where *where, struct top *top)
{
    const struct wire_limits limits = {.queue = 1000};
    char *endpoint = wire_endpoint(where->events, where->run, "events");
    struct err err;

    *ear = (struct top_ear){.wire = NULL};
    if (where->keys &&
        wire_keys_open(&ear->keys, where->keys, where->allow, &err))
        die("%s", err.msg);
    ear->wire = wire_open(where->keys ? &ear->keys : NULL, &err);
    if (ear->wire)
        ear->listener = wire_listener_open(
            ear->wire, endpoint, "metrics event status", &limits, &err);
    if (!ear->listener)
        die("%s", err.msg);
    free(endpoint);
    if (where->run)
        read_steps(top, where->run);
}

/* A trainer that goes on after all is another one. */
static void
take_event(struct top *top, const struct wire_event *event)
{
    top->over = !strcmp(event->what, "stop");
    memcpy(top->reason, event->reason, sizeof top->reason);
}

static void
take_message(struct top *top, const struct wire_msg *msg, double now)
{
    struct wire_metrics *metrics;
    struct wire_status status;
    struct wire_event event;
    struct err ignored;

    top->heard = now;
    switch (wire_msg_kind(msg)) {
    case WIRE_METRICS:
        metrics = mem_array(1, sizeof *metrics);
        if (!wire_metrics_get(metrics, msg, &ignored) &&
            !strcmp(metrics->stage, "train"))
            top_step(top, metrics->values, metrics->n);
        free(metrics);
        return;
    case WIRE_STATUS:
        if (!wire_status_get(&status, msg, &ignored))
            top_status(top, &status, now);
        return;
    default:
        if (!wire_event_get(&event, msg, &ignored))
            take_event(top, &event);
        return;
    }
}

int
top_hear(struct top_ear *ear, struct top *top)
{
    const double now = clock_now();
    struct wire_msg *msg;
    uint64_t missed;
    struct err err;
    int rc, heard = 0;

    while ((rc = wire_listener_next(ear->listener, &msg, &missed, &err))) {
        if (rc < 0)
            continue; // the next one says how it is
        take_message(top, msg, now);
        wire_msg_free(msg);
        heard = 1;
    }
    return heard;
}

void
top_ear_release(struct top_ear *ear)
{
    wire_listener_close(ear->listener);
    wire_close(ear->wire);
    wire_keys_release(&ear->keys);
}
