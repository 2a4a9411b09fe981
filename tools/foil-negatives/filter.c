#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/gather.h"
#include "negatives.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/batch.h"

enum { VIEWS = 2 };

/* Seconds for which a filter that is stopped at the end of a plan waits for the
 * message that the run has ended, and between two checks for it. */
static const double part_s = 1, look_every_s = 0.05;

/* Seconds between two attempts to begin a session while the trainer of the last
 * session still seems to be connected. */
static const double begin_retry_s = 0.5;

/* The only peer of the passage's consumer. */
enum { SELECTOR = 1 };

/* Opens the endpoint for augmenters, once the selector has sent its hello. */
static void
open_items(struct filter *filter)
{
    const struct negatives_options *o = filter->options;
    const struct wire_hello *selector = flow_client_binder_hello(filter->plan);
    struct flow_outlet_config config = {
        .server.hello = *selector,
        .lease = o->lease,
    };
    struct digest digest;
    struct err err;

    if (filter->items)
        return;
    config.server.endpoint = stage_endpoint(filter->stage, o->items, "items");
    snprintf(config.server.hello.stage, sizeof config.server.hello.stage,
             "negatives");
    *config.server.hello.peer = '\0';
    filter->items = flow_outlet_open(filter->stage->wire, &config, &err);
    or_die(!filter->items, &err);
    if (digest_from_hex(&digest, selector->digest))
        die("the selector does not name its data set");
    filter->seed = (uint64_t)o->seed ^ digest_word(&digest);
    sampler_set_data(filter->sampler, selector);
    // serials of a restarted filter are above its earlier ones
    passage_init(&filter->passage, (size_t)selector->size,
                 (int64_t)clock_wall());
}

/* Starts the sampler for a new run, which needs no state.  If the last trainer
 * has just ended and its connection has not, a later attempt succeeds. */
static void
begin_sampler(struct filter *filter, const struct wire_place *at)
{
    const double now = clock_now();

    if (now < filter->begin_at ||
        !flow_state_owner_is_new_run(&filter->sampler->owner_state, at))
        return;
    filter->begin_at = now + begin_retry_s;
    sampler_begin(filter->sampler, at);
}

static void
read_selector(struct filter *filter)
{
    struct flow_event event;

    while (stage_client_next(filter->plan, &event)) {
        switch (event.kind) {
        case FLOW_JOINED:
            open_items(filter);
            flow_consumer_leave(filter->passage.consumer, SELECTOR);
            flow_consumer_join(filter->passage.consumer, SELECTOR);
            break;
        case FLOW_MESSAGE:
            passage_add(&filter->passage, event.item);
            break;
        case FLOW_ENDED:
            filter->ended = 1;
            filter->end = event.at;
            break;
        case FLOW_OVER:
            if (filter->items)
                flow_outlet_send_over(filter->items);
            break;
        default:
            break;
        }
    }
}

/* Forwards a rejected sample to the selector if the selector put it into the
 * item, but not if the sampler added it. */
static int
forward_reject(struct filter *filter, uint64_t peer, struct wire_msg *msg,
               struct err *err)
{
    const struct wire_place trained =
        flow_producer_place(filter->items->producer);
    const struct passage_item *item = NULL;
    struct wire_reject got;
    int planned = 1, forgotten;

    if (wire_msg_kind(msg) != WIRE_REJECT)
        return err_set(err, "a filter takes no '%s'",
                       wire_kind_name(wire_msg_kind(msg)));
    if (wire_reject_get(&got, msg, err))
        return -1;
    if (got.at.session == trained.session &&
        flow_producer_holder(filter->items->producer, &got.at) == peer)
        item = passage_find(&filter->passage, &got.at);
    for (size_t i = 0; item && i < got.n; i++) {
        size_t k = 0;

        while (k < item->n && item->ids[k] != got.ids[i])
            k++;
        planned &= k < item->n;
    }
    // a trained item, which the selector may still have
    forgotten = !item && got.at.session == trained.session &&
                wire_place_cmp(&got.at, &trained) < 0;
    wire_reject_release(&got);
    if (!item && !forgotten)
        return err_set(err, "reject: of an item that the peer does not have");
    if (planned)
        flow_client_send(filter->plan, msg);
    return 0;
}

/* Forwards what augmenters send to the selector; when all of them have sent
 * that the run has ended, that too, once. */
static void
read_augmenters(struct filter *filter)
{
    struct wire_end end = {.over = 1};
    struct flow_event event;

    while (stage_outlet_next(filter->items, &event)) {
        switch (event.kind) {
        case FLOW_MESSAGE:
            if (forward_reject(filter, event.peer, event.msg, &event.why))
                stage_refuse(filter->items->server, &event);
            break;
        case FLOW_NEW_SESSION:
            passage_begin(&filter->passage, &event.at);
            filter->ended = filter->over = 0;
            filter->begin_at = 0;
            break;
        case FLOW_REWOUND:
            passage_begin(&filter->passage, &event.at);
            filter->ended = 0;
            break;
        default:
            break;
        }
    }
    if (!filter->over && flow_outlet_is_over(filter->items)) {
        end.at = flow_producer_place(filter->items->producer);
        filter->over = stage_send(filter->plan, wire_end_put(&end));
    }
}

/* Draws extra samples for the next item, and with --augmentations its fixed
 * views; NULL if there is none. */
static struct passage_item *
draw_item(struct filter *filter)
{
    struct passage *passage = &filter->passage;
    struct passage_item *due = passage_due(passage, filter->sampler);
    const size_t A = (size_t)filter->options->augmentations;
    struct batch *batch;
    struct wire_item item;
    struct err err;

    if (!due)
        return NULL;
    REQUIRE(!wire_item_get(&item, due->msg, (int64_t)passage->size, &err));
    batch = &item.batch;
    batch->v = VIEWS;
    if (A) {
        mem_grow(&filter->variant, &filter->variant_room, VIEWS * batch->b,
                 sizeof *filter->variant);
        data_variants(filter->seed, (uint64_t)batch->epoch, batch->b,
                      batch->ids, A, VIEWS, filter->variant);
        batch->fixed = (int64_t)A;
        batch->view_of = filter->variant;
    }
    if (!batch->encode_only)
        batch->extra = sample_source_draw(&filter->sampler->source, batch,
                                          passage->number);
    passage_pass(passage, wire_item_put(&item));
    wire_item_release(&item);
    return due;
}

/* Returns 1 if all items of the plan were handed on. */
static int
is_at_end(const struct filter *filter)
{
    return filter->ended &&
           wire_place_cmp(&filter->passage.next, &filter->end) >= 0;
}

/* Draws for all items that are needed and have arrived. */
static void
fill_items(struct filter *filter)
{
    struct flow_producer *producer = filter->items->producer;

    while (flow_producer_needs_place(producer)) {
        const struct wire_place fresh = flow_producer_fresh(producer);
        struct wire_place after;
        struct passage_item *item;

        if (is_at_end(filter))
            flow_producer_close(producer, &filter->end);
        item = draw_item(filter);
        if (!item)
            return;
        after = passage_after(item);
        if (wire_place_cmp(&item->at, &fresh) >= 0)
            flow_producer_add(producer, &item->at, &after);
    }
}

static void
send_items(struct filter *filter)
{
    struct flow_producer *producer = filter->items->producer;
    struct flow_send_item turn;

    fill_items(filter);
    while (flow_producer_next_item(producer, clock_now(), &turn)) {
        const struct passage_item *item =
            passage_find(&filter->passage, &turn.at);

        REQUIRE(item);
        flow_outlet_send_item(filter->items, &turn, item->msg);
    }
    flow_outlet_send_end(filter->items);
}

/* Sends the selector the trainer's place and the list of stored items. */
static void
send_snapshots(struct filter *filter)
{
    struct flow_consumer *consumer = filter->passage.consumer;
    const double now = clock_now();
    struct flow_send_snapshot ask;

    flow_consumer_resize(
        consumer,
        (size_t)flow_producer_newest(filter->items->producer)->window);
    flow_consumer_mark_waiting(consumer, now);
    while (flow_consumer_next_snapshot(consumer, now, &ask))
        flow_consumer_mark_sent(
            consumer, &ask, stage_send(filter->plan, wire_want_put(&ask.want)),
            now);
}

/* Describes for whom the filter waits: returns 1 with *who, or 0. */
static int
describe_wait(const struct filter *filter, double now, struct err *who)
{
    const struct flow_outlet *items = filter->items;
    const struct passage *passage = &filter->passage;
    struct err why;

    if (flow_client_trouble(filter->plan, &why))
        return err_set(who, "a selector: %.400s", why.msg) != 0;
    if (!items)
        return 0;
    if (stage_outlet_waits(items, now, who))
        return 1;
    if (filter->sampler->owner_state.next.session !=
        flow_producer_place(items->producer).session)
        return err_set(who, "the trainer: it has not handed over the state of "
                            "its session") != 0;
    if (!flow_producer_needs_place(items->producer) ||
        flow_consumer_find(passage->consumer, &passage->next) ||
        is_at_end(filter))
        return 0;
    return err_set(who, "selector '%s', which hands out no epoch %jd, step %jd",
                   flow_client_binder_hello(filter->plan)->peer,
                   (intmax_t)passage->next.epoch,
                   (intmax_t)passage->next.step) != 0;
}

int
filter_waits(void *self, struct stage_waiting *waiting, double now,
             struct err who[STAGE_WAITS])
{
    const struct filter *filter = self;
    const struct wire_place at =
        filter->items ? flow_producer_place(filter->items->producer)
                      : waiting->at;

    return !stage_waiting_moved(waiting, &at, now) &&
           describe_wait(filter, now, who);
}

void
filter_turn(struct filter *filter)
{
    struct wire_place trained;
    const struct wire_want *newest;

    read_selector(filter);
    if (!filter->items)
        return;
    read_augmenters(filter);
    trained = flow_producer_place(filter->items->producer);
    if (trained.session < 0)
        return;
    begin_sampler(filter, &trained);
    passage_move(&filter->passage, filter->sampler, &trained);
    newest = flow_producer_newest(filter->items->producer);
    flow_consumer_set_plan(filter->passage.consumer, newest->plan,
                           newest->order);
    send_items(filter);
    send_snapshots(filter);
}

double
filter_pause(void *self)
{
    const struct filter *filter = self;

    return filter->items
               ? fmin(flow_outlet_pause_s(filter->items),
                      flow_consumer_due(filter->passage.consumer, clock_now()))
               : 1;
}

void
filter_open(struct filter *filter, const struct negatives_options *o,
            struct stage *stage)
{
    const struct flow_client_config config = {
        .endpoint = stage_endpoint(stage, o->plan, "plan"),
        .role = "select",
        .edge = WIRE_EDGE_PLAN,
        .hello = {.stage = "negatives"},
    };
    struct err err;

    filter->options = o;
    filter->stage = stage;
    filter->plan = flow_client_open(stage->wire, &config, &err);
    or_die(!filter->plan, &err);
}

void
filter_close(struct filter *filter)
{
    const double until = clock_now() + part_s;
    struct err err;

    do
        filter_turn(filter);
    while (filter->items && is_at_end(filter) && !filter->over &&
           flow_server_peers(filter->items->server) && clock_now() < until &&
           wire_wait(filter->stage->wire, -1, look_every_s, &err) > 0);
    passage_release(&filter->passage);
    flow_outlet_close(filter->items);
    flow_client_close(filter->plan);
    free(filter->variant);
}
