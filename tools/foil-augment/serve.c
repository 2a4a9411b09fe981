#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flow/relay.h"
#include "util/clock.h"
#include "util/err.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/progress.h"
#include "wire/batch.h"
#include "wire/error.h"

#include "augment.h"

enum {
    NAMED_BAD = 10, /* maximum bad samples named on stderr */
};

/* Seconds between checks for the trainer's messages while a batch is made;
 * seconds to wait at the end for a lost selector, to report to it that the run
 * is over. */
static const double poll_s = 0.01, send_over_s = 10;

struct augmenter {
    const struct augment_options *options;
    struct augment_maker *maker;
    struct flow_relay *relay; /* items are struct wire_item, batches messages */
    struct stage *stage;
    struct flow_client *plan, *batches;
    struct progress progress;
    long sent;
    double polled;       /* when keep_contact() last read messages */
    double heartbeat_at; /* when the heartbeat's state was last updated */
    double received;     /* when the trainer last sent a message */
    int busy;            /* 1: there may be another batch to make */
    int64_t refused;     /* items that the trainer or this stage refused */
    struct augment_fetch *fetch; /* or NULL: files are not fetched */
    int fetching;                /* the files of an item are not there */
    struct tally older;          /* counts snapshots of an older session */
    int trainer_over;  /* 1: the trainer has reported the end of the run */
    int selector_over; /* 1: the selector has, too */
};

/* Reports a substitute: to the selector always, to the user the first few
 * times. */
static void
report_substitute(void *data, const struct wire_place *at,
                  const int64_t pair[2], int first, const struct err *why)
{
    struct augmenter *a = data;
    struct wire_reject reject = {.at = *at, .n = 1, .ids = pair};

    snprintf(reject.reason, sizeof reject.reason, "%.*s",
             (int)sizeof reject.reason - 1, why->msg);
    stage_send(a->plan, wire_reject_put(&reject));
    if (first && a->maker->bad <= NAMED_BAD)
        log_message("%s; its substitute is '%s'", why->msg,
                    data_name(a->maker->set, (size_t)pair[1]));
}

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
        flow_relay_mark_batch_sent(a->relay);
        wire_msg_free(batch);
        a->sent++;
    }
}

/* Forwards the trainer's snapshot to the selector. */
static void
forward_next(struct augmenter *a)
{
    const double now = clock_now();
    struct wire_want next;

    if (flow_client_joined(a->plan) &&
        flow_relay_next_snapshot(a->relay, now, &next))
        flow_relay_mark_snapshot_sent(
            a->relay, stage_send(a->plan, wire_want_put(&next)), now);
}

/* Handles the trainer's snapshot.  A restarted trainer has an older session
 * only if its clock was set back.  If the newest session is invalid by this
 * machine's clock, it is forgotten. */
static void
take_snapshot(struct augmenter *a, const struct wire_want *next)
{
    const struct wire_place newest = flow_relay_place(a->relay);
    struct err why;

    if (next->at.session < newest.session &&
        wire_session_check(newest.session, &why))
        flow_relay_forget(a->relay);
    flow_relay_on_snapshot(a->relay, next);
    if (next->at.session >= flow_relay_place(a->relay).session)
        return;
    err_set(&why,
            "the trainer has an older session, %jd, than an earlier trainer, "
            "%jd, and gets no batches: set the clock of its machine, which is "
            "slow, or restart this augmenter and the selector",
            (intmax_t)next->at.session, (intmax_t)newest.session);
    if (tally_add(&a->older, &why))
        log_message("%s", why.msg);
}

/* Puts this augmenter's state into the next heartbeat to the trainer. */
static void
update_heartbeat(struct augmenter *a)
{
    const double now = clock_now();
    struct wire_heartbeat heartbeat = {
        .room = a->options->room,
        .items = (int64_t)flow_relay_items(a->relay),
        .ready = (int64_t)flow_relay_unsent(a->relay),
        .made = a->sent,
    };

    if (now - a->heartbeat_at < WIRE_HEARTBEAT_S / 2)
        return;
    a->heartbeat_at = now;
    if (flow_client_joined(a->plan))
        memcpy(heartbeat.source, flow_client_binder_hello(a->plan)->stage,
               sizeof heartbeat.source);
    flow_client_heartbeat(a->batches, &heartbeat);
}

/* Sends an item back to the stage that sent it. */
static void
refuse_item(struct augmenter *a, const struct wire_place *at, const char *why)
{
    struct wire_error error = {
        .id = -1, .of = {.kind = "item", .at = *at}, .count = ++a->refused};

    snprintf(error.reason, sizeof error.reason, "%s", why);
    stage_send(a->plan, wire_error_put(&error));
}

static void
read_trainer(struct augmenter *a)
{
    struct flow_event event;

    while (stage_client_next(a->batches, &event)) {
        a->received = clock_now();
        if (event.kind == FLOW_JOINED)
            flow_relay_on_reconnect(a->relay);
        if (event.kind == FLOW_MESSAGE)
            take_snapshot(a, event.want);
        if (event.kind == FLOW_ITEM_REFUSED)
            refuse_item(a, &event.at,
                        *event.why.msg ? event.why.msg
                                       : "the trainer refuses its batch");
        if (event.kind == FLOW_ITEM_REFUSED && *event.why.msg)
            log_message("%s", event.why.msg);
        a->trainer_over |= event.kind == FLOW_OVER;
    }
    drop_stale(a);
    send_batches(a);
    forward_next(a);
    update_heartbeat(a);
}

/* While a batch is made: reads the trainer's messages, sends heartbeats. */
static void
keep_contact(void *data)
{
    struct augmenter *a = data;
    const double now = clock_now();

    wire_tick(a->stage->wire);
    if (now - a->polled < poll_s)
        return;
    a->polled = now;
    read_trainer(a);
}

static int
is_wanted(void *data)
{
    const struct augmenter *a = data;

    return flow_relay_consumer_waits(a->relay);
}

/* Takes an item, or refuses it if its batch is too large for the trainer. */
static void
take_item(struct augmenter *a, const struct wire_item *received)
{
    const int64_t most = flow_client_binder_hello(a->batches)->max_batch;
    struct wire_item *item;
    struct wire_place at;
    struct err why;

    if (augment_maker_fits(a->maker, received,
                           most ? (size_t)most : WIRE_BATCH_PART, &why)) {
        if (flow_client_refuse(a->plan, &why))
            log_message("%s", why.msg);
        return;
    }
    item = mem_array(1, sizeof *item);
    *item = *received;
    item->msg = wire_msg_hold(item->msg);
    at = wire_place_of(item->session, &item->batch);
    if (!flow_relay_take(a->relay, &at, item))
        release_item(item, NULL);
}

static void
read_selector(struct augmenter *a)
{
    struct flow_event event;

    while (stage_client_next(a->plan, &event)) {
        if (event.kind == FLOW_JOINED) {
            flow_relay_resend_snapshot(a->relay);
            augment_fetch_close(a->fetch);
            a->fetch = augment_fetch_join(a->maker->set,
                                          flow_client_binder_hello(a->plan));
        }
        if (event.kind == FLOW_MESSAGE)
            take_item(a, event.item);
        if (event.kind == FLOW_ENDED || event.kind == FLOW_OVER)
            stage_send(a->batches,
                       wire_end_put(&(struct wire_end){.at = event.at}));
        a->selector_over |= event.kind == FLOW_OVER;
    }
    forward_next(a);
}

/* Returns 1 if the files of the first wanted item are there, or 0; then the
 * relay takes no more items until they are. */
static int
has_files(struct augmenter *a)
{
    const struct wire_item *item = flow_relay_next(a->relay);
    const long most = a->options->bad_shards;
    size_t failed = 0;
    struct wire_place at = flow_relay_place(a->relay);
    struct err why;
    int rc = 1;

    if (item && a->fetch)
        rc = augment_fetch_ready(a->fetch, item, &at, &failed, &why);
    if (rc < 0) {
        at = wire_place_of(item->session, &item->batch);

        log_message("%s", why.msg);
        refuse_item(a, &at, why.msg);
        if (most >= 0 && failed > (size_t)most)
            die("%zu shards cannot be fetched, more than --bad-shards %ld "
                "allows",
                failed, most);
    }
    a->fetching = rc < 1;
    flow_relay_pause(a->relay, a->fetching);
    return !a->fetching;
}

/* Makes the batch of the first wanted item: 1, or 0 if there is none. */
static int
make_batch(struct augmenter *a)
{
    const struct wire_item *item =
        has_files(a) ? flow_relay_work(a->relay) : NULL;
    char where[64];

    forward_next(a);
    if (!item)
        return 0;
    if (!a->sent)
        augment_maker_report(a->maker, item, (size_t)a->options->room);
    snprintf(where, sizeof where, "epoch %" PRId64 " step %" PRId64,
             item->batch.epoch, item->batch.step);
    flow_relay_made(a->relay, augment_maker_make(a->maker, item));
    drop_stale(a);
    send_batches(a);
    forward_next(a);
    progress_show(&a->progress, (double)a->sent, where);
    return 1;
}

static int
has_enough(const struct augmenter *a)
{
    return a->trainer_over || a->selector_over ||
           (a->options->max_items && a->sent >= a->options->max_items);
}

static struct flow_client *
connect_to(struct augmenter *a, enum wire_edge edge, const char *role,
           const char *endpoint, const char *name)
{
    char hex[DIGEST_HEX];
    struct flow_client_config config = {
        .endpoint = stage_endpoint(a->stage, endpoint, name),
        .role = role,
        .edge = edge,
        .hello =
            stage_hello("augment", digest_hex(data_digest(a->maker->set), hex),
                        (int64_t)data_size(a->maker->set)),
    };
    struct flow_client *client;
    struct err err;

    augment_maker_recipe(a->maker, config.hello.recipe);
    augment_view_options(config.hello.view_options,
                         sizeof config.hello.view_options);
    client = flow_client_open(a->stage->wire, &config, &err);
    or_die(!client, &err);
    return client;
}

/* Whether the trainer waits for an item that the selector has sent to no
 * augmenter: the trainer's place does not change. */
static int
lacks_item(struct augmenter *a, struct stage_waiting *waiting, double now)
{
    const struct wire_place at = flow_relay_place(a->relay);

    if (stage_waiting_moved(waiting, &at, now) || flow_relay_items(a->relay) ||
        !flow_relay_consumer_waits(a->relay))
        waiting->since = now;
    return now - waiting->since >= STAGE_REPORT_EVERY_S;
}

/* See stage/stage.h: a peer is missing, or sends nothing. */
static int
describe_waits(void *self, struct stage_waiting *waiting, double now,
               struct err who[STAGE_WAITS])
{
    struct augmenter *a = self;
    struct err plan, batches;
    const int no_plan = flow_client_trouble(a->plan, &plan),
              no_batches = flow_client_trouble(a->batches, &batches),
              is_silent =
                  !no_batches && now - a->received >= STAGE_REPORT_EVERY_S;
    const struct wire_hello *selector = flow_client_binder_hello(a->plan);
    int n = 0;

    if (no_plan)
        err_set(&who[n++], "a selector: %.400s", plan.msg);
    if (no_batches)
        err_set(&who[n++], "a trainer: %.400s", batches.msg);
    if (is_silent)
        err_set(&who[n++], "trainer '%s': it is connected and sends nothing",
                flow_client_binder_hello(a->batches)->peer);
    if (a->fetching)
        err_set(&who[n++], "shards: --fetch has not brought those of an item");
    if (!no_plan && !is_silent && lacks_item(a, waiting, now))
        err_set(&who[n++], "an item: foil-%s '%s' is connected but sends none",
                selector->stage, selector->peer);
    return n;
}

static double
choose_pause(void *self)
{
    const struct augmenter *a = self;

    return a->busy ? 0 : a->fetching ? poll_s : 1;
}

static int
serve_once(void *self)
{
    struct augmenter *a = self;

    read_trainer(a);
    read_selector(a);
    a->busy = !has_enough(a) && make_batch(a);
    return !has_enough(a);
}

static const struct stage_handlers handlers = {choose_pause, serve_once,
                                               describe_waits};

void
augment_serve(struct augment_maker *maker, struct stage *stage)
{
    const struct augment_options *o = maker->options;
    struct augmenter a = {.options = o,
                          .maker = maker,
                          .stage = stage,
                          .relay = flow_relay_new((size_t)o->room),
                          .received = clock_now()};
    void *item, *batch;
    struct wire_end end = {.over = 1};
    struct err err;
    double until;

    maker->watcher = (struct augment_watcher){report_substitute, keep_contact,
                                              is_wanted, &a};
    maker->stop = stage->stop;
    a.plan = connect_to(&a, WIRE_EDGE_PLAN, o->filter ? "negatives" : "select",
                        o->plan, o->filter ? "items" : "plan");
    a.batches = connect_to(&a, WIRE_EDGE_BATCH, "train", o->batches, "batch");
    maker->spare = spare_open(&err);
    or_die(!maker->spare, &err);
    progress_start(&a.progress, "batches", 0, (double)o->max_items);
    stage_run(stage, &handlers, &a);
    progress_clear(&a.progress);
    log_stopped();
    // a lost selector may come back
    end.at = flow_relay_place(a.relay);
    until = clock_now() + send_over_s;
    if (a.trainer_over && end.at.session >= 0)
        while (!stage_send(a.plan, wire_end_put(&end)) && !a.selector_over &&
               clock_now() < until && stage_wait(stage, 1))
            read_selector(&a);
    flow_client_close(a.batches);
    flow_client_close(a.plan);
    while (flow_relay_drop(a.relay, &item, &batch))
        release_item(item, batch);
    flow_relay_free(a.relay);
    augment_fetch_close(a.fetch);
}
