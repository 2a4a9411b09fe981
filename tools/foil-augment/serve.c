#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/client.h"
#include "flow/relay.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"
#include "util/stop.h"
#include "util/tally.h"
#include "wire/error.h"
#include "wire/reject.h"

#include "serve.h"

enum {
    NAMED_BAD = 10, /* so many bad samples are named on stderr */
    PATIENCE = 10   /* seconds between two times that we say so */
};

/* Seconds between two looks at what the trainer says while a batch is made; in
 * which a lost selector has to be back to hear that the run is over. */
static const double glance = 0.01, parting = 10;

struct augmenter {
    const struct augment_options *options;
    struct augment_maker *maker;
    struct flow_relay *relay; /* items are struct wire_item, batches messages */
    struct wire *wire;
    struct flow_client *plan, *batches;
    struct progress progress;
    long sent;
    double glanced;       /* when we looked last */
    double told;          /* when the trainer was told how we are */
    double spoke;         /* when the trainer sent something last */
    struct wire_place at; /* of the trainer, and */
    double moved;         /* since when */
    int stop;             /* descriptor */
    int64_t refused;      /* batches, by the trainer */
    struct tally older;   /* snapshots of an older session */
    int over;             /* the run is, says the trainer, */
    int dismissed;        /* or the selector */
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
    flow_client_send(a->plan, msg);
    wire_msg_free(msg);
    if (!first)
        return;
    progress_clear(&a->progress);
    if (a->maker->bad <= NAMED_BAD)
        say("%s; its substitute is '%s'", why->msg,
            data_name(a->maker->set, (size_t)pair[1]));
}

/* ---- the relay and its two neighbours ---------------------------------- */

static void
release_item(struct wire_item *item, struct wire_msg *batch)
{
    if (item)
        wire_item_release(item);
    free(item);
    wire_msg_free(batch);
}

static void
drop_stale(struct augmenter *a)
{
    void *item, *batch;

    while (flow_relay_stale(a->relay, &item, &batch))
        release_item(item, batch);
}

static void
send_batches(struct augmenter *a)
{
    struct wire_msg *batch;

    while ((batch = flow_relay_ready(a->relay)) &&
           flow_client_send(a->batches, batch)) {
        flow_relay_sent(a->relay);
        wire_msg_free(batch);
        a->sent++;
    }
}

/* What the trainer said goes on to the selector. */
static void
pass_on(struct augmenter *a)
{
    const double now = clock_now();
    struct wire_next next;
    struct wire_msg *msg;

    if (!flow_client_joined(a->plan) || !flow_relay_turn(a->relay, now, &next))
        return;
    msg = wire_next_put(&next);
    flow_relay_told(a->relay, flow_client_send(a->plan, msg), now);
    wire_msg_free(msg);
}

/* The trainer will not have a batch because of its item: the stage that
 * handed that out is told, and takes it back. */
static void
pass_refusal(struct augmenter *a, const struct flow_news *news)
{
    struct wire_error error = {.id = -1,
                               .of = {.kind = "item", .at = news->at},
                               .count = ++a->refused};
    struct wire_msg *msg;

    snprintf(error.reason, sizeof error.reason, "%s",
             *news->why.msg ? news->why.msg : "the trainer refuses its batch");
    msg = wire_error_put(&error);
    flow_client_send(a->plan, msg);
    wire_msg_free(msg);
    if (*news->why.msg)
        say("%s", news->why.msg);
}

/* The trainer's snapshot.  Nothing restarts a trainer into the past but a clock
 * that was set back: the session before was true by the clock of that time, and
 * is forgotten where it cannot be by ours. */
static void
take_snapshot(struct augmenter *a)
{
    const struct wire_next *next = flow_client_snapshot(a->batches);
    const struct wire_place newest = flow_relay_place(a->relay);
    struct err why;

    if (next->at.session < newest.session &&
        wire_session_check(newest.session, &why))
        flow_relay_forget(a->relay);
    flow_relay_next(a->relay, next);
    if (next->at.session >= flow_relay_place(a->relay).session)
        return;
    err_set(&why,
            "the trainer is of an older session, %jd, than one before it, %jd, "
            "and gets nothing: set the clock of its machine, which is behind, "
            "or start us and the selector again",
            (intmax_t)next->at.session, (intmax_t)newest.session);
    if (tally_add(&a->older, &why))
        say("%s", why.msg);
}

/* With our next sign of life the trainer hears how we are. */
static void
tell_trainer(struct augmenter *a)
{
    const double now = clock_now();
    struct wire_beat beat = {
        .room = a->options->room,
        .items = (int64_t)flow_relay_items(a->relay),
        .ready = (int64_t)flow_relay_kept(a->relay),
        .made = a->sent,
    };

    if (now - a->told < WIRE_BEAT_EVERY / 2)
        return;
    a->told = now;
    if (flow_client_joined(a->plan))
        memcpy(beat.source, flow_client_who(a->plan)->stage,
               sizeof beat.source);
    flow_client_beat(a->batches, &beat);
}

static void
hear_trainer(struct augmenter *a)
{
    struct flow_news news;
    struct err err;
    int rc;

    while ((rc = flow_client_next(a->batches, &news, &err)) > 0) {
        a->spoke = clock_now();
        if (news.what == FLOW_JOINED)
            flow_relay_lost(a->relay);
        if (news.what == FLOW_MESSAGE)
            take_snapshot(a);
        if (news.what == FLOW_UNWANTED)
            pass_refusal(a, &news);
        if (news.what == FLOW_REPORT)
            say("%s", news.why.msg);
        a->over |= news.what == FLOW_OVER;
    }
    if (rc < 0)
        die("%s", err.msg);
    drop_stale(a);
    send_batches(a);
    pass_on(a);
    tell_trainer(a);
}

/* While a batch is made: the trainer is heard, and we are. */
static void
show_life(void *data)
{
    struct augmenter *a = data;
    const double now = clock_now();

    wire_beat(a->wire);
    if (now - a->glanced < glance)
        return;
    a->glanced = now;
    hear_trainer(a);
}

static int
somebody_waits(void *data)
{
    const struct augmenter *a = data;

    return flow_relay_waits(a->relay);
}

/* Refuses an item whose batch the trainer would not receive: 1. */
static int
is_too_large(struct augmenter *a, const struct wire_item *item)
{
    const int64_t most = flow_client_who(a->batches)->max_batch;
    struct err why;

    if (!augment_maker_fits(a->maker, item,
                            most ? (size_t)most : WIRE_BATCH_PART, &why))
        return 0;
    if (flow_client_refuse(a->plan, &why))
        say("%s", why.msg);
    return 1;
}

static void
take_item(struct augmenter *a)
{
    struct wire_item *item;
    struct wire_place at;

    if (is_too_large(a, flow_client_item(a->plan)))
        return;
    item = mem_array(1, sizeof *item);
    *item = *flow_client_item(a->plan);
    item->msg = wire_msg_hold(item->msg);
    at = wire_place_of(item->session, &item->batch);
    if (!flow_relay_take(a->relay, &at, item))
        release_item(item, NULL);
}

static void
pass_end(struct augmenter *a, const struct wire_place *at)
{
    const struct wire_end end = {.at = *at};
    struct wire_msg *msg = wire_end_put(&end);

    flow_client_send(a->batches, msg);
    wire_msg_free(msg);
}

static void
hear_selector(struct augmenter *a)
{
    struct flow_news news;
    struct err err;
    int rc;

    while ((rc = flow_client_next(a->plan, &news, &err)) > 0) {
        if (news.what == FLOW_JOINED)
            flow_relay_met(a->relay);
        if (news.what == FLOW_MESSAGE)
            take_item(a);
        if (news.what == FLOW_REPORT)
            say("%s", news.why.msg);
        if (news.what == FLOW_ENDED || news.what == FLOW_OVER)
            pass_end(a, &news.at);
        a->dismissed |= news.what == FLOW_OVER;
    }
    if (rc < 0)
        die("%s", err.msg);
    pass_on(a);
}

/* Makes the batch of the lowest item that is wanted: 1, or 0 when there is
 * none. */
static int
make_batch(struct augmenter *a)
{
    const struct wire_item *item = flow_relay_work(a->relay);
    char where[64];

    if (!item)
        return 0;
    if (!a->sent)
        augment_maker_tell(a->maker, item, (size_t)a->options->room);
    snprintf(where, sizeof where, "epoch %" PRId64 " step %" PRId64,
             item->batch.epoch, item->batch.step);
    flow_relay_made(a->relay, augment_maker_make(a->maker, item));
    drop_stale(a);
    send_batches(a);
    pass_on(a);
    progress_show(&a->progress, (double)a->sent, where);
    return 1;
}

static int
has_enough(const struct augmenter *a)
{
    return a->over || a->dismissed ||
           (a->options->max_items && a->sent >= a->options->max_items);
}

static struct flow_client *
connect_to(struct augmenter *a, enum wire_edge edge, const char *role,
           const char *given, const char *name)
{
    struct flow_client_config config = {
        .role = role,
        .edge = edge,
        .hello = {.stage = "augment",
                  .size = (int64_t)data_size(a->maker->set)},
    };
    struct digest digest = data_digest(a->maker->set);
    char *endpoint = wire_endpoint(given, a->options->run, name);
    struct flow_client *client;
    struct err err;

    digest_hex(&digest, config.hello.digest);
    augment_maker_recipe(a->maker, config.hello.recipe);
    augment_making(config.hello.making, sizeof config.hello.making);
    config.endpoint = endpoint;
    client = flow_client_open(a->wire, &config, &err);
    if (!client)
        die("%s", err.msg);
    free(endpoint);
    return client;
}

/* Whether the trainer waits for an item that the selector does not hand out:
 * to nobody, as the trainer stays where it is. */
static int
lacks_item(struct augmenter *a, double now)
{
    const struct wire_place at = flow_relay_place(a->relay);

    if (at.session != a->at.session || wire_place_cmp(&at, &a->at) ||
        flow_relay_items(a->relay) || !flow_relay_waits(a->relay)) {
        a->at = at;
        a->moved = now;
    }
    return now - a->moved >= PATIENCE;
}

/* Say it from time to time when nobody is there, lets us in, or does anything.
 */
static void
tell_waiting(struct augmenter *a, double *since)
{
    const double now = clock_now();
    struct err plan, batches;
    const int no_plan = flow_client_trouble(a->plan, &plan),
              no_batches = flow_client_trouble(a->batches, &batches),
              is_silent = !no_batches && now - a->spoke >= PATIENCE,
              no_item = !no_plan && !is_silent && lacks_item(a, now);

    if ((no_plan || no_batches || is_silent || no_item) &&
        now - *since < PATIENCE)
        return;
    *since = now;
    if (no_plan)
        say("still waiting for a selector: %s", plan.msg);
    if (no_batches)
        say("still waiting for a trainer: %s", batches.msg);
    if (is_silent)
        say("still waiting for trainer '%s': it is connected and sends nothing",
            flow_client_who(a->batches)->peer);
    if (no_item)
        say("still waiting for an item: foil-%s '%s' is connected and hands "
            "out none",
            flow_client_who(a->plan)->stage, flow_client_who(a->plan)->peer);
}

/* The selector hears that the run is over: a lost one as soon as it is back, if
 * that is soon. */
static void
pass_over(struct augmenter *a)
{
    const struct wire_end end = {flow_relay_place(a->relay), 1};
    const double until = clock_now() + parting;
    struct wire_msg *msg;
    struct err err;

    if (end.at.session < 0)
        return;
    msg = wire_end_put(&end);
    while (!flow_client_send(a->plan, msg) && !a->dismissed &&
           clock_now() < until && wire_wait(a->wire, a->stop, 1, &err) > 0)
        hear_selector(a);
    wire_msg_free(msg);
}

static void
open_ends(struct augmenter *a, const struct wire_keys *keys)
{
    const struct augment_options *o = a->options;
    struct err err;

    a->stop = stop_fd(&err);
    a->wire = a->stop < 0 ? NULL : wire_open(keys, &err);
    if (!a->wire)
        die("%s", err.msg);
    a->plan = connect_to(a, WIRE_EDGE_PLAN, o->filter ? "negatives" : "select",
                         o->plan, o->filter ? "items" : "plan");
    a->batches = connect_to(a, WIRE_EDGE_BATCH, "train", o->batches, "batch");
}

static void
close_ends(struct augmenter *a)
{
    void *item, *batch;

    flow_client_close(a->batches);
    flow_client_close(a->plan);
    wire_close(a->wire);
    while (flow_relay_drop(a->relay, &item, &batch))
        release_item(item, batch);
    flow_relay_free(a->relay);
}

void
augment_serve(struct augment_maker *maker, const struct wire_keys *keys)
{
    struct augmenter a = {.options = maker->options, .maker = maker};
    double since = clock_now();
    struct err err;
    int rc = 1, busy = 0;

    maker->watcher = (struct augment_watcher){tell_substitute, show_life,
                                              somebody_waits, &a};
    a.spoke = a.moved = since;
    a.relay = flow_relay_new((size_t)a.options->room);
    open_ends(&a, keys);
    maker->stop = a.stop;
    maker->spare = spare_open(&err);
    if (!maker->spare)
        die("%s", err.msg);
    progress_start(&a.progress, "batches", 0, (double)a.options->max_items);
    while (rc > 0 && !has_enough(&a)) {
        rc = wire_wait(a.wire, a.stop, busy ? 0 : 1, &err);
        if (rc <= 0)
            break;
        hear_trainer(&a);
        hear_selector(&a);
        busy = !has_enough(&a) && make_batch(&a);
        tell_waiting(&a, &since);
    }
    progress_clear(&a.progress);
    say_stopped();
    if (rc < 0)
        die("%s", err.msg);
    if (a.over)
        pass_over(&a);
    close_ends(&a);
}
