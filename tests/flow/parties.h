#pragma once

/*
 * Selector, filter, augmenters and trainer, each built from the state machines
 * of lib/flow as in the tools.  The functions that tests/flow/schedule.h calls
 * are below "any"; tests/flow/credit.h has others.
 */
#include "flow/check_relay.h"
#include "flow/sources.h"
#include "flow/weights_service.h"

enum { FILTERS = 1 }; /* there are some */

/* ---- an augmenter ------------------------------------------------------- */

static void
relay_clear(struct relay *r)
{
    void *item, *batch;

    while (flow_relay_drop(r->flow, &item, &batch))
        free(item);
}

static void
relay_make(struct world *w, struct relay *r, int party)
{
    if (r->made && r->made <= w->now) {
        flow_relay_made(r->flow, r->item);
        copy_made(r);
        r->made = 0;
    }
    if (r->made || r->hangs > w->now)
        return;
    r->item = flow_relay_work(r->flow);
    copy_work(w, r, r->item);
    if (!r->item)
        return;
    r->made = w->now + 0.01 + some(w, 0.2);
    log_event(w, "%s makes %d", name_of(party), r->item->k);
    tick(w, party, r->made);
}

static void
relay_turn(struct world *w, int party)
{
    struct relay *r = &w->relay[party - RELAY];
    const int plan = link_of(w, party, binder_of_items(w)),
              batches = link_of(w, party, TRAINER);
    struct wire_want next;
    void *item, *batch;

    while (flow_relay_stale(r->flow, &item, &batch))
        free(item);
    copy_tidy(r);
    check_relay(w, r, party);
    relay_make(w, r, party);
    while (w->link[batches].greeting.state == FLOW_IN &&
           (batch = flow_relay_ready(r->flow))) {
        const struct thing *thing = batch;
        const struct content content = {.session = thing->session,
                                        .k = (int16_t)thing->k};

        if (!post(w, batches, 1, BATCH, &content))
            break;
        flow_relay_mark_batch_sent(r->flow);
        copy_sent(w, r, thing->k);
    }
    relay_make(w, r, party);
    if (w->link[plan].greeting.state == FLOW_IN &&
        flow_relay_next_snapshot(r->flow, w->now, &next)) {
        const struct content content = content_of(w, &next);

        w->link[plan].notified = w->now;
        w->link[plan].latest = content;
        flow_relay_mark_snapshot_sent(r->flow, post(w, plan, 1, WANT, &content),
                                      w->now);
    }
    check_forwarded(w, r, &w->link[plan]);
    if (flow_relay_unsent(r->flow) > (size_t)w->room)
        fail(w, "%s has %zu batches", name_of(party),
             flow_relay_unsent(r->flow));
    if (r->over)
        relay_ends(w, party);
}

/* A late snapshot did not take a relay back. */
static void
check_forward(struct world *w, int party, const struct wire_place *was)
{
    const struct wire_place at = flow_relay_place(w->relay[party - RELAY].flow);

    if (at.session < was->session ||
        (at.session == was->session && wire_place_cmp(&at, was) < 0))
        fail(w, "%s goes back from %d to %d", name_of(party), count(w, was),
             count(w, &at));
}

static void
relay_receives(struct world *w, int party, const struct event *e)
{
    struct relay *r = &w->relay[party - RELAY];
    const struct wire_place at = place(w, e->content.session, e->content.k);
    const int batches = link_of(w, party, TRAINER);
    int64_t have[WINDOW_MAX][2];
    struct wire_want next;
    struct thing *thing;
    int taken;

    if (e->what == WANT) {
        const struct wire_place was = flow_relay_place(r->flow);

        next = next_of(w, &e->content, have);
        flow_relay_on_snapshot(r->flow, &next);
        copy_next(r, &e->content);
        check_forward(w, party, &was);
    } else if (e->what == ITEM) {
        thing = mem_array(1, sizeof *thing);
        *thing = (struct thing){e->content.session, e->content.k};
        taken = flow_relay_take(r->flow, &at, thing);
        if (taken != copy_take(r, &e->content))
            fail(w, "%s %s place %d", name_of(party),
                 taken ? "takes" : "does not take", e->content.k);
        if (!taken)
            free(thing);
    } else if (e->what == END) {
        if (e->content.over && !r->over)
            r->over = e->link == batches ? w->now : 1e-9;
        if (e->link != batches && w->link[batches].greeting.state == FLOW_IN)
            post(w, batches, 1, END, &e->content);
    }
}

/* ---- the trainer -------------------------------------------------------- */

/* The run is over when the trainer has all that it wants; when it does not
 * know the length of the plan, once all peers report the end, and keep doing
 * so. */
static void
look_at_end(struct world *w)
{
    const int all = flow_consumer_ended(w->trainer) == FLOW_ALL_ENDED;

    if (!all)
        w->all_ended = 0;
    else if (!w->all_ended)
        w->all_ended = w->now;
    w->over = w->trained == w->wanted && (w->counts || all);
    if (w->over || !all || w->now - w->all_ended < silence || w->end_lied)
        return;
    if (w->trained < w->wanted)
        fail(w, "the run ends after %d of %d", w->trained, w->wanted);
}

static void
trainer_sends(struct world *w, int begins)
{
    ask(w, w->trainer, TRAINER);
    check_snapshots(w, begins);
}

static void
end_step(struct world *w)
{
    const struct wire_place next = place(w, session(w), ++w->trained);

    w->holds[w->trained - 1] = 0;
    flow_consumer_set_place(w->trainer, &next);
    w->training = w->weighing = 0;
    w->moved = fmax(w->moved, w->now);
}

/* The batch of its place has arrived. */
static void
take_batch(struct world *w, const struct thing *batch)
{
    log_event(w, "trainer trains %d", batch->k);
    if (batch->k != w->trained || batch->session != session(w))
        fail(w, "%jd:%d is trained instead of %jd:%d", (intmax_t)batch->session,
             batch->k, (intmax_t)session(w), w->trained);
    w->weighing = w->requester.built = 1;
    if (w->weighs)
        send_request_to(w);
    else
        begin_step(w);
}

static void
trainer_turn(struct world *w)
{
    struct thing *batch;

    if (w->busy > w->now) {
        if (w->threaded)
            trainer_sends(w, 0);
        return;
    }
    if (w->training)
        end_step(w);
    if (w->requester.wants) {
        retry_request(w);
        if (w->threaded)
            trainer_sends(w, 0);
        return;
    }
    batch = w->trained < w->wanted ? flow_consumer_take(w->trainer) : NULL;
    if (batch) {
        take_batch(w, batch);
    } else {
        flow_consumer_mark_waiting(w->trainer, w->now);
        look_at_end(w);
        if (w->weighs)
            meet_service(w);
    }
    free(batch);
    if (flow_consumer_held(w->trainer) + (size_t)w->weighing >
        (size_t)w->window)
        fail(w, "more is held than the window");
    check_ended(w);
    trainer_sends(w, w->weighing);
    if (w->over)
        trainer_ends(w);
}

/* ---- any ---------------------------------------------------------------- */

static double
pause_s(struct world *w, int party)
{
    double seconds = party < RELAY ? 0.5 : 1;

    if (party == SELECTOR)
        seconds = fmin(0.5, flow_producer_due(w->selector.flow, w->now));
    if (party == FILTER)
        seconds = fmin(0.5, flow_consumer_due(w->filter_in, w->now));
    if (party == TRAINER)
        seconds = fmin(0.5, flow_consumer_due(w->trainer, w->now));
    if (party == TRAINER && w->busy > w->now)
        seconds = fmin(w->threaded ? seconds : 1, w->busy - w->now);
    if (party >= RELAY && w->relay[party - RELAY].made > w->now)
        seconds = fmin(seconds, w->relay[party - RELAY].made - w->now);
    return seconds < 0.001 ? 0.001 : seconds > 1 ? 1 : seconds;
}

static void
turn(struct world *w, int party)
{
    if (party == SELECTOR)
        selector_turn(w);
    else if (party == FILTER)
        filter_turn(w);
    else if (party == TRAINER)
        trainer_turn(w);
    else
        relay_turn(w, party);
}

static void
join(struct world *w, const struct link *link)
{
    if (link->binder == SELECTOR)
        flow_producer_join(w->selector.flow, link->number);
    else if (link->binder == FILTER)
        flow_producer_join(w->filter_out.flow, link->number);
    else if (link->binder == SERVICE)
        flow_state_owner_on_hello(
            &w->ownership, link->number,
            flow_peer_table_by_number(&w->roll[SERVICE], link->number)
                ->hello.peer);
    else
        flow_consumer_join(w->trainer, link->number);
}

static void
leave(struct world *w, struct link *link)
{
    log_event(w, "%s has lost %s", name_of(link->binder),
              name_of(link->client));
    if (link->binder == TRAINER) {
        flow_consumer_leave(w->trainer, link->number);
        end_leaves(w, link);
    } else if (link->binder != SERVICE) {
        struct source *s =
            link->binder == SELECTOR ? &w->selector : &w->filter_out;

        flow_producer_leave(s->flow, link->number);
        book_free(s, link->number);
        s->end_left |= link->over;
    }
    link->number = 0;
}

static void
start(struct world *w, int party)
{
    const struct wire_place at = {.session = -1};
    struct wire_place from;

    w->party[party].starts++;
    if (party == SELECTOR) {
        source_open(&w->selector, w->lease);
    } else if (party == FILTER) {
        source_open(&w->filter_out, w->lease);
        w->filter_in = flow_consumer_new(&at, 1, 1 + (int64_t)(1e6 * w->now));
        flow_consumer_join(w->filter_in, 1);
        w->drawn = w->plan_end = -1;
        flow_state_owner_init(&w->ownership);
        w->begins = 0;
        w->answered = 0;
        w->roll[SERVICE].keeps_silent = 1;
    } else if (party == TRAINER) {
        w->early |= w->trained == w->wanted;
        w->trained -= w->trained % w->checkpoint;
        begin_session(w);
        from = place(w, session(w), w->trained);
        w->trainer = flow_consumer_new(&from, (size_t)w->window, 1);
        w->training = w->weighing = 0;
        begin_asking(w);
        w->all_ended = 0;
        w->busy = w->now;
        trainer_start(w);
    } else {
        struct relay *r = &w->relay[party - RELAY];

        r->flow = flow_relay_new((size_t)w->room);
        r->made = 0;
        r->hangs = 0;
        r->over = 0;
        copy_start(r);
    }
    tick(w, party, w->now);
}

static void
finish(struct world *w, int party)
{
    if (party == SELECTOR) {
        flow_producer_free(w->selector.flow);
    } else if (party == FILTER) {
        flow_producer_free(w->filter_out.flow);
        drop_items(w->filter_in);
        flow_consumer_free(w->filter_in);
    } else if (party == TRAINER) {
        drop_items(w->trainer);
        flow_consumer_free(w->trainer);
    } else {
        relay_clear(&w->relay[party - RELAY]);
        flow_relay_free(w->relay[party - RELAY].flow);
    }
}

/* The connecting party was greeted. */
static void
client_greeted(struct world *w, struct link *link)
{
    if (link->client == FILTER) {
        flow_consumer_leave(w->filter_in, 1);
        flow_consumer_join(w->filter_in, 1);
    } else if (link->client == TRAINER) {
        w->requester.service = w->party[FILTER].starts;
        if (w->requester.wants)
            send_request(w);
    } else if (link->binder == TRAINER) {
        flow_relay_on_reconnect(w->relay[link->client - RELAY].flow);
        copy_lost(&w->relay[link->client - RELAY]);
    } else {
        flow_relay_resend_snapshot(w->relay[link->client - RELAY].flow);
        link->notified = -1e9;
    }
}

/* A connection was lost. */
static void
lost(struct world *w, struct link *link)
{
    if (link->client < RELAY || link->binder != TRAINER)
        return;
    flow_relay_on_reconnect(w->relay[link->client - RELAY].flow);
    copy_lost(&w->relay[link->client - RELAY]);
}

/* A greeted party receives a message of its binder. */
static void
client_receives(struct world *w, struct link *link, const struct event *e)
{
    const struct wire_place at = place(w, e->content.session, e->content.k);

    if (link->client >= RELAY)
        relay_receives(w, link->client, e);
    else if (link->client == TRAINER)
        trainer_receives(w, e);
    else if (e->what == ITEM)
        hold(w, w->filter_in, &e->content);
    else if (e->what == END && e->content.over)
        send_over(w, FILTER, &at);
    else if (e->what == END && e->content.session == w->filter_out.session)
        w->plan_end = e->content.k;
}

/* A binder receives a message of a known peer. */
static void
binder_receives(struct world *w, struct link *link, const struct event *e)
{
    const struct wire_place at = place(w, e->content.session, e->content.k);

    if (link->binder == SERVICE)
        service_receives(w, e);
    else if (e->what == WANT && link->binder == SELECTOR)
        source_next(w, &w->selector, link, &e->content);
    else if (e->what == WANT)
        filter_next(w, source_next(w, &w->filter_out, link, &e->content));
    else if (e->what == BATCH)
        hold(w, w->trainer, &e->content);
    else if (e->what == END && link->binder == TRAINER) {
        flow_consumer_on_end(w->trainer, link->number, &at);
        receive_end(w, link, &e->content);
    } else if (e->what == END) {
        struct source *s =
            link->binder == SELECTOR ? &w->selector : &w->filter_out;

        flow_producer_on_end(s->flow, link->number, &at, w->now);
        book_over(w, s, link, &e->content);
    }
}

/* A false report that the plan ends at a place where the trainer may soon
 * be. */
static void
lie_of_end(struct world *w, int relay)
{
    const int i = link_of(w, relay, TRAINER);
    const struct content content = {.session = session(w),
                                    .k = (int16_t)(w->trained + dice(w, 3))};

    if (w->link[i].greeting.state != FLOW_IN || w->relays < 2)
        return;
    log_event(w, "%s sends a false end", name_of(relay));
    w->end_lied = 1;
    post(w, i, 1, END, &content);
}

/* A false report that the run is over: one of several cannot end it. */
static void
lie_of_over(struct world *w, int relay)
{
    const int i = link_of(w, relay, binder_of_items(w));
    const struct source *s = w->filtered ? &w->filter_out : &w->selector;
    const struct content content = {
        .session = s->session, .k = (int16_t)s->place, .over = 1};

    if (w->link[i].greeting.state != FLOW_IN || w->relays < 2 || s->session < 0)
        return;
    log_event(w, "%s sends a false end of the run", name_of(relay));
    w->early = 1;
    post(w, i, 1, END, &content);
}

/* A message that is not the trainer's. */
static void
lie(struct world *w)
{
    const int relay = RELAY + dice(w, (unsigned)w->relays),
              i = link_of(w, relay, binder_of_items(w));
    const struct source *s = w->filtered ? &w->filter_out : &w->selector;
    struct content content = {.session = s->session,
                              .serial = s->serial + 1000000,
                              .k = (int16_t)(s->place + dice(w, 5)),
                              .window = (int16_t)w->window,
                              .room = (int16_t)w->room};

    if (rng_u32(&w->ends) % 4 == 0)
        lie_of_over(w, relay);
    if (dice(w, 2)) {
        lie_of_end(w, relay);
        return;
    }
    if (w->link[i].greeting.state != FLOW_IN || s->session < 0)
        return;
    switch (dice(w, 4)) {
    case 0:
        content.session++;
        if (w->weighs && rng_u32(&w->more) % 2)
            content.k = 0;
        break;
    case 1:
        content.session = INT64_MAX;
        break;
    case 2:
        for (content.n = 0; content.n < content.window; content.n++)
            content.have[content.n] = (int16_t)(content.k + content.n);
        break;
    default:
        break;
    }
    log_event(w, "%s sends a false message", name_of(w->link[i].client));
    // a false "all is trained" or "all has come": with its peers lost, the
    // run is over
    w->early |= content.k + content.n >= w->places;
    post(w, i, 1, WANT, &content);
    w->allowed += FLOW_LAPSE + 4;
}

/* After an event at a party. */
static void
judge(struct world *w, int party)
{
    if (party == SELECTOR)
        book_check(w, &w->selector);
    if (party == FILTER)
        book_check(w, &w->filter_out);
}
