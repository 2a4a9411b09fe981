#include <stdio.h>
#include <string.h>

#include "train.h"
#include "util/clock.h"

/* Seconds between two publications of the stages' status. */
static const double every = 1;

static void
add_count(struct wire_status *status, const char *name, double value)
{
    value_add(status->values, &status->n, WIRE_STATUS_MAX, name, value);
}

static void
begin_status(struct wire_status *status, const char *stage, uint64_t number)
{
    *status = (struct wire_status){.number = (int64_t)number};
    snprintf(status->stage, sizeof status->stage, "%s", stage);
}

/* Publishes a status, and stores it for stages.json. */
static void
send_stage(struct train *t, struct wire_status *status)
{
    run_stages_put(&t->stages, status, t->status_sent_at);
    wire_feed_status(t->feed, status);
}

static void
send_augment(struct train *t, uint64_t peer,
             const struct wire_heartbeat *heartbeat)
{
    struct wire_status status;

    begin_status(&status,
                 flow_server_peer_hello(t->source.inlet->server, peer)->stage,
                 peer);
    if (heartbeat->room) {
        add_count(&status, "room", (double)heartbeat->room);
        add_count(&status, "items", (double)heartbeat->items);
        add_count(&status, "ready", (double)heartbeat->ready);
        add_count(&status, "made", (double)heartbeat->made);
        add_count(&status, "source", *heartbeat->source != 0);
    }
    send_stage(t, &status);
}

/* The status of a selector or negatives service; if several hand out items, of
 * the one that an augmenter named last. */
static void
send_feeder(struct train *t, const char *stage, size_t augmenters)
{
    struct wire_status status;

    begin_status(&status, stage, 1);
    if (augmenters)
        add_count(&status, "augmenters", (double)augmenters);
    if (t->service.service && !strcmp(stage, "negatives"))
        add_count(&status, "joined", flow_client_joined(t->service.service));
    send_stage(t, &status);
}

void
train_status_send(struct train *t, double waits)
{
    struct flow_server *server = t->source.inlet->server;
    const double now = clock_now();
    const char *source = "";
    size_t augmenters = 0;
    struct wire_status status;
    struct wire_event event = {.what = "result",
                               .epoch = t->state_before.epoch,
                               .step = t->state_before.step};
    char text[RUN_RESULTS_TEXT];
    json_t *result;

    if (now - t->status_sent_at < every)
        return;
    t->status_sent_at = now;
    t->stages.n = 0;
    // prints the sentences of new results, and publishes the lines that fit
    // into an event
    while (run_results_next(&t->results, t->options->stage.run, &result)) {
        if (run_results_text(result, text)) {
            progress_clear(&t->journal.progress);
            log_message("%s", text);
        }
        if (result && t->results.len <= sizeof event.line) {
            snprintf(event.line, sizeof event.line, "%.*s",
                     (int)t->results.len - 1, t->results.last);
            wire_feed_event(t->feed, &event);
        }
        json_decref(result);
    }
    begin_status(&status, "train", 1);
    add_count(&status, "steps", t->journal.progress.total);
    add_count(&status, "epochs", (double)t->state_before.epochs);
    add_count(&status, "window", (double)t->options->window);
    add_count(&status, "held",
              (double)flow_consumer_held(t->source.inlet->consumer));
    add_count(&status, "waits", waits);
    add_count(&status, "cpu", clock_cpu());
    send_stage(t, &status);
    for (size_t i = 0; i < flow_server_peers(server); i++) {
        const uint64_t peer = flow_server_peer(server, i);
        const struct wire_heartbeat *heartbeat =
            flow_server_heartbeat(server, peer);

        send_augment(t, peer, heartbeat);
        if (*heartbeat->source) {
            source = heartbeat->source;
            augmenters++;
        }
    }
    if (augmenters)
        send_feeder(t, source, augmenters);
    if (t->service.service && strcmp(source, "negatives"))
        send_feeder(t, "negatives", 0);
}

void
train_status_save(struct train *t)
{
    t->status_sent_at = 0;
    train_status_send(t, 0);
    run_stages_save(&t->stages, t->options->stage.run, t->state.total);
}
