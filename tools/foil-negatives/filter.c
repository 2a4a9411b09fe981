#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/gather.h"
#include "negatives.h"
#include "util/clock.h"
#include "util/digest.h"
#include "util/mem.h"
#include "util/opt.h"
#include "wire/item.h"
#include "wire/reject.h"

enum { VIEWS = 2 };

/* Seconds for which a filter that is stopped at the end of a plan waits for
 * word that the run is over, and between two looks for it. */
static const double parting = 1, glance = 0.05;

/* Seconds between two attempts to begin a session while the trainer of the one
 * before seems to be connected. */
static const double attempt = 0.5;

/* Seconds between two times that the filter says for whom it waits. */
static const double patience = 10;

/* The one peer of the passage's consumer. */
enum { SELECTOR = 1 };

/* The selector has named the data set: now augmenters may come. */
static void
open_items(struct filter *filter)
{
    const struct wire_hello *selector = flow_client_who(filter->plan);
    struct flow_outlet_config config = {
        .hello = *selector,
        .lease = filter->options->lease,
    };
    char *at =
        wire_endpoint(filter->options->items, filter->options->run, "items");
    struct digest digest;
    struct err err;

    if (filter->items)
        return;
    snprintf(config.hello.stage, sizeof config.hello.stage, "negatives");
    *config.hello.peer = '\0';
    config.endpoint = at;
    filter->items = flow_outlet_open(filter->wire, &config, &err);
    if (!filter->items)
        die("%s", err.msg);
    free(at);
    if (digest_from_hex(&digest, selector->digest))
        die("the selector does not name its data set");
    filter->seed = (uint64_t)filter->options->seed ^ digest_word(&digest);
    sampler_know(filter->sampler, filter->options, selector);
    // a filter that is started again goes on above its last serial
    passage_init(&filter->passage, (size_t)selector->size,
                 (int64_t)clock_wall());
}

/* A trainer was started: nothing that was under way counts. */
static void
begin_session(struct filter *filter, const struct wire_place *at)
{
    passage_begin(&filter->passage, at);
    filter->ended = filter->over = 0;
    filter->begins = 0;
}

/* What has not begun needs no state.  The trainer before may have ended just
 * now, and its connection not: then the next attempt succeeds. */
static void
begin_sampler(struct filter *filter, const struct wire_place *at)
{
    const double now = clock_now();

    if (now < filter->begins || !flow_stand_begins(&filter->sampler->stand, at))
        return;
    filter->begins = now + attempt;
    sampler_begin(filter->sampler, at);
}

static void
hear_selector(struct filter *filter)
{
    struct flow_news news;
    struct err err;
    int rc;

    while ((rc = flow_client_next(filter->plan, &news, &err)) > 0) {
        switch (news.what) {
        case FLOW_JOINED:
            open_items(filter);
            flow_consumer_leave(filter->passage.consumer, SELECTOR);
            flow_consumer_join(filter->passage.consumer, SELECTOR);
            break;
        case FLOW_MESSAGE:
            passage_add(&filter->passage, flow_client_item(filter->plan));
            break;
        case FLOW_ENDED:
            filter->ended = 1;
            filter->end = news.at;
            break;
        case FLOW_OVER:
            if (filter->items)
                flow_outlet_over(filter->items);
            break;
        case FLOW_REPORT:
            say("%s", news.why.msg);
            break;
        default:
            break;
        }
    }
    if (rc < 0)
        die("%s", err.msg);
}

/*
 * A complaint about a sample goes on to the selector where the plan put it into
 * the item; the sampler's own extra samples are none of the selector's.
 */
static int
pass_reject(struct filter *filter, uint64_t peer, struct wire_msg *msg,
            struct err *err)
{
    const struct wire_place trained =
        flow_producer_place(filter->items->producer);
    const struct passage_item *item = NULL;
    struct wire_reject got;
    int planned = 1, forgotten;

    if (wire_msg_kind(msg) != WIRE_REJECT)
        return err_set(err, "'%s' is nothing for a filter",
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
    // word that it is trained came first: the selector may still know it
    forgotten = !item && got.at.session == trained.session &&
                wire_place_cmp(&got.at, &trained) < 0;
    wire_reject_release(&got);
    if (!item && !forgotten)
        return err_set(err, "reject: of an item that it does not have");
    if (planned)
        flow_client_send(filter->plan, msg);
    return 0;
}

/* All augmenters say that the run is over: the selector hears it once, when it
 * is there. */
static void
pass_over(struct filter *filter)
{
    const struct wire_end end = {flow_producer_place(filter->items->producer),
                                 1};
    struct wire_msg *msg;

    if (filter->over || !flow_outlet_is_over(filter->items))
        return;
    msg = wire_end_put(&end);
    filter->over = flow_client_send(filter->plan, msg);
    wire_msg_free(msg);
}

/* What augmenters say goes on to the selector. */
static void
hear_augmenters(struct filter *filter)
{
    struct flow_news news;
    struct err err;

    while (flow_outlet_next(filter->items, &news)) {
        switch (news.what) {
        case FLOW_MESSAGE:
            if (pass_reject(filter, news.peer, news.msg, &news.why) &&
                flow_server_refuse(filter->items->server, news.peer, &news.why))
                say("%s", news.why.msg);
            break;
        case FLOW_MOVED:
            begin_session(filter, &news.at);
            break;
        case FLOW_BACK:
            passage_begin(&filter->passage, &news.at);
            filter->ended = 0;
            break;
        case FLOW_REPORT:
            say("%s", news.why.msg);
            break;
        default:
            break;
        }
    }
    pass_over(filter);
    while (flow_outlet_late(filter->items, &err))
        say("%s", err.msg);
}

/* With --augmentations: which of the fixed views this item shows. */
static void
choose_variants(struct filter *filter, struct batch *batch)
{
    const size_t A = (size_t)filter->options->augmentations;

    if (!A)
        return;
    mem_grow(&filter->variant, &filter->variant_room, VIEWS * batch->b,
             sizeof *filter->variant);
    data_variants(filter->seed, (uint64_t)batch->epoch, batch->b, batch->ids, A,
                  VIEWS, filter->variant);
    batch->fixed = (int64_t)A;
    batch->view_of = filter->variant;
}

/* Draws for the item whose turn it is: NULL when it is none's turn. */
static struct passage_item *
draw_item(struct filter *filter)
{
    struct passage *passage = &filter->passage;
    struct passage_item *due = passage_due(passage, filter->sampler);
    struct wire_item item;
    struct err err;

    if (!due)
        return NULL;
    REQUIRE(!wire_item_get(&item, due->msg, (int64_t)passage->size, &err));
    item.batch.v = VIEWS;
    choose_variants(filter, &item.batch);
    if (!item.batch.encode_only)
        item.batch.extra = sample_source_draw(&filter->sampler->source,
                                              &item.batch, passage->number);
    passage_pass(passage, wire_item_put(&item));
    wire_item_release(&item);
    return due;
}

/* Draws for what is wanted and there. */
static void
fill_items(struct filter *filter)
{
    struct flow_producer *producer = filter->items->producer;
    const struct passage *passage = &filter->passage;

    while (flow_producer_short(producer)) {
        const struct wire_place fresh = flow_producer_fresh(producer);
        struct wire_place behind;
        struct passage_item *item;

        if (filter->ended && wire_place_cmp(&passage->next, &filter->end) >= 0)
            flow_producer_close(producer);
        item = draw_item(filter);
        if (!item)
            return;
        behind = passage_behind(item);
        if (wire_place_cmp(&item->at, &fresh) >= 0)
            flow_producer_add(producer, &item->at, &behind);
    }
}

static void
give_items(struct filter *filter)
{
    struct flow_producer *producer = filter->items->producer;
    struct flow_turn turn;

    fill_items(filter);
    while (flow_producer_turn(producer, clock_now(), &turn)) {
        const struct passage_item *item =
            passage_find(&filter->passage, &turn.at);

        REQUIRE(item);
        flow_outlet_give(filter->items, &turn, item->msg);
    }
    flow_outlet_end(filter->items);
}

/* The selector hears what the trainer has trained and what is here. */
static void
ask_selector(struct filter *filter)
{
    struct flow_consumer *consumer = filter->passage.consumer;
    const double now = clock_now();
    struct flow_ask ask;

    flow_consumer_resize(consumer,
                         flow_producer_window(filter->items->producer));
    flow_consumer_wait(consumer, now);
    while (flow_consumer_turn(consumer, now, &ask)) {
        struct wire_msg *msg = wire_next_put(&ask.next);

        flow_consumer_asked(consumer, &ask, flow_client_send(filter->plan, msg),
                            now);
        wire_msg_free(msg);
    }
}

/* For whom the filter waits: 1 and who, or 0. */
static int
name_awaited(const struct filter *filter, struct err *who)
{
    const struct flow_outlet *items = filter->items;
    const struct passage *passage = &filter->passage;
    struct wire_place at;
    struct err why;
    uint64_t peer;

    if (flow_client_trouble(filter->plan, &why))
        return err_set(who, "a selector: %.400s", why.msg) != 0;
    if (!items)
        return 0;
    if (!flow_server_peers(items->server))
        return err_set(who, "augmenters: none is there") != 0;
    at = flow_producer_place(items->producer);
    if (at.session < 0)
        return err_set(who, "a trainer: augmenters are there, and know of "
                            "none") != 0;
    if (filter->sampler->stand.next.session != at.session)
        return err_set(who, "the trainer: it has not handed over the state of "
                            "its session") != 0;
    peer = flow_producer_missing(items->producer, clock_now());
    if (peer)
        return err_set(who, "augmenter '%s', which has epoch %jd, step %jd",
                       flow_server_who(items->server, peer)->peer,
                       (intmax_t)at.epoch, (intmax_t)at.step) != 0;
    if (!flow_producer_short(items->producer) ||
        flow_consumer_find(passage->consumer, &passage->next) ||
        (filter->ended && wire_place_cmp(&passage->next, &filter->end) >= 0))
        return 0;
    return err_set(who, "selector '%s', which hands out no epoch %jd, step %jd",
                   flow_client_who(filter->plan)->peer,
                   (intmax_t)passage->next.epoch,
                   (intmax_t)passage->next.step) != 0;
}

/* Says it from time to time when the trainer stays where it is. */
static void
tell_awaited(struct filter *filter)
{
    const struct wire_place at =
        filter->items ? flow_producer_place(filter->items->producer)
                      : filter->stays;
    const double now = clock_now();
    struct err who;

    if (at.session != filter->stays.session ||
        wire_place_cmp(&at, &filter->stays) || !name_awaited(filter, &who)) {
        filter->stays = at;
        filter->since = now;
    } else if (now - filter->since >= patience) {
        filter->since = now;
        say("still waiting for %s", who.msg);
    }
}

static void
pass_items(struct filter *filter)
{
    struct wire_place trained;

    hear_selector(filter);
    if (!filter->items)
        return;
    hear_augmenters(filter);
    trained = flow_producer_place(filter->items->producer);
    if (trained.session < 0)
        return;
    begin_sampler(filter, &trained);
    passage_move(&filter->passage, filter->sampler, &trained);
    give_items(filter);
    ask_selector(filter);
}

void
filter_turn(struct filter *filter)
{
    pass_items(filter);
    tell_awaited(filter);
}

double
filter_patience(const struct filter *filter)
{
    return filter->items
               ? fmin(flow_outlet_patience(filter->items),
                      flow_consumer_due(filter->passage.consumer, clock_now()))
               : 1;
}

/* Whether all items of the plan were handed on, and the end has not been. */
static int
is_ending(const struct filter *filter)
{
    return filter->items && filter->ended && !filter->over &&
           wire_place_cmp(&filter->passage.next, &filter->end) >= 0 &&
           flow_server_peers(filter->items->server);
}

void
filter_part(struct filter *filter)
{
    const double until = clock_now() + parting;
    struct err err;

    filter_turn(filter);
    while (is_ending(filter) && clock_now() < until &&
           wire_wait(filter->wire, -1, glance, &err) > 0)
        filter_turn(filter);
}

void
filter_open(struct filter *filter, struct wire *wire)
{
    const struct negatives_options *o = filter->options;
    struct flow_client_config config = {
        .role = "select",
        .edge = WIRE_EDGE_PLAN,
        .hello = {.stage = "negatives"},
    };
    char *at = wire_endpoint(o->plan, o->run, "plan");
    struct err err;

    filter->wire = wire;
    filter->since = clock_now();
    filter->stays.session = -1;
    config.endpoint = at;
    filter->plan = flow_client_open(wire, &config, &err);
    if (!filter->plan)
        die("%s", err.msg);
    free(at);
}

void
filter_close(struct filter *filter)
{
    passage_release(&filter->passage);
    flow_outlet_close(filter->items);
    flow_client_close(filter->plan);
    free(filter->variant);
}
