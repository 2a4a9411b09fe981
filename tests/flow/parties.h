#ifndef TESTS_FLOW_PARTIES_H
#define TESTS_FLOW_PARTIES_H

/*
 * Selector, filter, augmenters and trainer: each the machines of lib/flow, put
 * together as the tools do it.
 */
#include "flow/check.h"

static int
can_run(const struct world *w, int party)
{
    const struct party *p = &w->party[party];

    return p->back <= w->now && p->stopped <= w->now;
}

/* ---- who hands out ------------------------------------------------------ */

static int
binder_of_items(const struct world *w)
{
    return w->filtered ? FILTER : SELECTOR;
}

static void
source_open(struct source *s)
{
    s->flow = flow_producer_new(LEASE);
    s->session = -1;
    s->place = s->window = s->fresh = 0;
    book_empty(s);
}

static struct link *
link_by_number(struct world *w, int binder, uint64_t number)
{
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].binder == binder && w->link[i].number == number)
            return &w->link[i];
    fail(w, "peer %ju is not there", (uintmax_t)number);
    return &w->link[0];
}

/* All that is wanted and may be handed out goes out. */
static void
hand_out(struct world *w, struct source *s, int binder)
{
    struct flow_turn turn;
    struct flow_late late;

    while (flow_producer_late(s->flow, w->now, &late)) {
        struct link *link = link_by_number(w, binder, late.peer);
        const double given = s->given[count(w, &late.at)];

        // what it said may have taken long to come
        if (w->now < given + LEASE ||
            (binder == binder_of_items(w) && w->looked < given + 1))
            fail(w, "%s is late, and nobody has looked for its batch",
                 name_of(link->client));
        tell(w, "%s is late with place %d, %zu leases are void",
             name_of(link->client), count(w, &late.at), late.taken);
        link->late = 1;
        book_free(s, late.peer);
    }
    while (flow_producer_turn(s->flow, w->now, &turn)) {
        struct link *link = link_by_number(w, binder, turn.peer);
        const struct said said = {.session = turn.at.session,
                                  .k = (int16_t)count(w, &turn.at)};

        if (link->session != turn.at.session)
            fail(w, "%s gets an item of a session that it does not know",
                 name_of(link->client));
        book_give(w, s, &turn, (size_t)link->room);
        post(w, (int)(link - w->link), 0, ITEM, &said);
        flow_producer_gave(s->flow, &turn, 1, w->now);
    }
    check_idle(w, s, binder);
}

static void
tell_end(struct world *w, struct source *s, int binder)
{
    const struct said said = {.session = s->session, .k = (int16_t)s->fresh};
    uint64_t peer;

    while ((peer = flow_producer_untold(s->flow, w->now))) {
        struct link *link = link_by_number(w, binder, peer);

        post(w, (int)(link - w->link), 0, END, &said);
        flow_producer_told(s->flow, peer, 1, w->now);
    }
}

static enum flow_said
source_next(struct world *w, struct source *s, struct link *link,
            const struct said *said)
{
    int64_t have[WINDOW_MAX][2];
    const struct wire_next next = next_of(w, said, have);
    const int newer = said->session > s->session ||
                      (said->session == s->session && said->serial > s->serial);
    enum flow_said heard;

    // what foil-select and wire_session_judge() refuse
    if (said->k > w->places || said->session > 1000000)
        return FLOW_NOTHING;
    link->session = said->session;
    link->room = said->room ? said->room : said->window;
    heard = flow_producer_next(s->flow, link->number, &next, w->now);
    if (heard == FLOW_BACK)
        tell(w, "the producer goes back to %d", said->k);
    if (heard == FLOW_MOVED || heard == FLOW_BACK)
        s->fresh = said->k;
    if (heard != FLOW_NOTHING || newer)
        book_snapshot(w, s, said, heard == FLOW_MOVED || heard == FLOW_BACK);
    if (s->fresh < s->place)
        s->fresh = s->place;
    return heard;
}

static void
selector_turn(struct world *w)
{
    struct source *s = &w->selector;

    while (flow_producer_short(s->flow)) {
        const struct wire_place at = flow_producer_fresh(s->flow),
                                behind =
                                    place(w, at.session, count(w, &at) + 1);

        if (count(w, &at) >= w->places) {
            flow_producer_close(s->flow);
            break;
        }
        flow_producer_add(s->flow, &at, &behind);
        s->fresh = count(w, &behind);
    }
    hand_out(w, s, SELECTOR);
    tell_end(w, s, SELECTOR);
}

/* ---- the filter --------------------------------------------------------- */

static void
drop_items(struct flow_consumer *c)
{
    void *item;

    while (c && (item = flow_consumer_drop(c)))
        free(item);
}

static void
hold(struct world *w, struct flow_consumer *c, const struct said *said)
{
    const struct wire_place at = place(w, said->session, said->k);
    struct thing *thing;

    if (!flow_consumer_wants(c, &at))
        return;
    thing = mem_array(1, sizeof *thing);
    *thing = (struct thing){said->session, said->k};
    free(flow_consumer_hold(c, &at, thing));
    if (flow_consumer_held(c) > (size_t)w->window)
        fail(w, "%zu held in a window of %d", flow_consumer_held(c), w->window);
}

/* Tells who hands out what is wanted. */
static void
ask(struct world *w, struct flow_consumer *c, int binder)
{
    struct flow_ask ask;

    while (flow_consumer_turn(c, w->now, &ask)) {
        const struct said said = said_of(w, &ask.next);
        int sent = binder == TRAINER;

        for (int i = 0; i < w->n_links; i++) {
            const struct link *link = &w->link[i];

            if (binder == TRAINER && link->binder == TRAINER &&
                link->number == ask.peer)
                post(w, i, 0, NEXT, &said);
            if (binder == SELECTOR && link->client == FILTER)
                sent = link->greeting.state == WIRE_IN &&
                       post(w, i, 1, NEXT, &said);
        }
        flow_consumer_asked(c, &ask, sent, w->now);
    }
}

static void
filter_next(struct world *w, enum flow_said heard)
{
    struct source *s = &w->filter_out;
    const struct wire_place at = flow_producer_place(s->flow);
    void *item;

    if (heard == FLOW_MOVED || heard == FLOW_BACK) {
        drop_items(w->filter_in);
        flow_consumer_begin(w->filter_in, &at);
        w->drawn = w->plan_end = -1;
    }
    if (at.session < 0)
        return;
    if (w->drawn < s->place)
        w->drawn = s->place;
    flow_consumer_resize(w->filter_in, flow_producer_window(s->flow));
    flow_consumer_go(w->filter_in, &at);
    while ((item = flow_consumer_stale(w->filter_in)))
        free(item);
}

static void
filter_turn(struct world *w)
{
    struct source *s = &w->filter_out;

    while (s->session >= 0 && flow_producer_short(s->flow)) {
        const struct wire_place at = place(w, s->session, w->drawn),
                                behind = place(w, s->session, w->drawn + 1);

        if (w->plan_end >= 0 && w->drawn >= w->plan_end) {
            flow_producer_close(s->flow);
            break;
        }
        if (!flow_consumer_find(w->filter_in, &at))
            break;
        flow_producer_add(s->flow, &at, &behind);
        s->fresh = ++w->drawn;
    }
    hand_out(w, s, FILTER);
    tell_end(w, s, FILTER);
    if (s->session >= 0) {
        flow_consumer_wait(w->filter_in, w->now);
        ask(w, w->filter_in, SELECTOR);
    }
}

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
        r->made = 0;
    }
    if (r->made || r->hangs)
        return;
    r->item = flow_relay_work(r->flow);
    if (!r->item)
        return;
    r->made = w->now + 0.01 + some(w, 0.2);
    tell(w, "%s makes %d", name_of(party), r->item->k);
    tick(w, party, r->made);
}

static void
relay_turn(struct world *w, int party)
{
    struct relay *r = &w->relay[party - RELAY];
    const int plan = link_of(w, party, binder_of_items(w)),
              batches = link_of(w, party, TRAINER);
    struct wire_next next;
    void *item, *batch;

    while (flow_relay_stale(r->flow, &item, &batch))
        free(item);
    relay_make(w, r, party);
    while (w->link[batches].greeting.state == WIRE_IN &&
           (batch = flow_relay_ready(r->flow))) {
        const struct thing *thing = batch;
        const struct said said = {.session = thing->session,
                                  .k = (int16_t)thing->k};

        if (!post(w, batches, 1, BATCH, &said))
            break;
        flow_relay_sent(r->flow);
    }
    relay_make(w, r, party);
    if (w->link[plan].greeting.state == WIRE_IN &&
        flow_relay_turn(r->flow, w->now, &next)) {
        const struct said said = said_of(w, &next);

        flow_relay_told(r->flow, post(w, plan, 1, NEXT, &said), w->now);
    }
    if (flow_relay_kept(r->flow) > (size_t)w->room)
        fail(w, "%s keeps %zu batches", name_of(party),
             flow_relay_kept(r->flow));
}

static void
relay_hears(struct world *w, int party, const struct event *e)
{
    struct relay *r = &w->relay[party - RELAY];
    const struct wire_place at = place(w, e->said.session, e->said.k);
    int64_t have[WINDOW_MAX][2];
    struct wire_next next;
    struct thing *thing;

    if (e->what == NEXT) {
        next = next_of(w, &e->said, have);
        flow_relay_next(r->flow, &next);
    } else if (e->what == ITEM) {
        thing = mem_array(1, sizeof *thing);
        *thing = (struct thing){e->said.session, e->said.k};
        if (!flow_relay_take(r->flow, &at, thing))
            free(thing);
    } else if (e->what == END) {
        post(w, link_of(w, party, TRAINER), 1, END, &e->said);
    }
}

/* ---- the trainer -------------------------------------------------------- */

static int64_t
session(const struct world *w)
{
    return 10 * w->party[TRAINER].starts;
}

/* The plan is over when all say so, and go on saying it; where they are right
 * nothing more can happen. */
static void
look_at_end(struct world *w)
{
    if (flow_consumer_ended(w->trainer) != FLOW_ALL_ENDED) {
        w->all_ended = 0;
        return;
    }
    if (!w->all_ended)
        w->all_ended = w->now;
    w->over = w->trained == w->places || w->now - w->all_ended >= silence;
    if (w->over && w->trained < w->places)
        fail(w, "the run ends after %d of %d", w->trained, w->places);
}

static void
trainer_turn(struct world *w)
{
    const struct wire_place at = flow_consumer_place(w->trainer);
    struct thing *batch;

    if (w->busy > w->now)
        return;
    w->looked = w->now;
    if (w->training) {
        const struct wire_place next = place(w, at.session, ++w->trained);

        flow_consumer_go(w->trainer, &next);
        w->training = 0;
    }
    batch = flow_consumer_take(w->trainer);
    if (batch) {
        tell(w, "trainer trains %d", batch->k);
        if (batch->k != w->trained || batch->session != session(w))
            fail(w, "%jd:%d is trained in place of %jd:%d",
                 (intmax_t)batch->session, batch->k, (intmax_t)session(w),
                 w->trained);
        w->training = 1;
        w->busy = w->now + 0.01 + some(w, 0.1);
        tick(w, TRAINER, w->busy);
    } else {
        flow_consumer_wait(w->trainer, w->now);
        look_at_end(w);
    }
    free(batch);
    if (flow_consumer_held(w->trainer) + (size_t)w->training >
        (size_t)w->window)
        fail(w, "more is held than the window");
    ask(w, w->trainer, TRAINER);
}

/* ---- any ---------------------------------------------------------------- */

static double
patience(struct world *w, int party)
{
    double seconds = party < RELAY ? 0.5 : 1;

    if (party == SELECTOR)
        seconds = fmin(0.5, flow_producer_due(w->selector.flow, w->now));
    if (party == FILTER)
        seconds = fmin(0.5, flow_consumer_due(w->filter_in, w->now));
    if (party == TRAINER)
        seconds = fmin(0.5, flow_consumer_due(w->trainer, w->now));
    if (party == TRAINER && w->busy > w->now)
        seconds = fmin(seconds, w->busy - w->now);
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
join(struct world *w, int binder, uint64_t number)
{
    if (binder == SELECTOR)
        flow_producer_join(w->selector.flow, number);
    else if (binder == FILTER)
        flow_producer_join(w->filter_out.flow, number);
    else
        flow_consumer_join(w->trainer, number);
}

static void
leave(struct world *w, struct link *link)
{
    tell(w, "%s has lost %s", name_of(link->binder), name_of(link->client));
    if (link->binder == TRAINER) {
        flow_consumer_leave(w->trainer, link->number);
    } else {
        struct source *s =
            link->binder == SELECTOR ? &w->selector : &w->filter_out;

        flow_producer_leave(s->flow, link->number);
        book_free(s, link->number);
    }
    link->number = 0;
}

/* Greetings and signs of life of who connects. */
static void
tend_link(struct world *w, int i)
{
    struct link *link = &w->link[i];

    if (!can_run(w, link->client))
        return;
    if (wire_greeting_turn(&link->greeting, is_up(w, link), w->now))
        post(w, i, 1, HELLO, NULL);
    if (link->greeting.state == WIRE_IN && w->now - link->lived >= life) {
        post(w, i, 1, BEAT, NULL);
    }
}

/* What a binder hears of silence; after it has read all there is. */
static void
judge_silence(struct world *w, int binder)
{
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].binder == binder && w->link[i].number &&
            w->now - w->link[i].heard > silence)
            leave(w, &w->link[i]);
}

#endif
