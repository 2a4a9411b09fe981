/*
 * foil-augment turns the ids of plan items into decoded, augmented views: it
 * asks a selector for items and brings batches to a trainer.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "foil-augment/maker.h"
#include "foil-augment/outbox.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/priority.h"
#include "util/progress.h"
#include "util/stop.h"
#include "wire/client.h"
#include "wire/reject.h"

enum {
    NAMED_BAD = 10, /* so many bad samples are named on stderr */
    PATIENCE = 10   /* seconds between two times that we say so */
};

static const struct augment_options *options;

struct augmenter {
    struct augment_maker maker;
    struct augment_outbox outbox;
    struct wire *wire;
    struct wire_client *plan, *batches;
    struct progress progress;
    int over;
};

/*
 * A bad sample got a substitute: tell the selector always,
 * the user the first few times.
 */
static void
tell_substitute(void *data, const struct wire_place *at, const int64_t pair[2],
                int first, const struct err *why)
{
    struct augmenter *a = data;
    struct wire_reject reject = {.at = *at, .n = 1, .ids = pair};
    struct wire_msg *msg;

    snprintf(reject.reason, sizeof reject.reason, "%.*s",
             (int)sizeof reject.reason - 1, why->msg);
    msg = wire_reject_put(&reject);
    wire_client_send(a->plan, msg);
    wire_msg_free(msg);
    if (!first)
        return;
    progress_clear(&a->progress);
    if (a->maker.bad <= NAMED_BAD)
        say("%s; its substitute is '%s'", why->msg,
            data_name(a->maker.set, (size_t)pair[1]));
}

static void
show_life(void *data)
{
    const struct augmenter *a = data;

    wire_beat(a->wire);
}

/* An item that the trainer does not wait for any more is let go. */
static void
take_item(struct augmenter *a)
{
    const struct wire_item *item = wire_client_item(a->plan);
    char where[64];

    if (!augment_outbox_wants(&a->outbox, &item->at))
        return;
    if (!a->outbox.sent)
        augment_maker_tell(&a->maker, item, wire_client_credit(a->batches));
    augment_outbox_put(&a->outbox, &item->at,
                       augment_maker_make(&a->maker, item));
    snprintf(where, sizeof where, "epoch %" PRId64 " step %" PRId64,
             item->at.epoch, item->at.step);
    progress_show(&a->progress, (double)a->outbox.sent, where);
}

/* What the trainer says: credit, where it is, that the run is over. */
static void
hear_trainer(struct augmenter *a)
{
    struct wire_news news;
    struct wire_place at;
    struct err err;
    int rc, waits = 0;

    while ((rc = wire_client_next(a->batches, &news, &err)) > 0) {
        a->over |= news.what == WIRE_ENDED;
        waits |= news.what == WIRE_WAITED;
        if (news.what == WIRE_REPORT)
            say("%s", news.why.msg);
    }
    if (rc < 0)
        die("%s", err.msg);
    augment_outbox_send(&a->outbox);
    at = wire_client_place(a->batches);
    if (at.session < 0)
        return;
    wire_client_pass(a->plan, &at);
    if (waits)
        wire_client_waits(a->plan, &at);
    if (wire_client_credit(a->batches) > a->outbox.n)
        wire_client_want(a->plan, wire_client_credit(a->batches) - a->outbox.n);
}

/* One thing that the selector says.  Returns 1 when there may be more. */
static int
hear_selector(struct augmenter *a)
{
    struct wire_news news;
    struct wire_msg *end;
    struct err err;
    int rc = wire_client_next(a->plan, &news, &err);

    if (rc < 0)
        die("%s", err.msg);
    if (rc == 0)
        return 0;
    if (news.what == WIRE_MESSAGE)
        take_item(a);
    if (news.what == WIRE_REPORT)
        say("%s", news.why.msg);
    a->over |= news.what == WIRE_OVER;
    if (news.what != WIRE_ENDED)
        return 1;
    end = wire_place_put(WIRE_END, &news.at);
    wire_client_send(a->batches, end);
    wire_msg_free(end);
    return 1;
}

static int
enough(const struct augmenter *a)
{
    return a->over ||
           (options->max_items && a->outbox.sent >= options->max_items);
}

static struct wire_client *
connect_to(struct augmenter *a, enum wire_client_kind kind, const char *role,
           const char *given, const char *edge)
{
    struct wire_client_config config = {
        .role = role,
        .kind = kind,
        .hello = {.stage = "augment", .size = (int64_t)data_size(a->maker.set)},
        .limits = {.part_bytes = kind == WIRE_ASKS ? WIRE_ITEM_PART : 0},
    };
    struct digest digest = data_digest(a->maker.set);
    char *endpoint = wire_endpoint(given, options->run, edge);
    struct wire_client *client;
    struct err err;

    digest_hex(&digest, config.hello.digest);
    augment_recipe(config.hello.recipe);
    config.endpoint = endpoint;
    client = wire_client_open(a->wire, &config, &err);
    if (!client)
        die("%s", err.msg);
    free(endpoint);
    return client;
}

/* Say it from time to time when nobody is there, or lets us in. */
static void
tell_waiting(const struct augmenter *a, double *since)
{
    struct err plan, batches;
    const int no_plan = wire_client_trouble(a->plan, &plan),
              no_batches = wire_client_trouble(a->batches, &batches);

    if ((no_plan || no_batches) && clock_now() - *since < PATIENCE)
        return;
    *since = clock_now();
    if (no_plan)
        say("still waiting for a selector: %s", plan.msg);
    if (no_batches)
        say("still waiting for a trainer: %s", batches.msg);
}

static void
serve(struct augmenter *a, const struct wire_keys *keys)
{
    double since = clock_now();
    struct err err;
    int stop = stop_fd(&err), rc = 1;

    a->wire = stop < 0 ? NULL : wire_open(keys, &err);
    if (!a->wire)
        die("%s", err.msg);
    a->plan = connect_to(a, WIRE_ASKS, options->filter ? "negatives" : "select",
                         options->plan, options->filter ? "items" : "plan");
    a->batches = connect_to(a, WIRE_BRINGS, "train", options->batches, "batch");
    a->outbox.trainer = a->batches;
    progress_start(&a->progress, "batches", 0, (double)options->max_items);
    while (rc > 0 && !enough(a)) {
        rc = wire_wait(a->wire, stop, 1, &err);
        do
            hear_trainer(a);
        while (rc > 0 && !enough(a) && !stop_asked() && hear_selector(a));
        tell_waiting(a, &since);
    }
    progress_clear(&a->progress);
    if (rc < 0)
        die("%s", err.msg);
    if (a->over)
        wire_client_over(a->plan);
    wire_client_close(a->batches);
    wire_client_close(a->plan);
    wire_close(a->wire);
}

int
main(int argc, char **argv)
{
    struct augmenter a = {0};
    struct wire_keys keys = {0};
    struct err err;

    options = augment_options_get(argc, argv);
    priority_low();
    if (options->sheet)
        end_when_stopped();
    if (options->keys &&
        wire_keys_open(&keys, options->keys, options->allow, &err))
        die("%s", err.msg);
    a.maker.watcher = (struct augment_watcher){tell_substitute, show_life, &a};
    augment_maker_open(&a.maker, options);
    if (options->sheet)
        augment_maker_sheet(&a.maker);
    else
        serve(&a, options->keys ? &keys : NULL);

    wire_keys_release(&keys);
    augment_maker_close(&a.maker);
    augment_outbox_release(&a.outbox);
    return EXIT_OK;
}
