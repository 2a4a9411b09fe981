#pragma once

/*
 * Producers: the selector, and the filter, which consumes items before.
 */
#include "flow/check_trainer.h"
#include "flow/end_of_run.h"

static void begin_weighing(struct world *w);
static int may_draw(struct world *w);

/* ---- snapshots ---------------------------------------------------------- */

static struct content
content_of(const struct world *w, const struct wire_want *next)
{
    struct content s = {.session = next->at.session,
                        .serial = next->serial,
                        .k = (int16_t)count(w, &next->at),
                        .window = (int16_t)next->window,
                        .room = (int16_t)(next->room < 0 ? 0 : next->room),
                        .n = (int16_t)next->n_have};

    REQUIRE(next->n_have <= WINDOW_MAX);
    for (int i = 0; i < s.n; i++) {
        const struct wire_place at = {0, next->have[2 * i],
                                      next->have[2 * i + 1]};

        s.have[i] = (int16_t)count(w, &at);
    }
    return s;
}

/* have: room for WINDOW_MAX places. */
static struct wire_want
next_of(const struct world *w, const struct content *s, int64_t (*have)[2])
{
    const struct wire_want next = {.at = place(w, s->session, s->k),
                                   .serial = s->serial,
                                   .window = s->window,
                                   .room = s->room ? s->room : -1,
                                   .n_have = (size_t)s->n,
                                   .have = s->n ? have[0] : NULL};

    for (int i = 0; i < s->n; i++) {
        const struct wire_place at = place(w, 0, s->have[i]);

        have[i][0] = at.epoch;
        have[i][1] = at.step;
    }
    return next;
}

/* ---- producers --------------------------------------------------------- */

static void
source_open(struct source *s, double lease)
{
    s->flow = flow_producer_new(lease);
    s->session = -1;
    s->place = s->window = s->fresh = 0;
    s->moved = 0;
    s->end_left = s->closed = s->over = 0;
    book_empty(s);
}

static struct link *
link_by_number(struct world *w, int binder, uint64_t number)
{
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].binder == binder && w->link[i].number == number)
            return &w->link[i];
    fail(w, "peer %ju is not connected", (uintmax_t)number);
    return &w->link[0];
}

/* A peer is late: by a snapshot that the trainer made after the end of the
 * lease, minus its transit time, which has no bound when a relay reads one
 * message after each item that it makes. */
static void
check_late(struct world *w, const struct source *s, int binder, double sent_at,
           const struct link *link)
{
    const double least = sent_at + w->lease,
                 slack = 2 * w->slow + 0.5 + w->stale,
                 made = w->made[s->serial % SERIALS_MAX];
    int is_known = binder == binder_of_items(w) && !w->loss &&
                   s->session == session(w) && s->serial <= w->snapshot.serial;

    for (int i = 0; i < w->relays; i++)
        is_known &= !w->relay[i].deaf;
    if (w->now < least || (is_known && made < least - slack))
        fail(w, "%s is late without a snapshot after its lease",
             name_of(link->client));
}

/* All that is wanted and allowed is sent. */
static void
hand_out(struct world *w, struct source *s, int binder)
{
    struct flow_send_item turn;
    struct flow_late late;

    while (flow_producer_late(s->flow, w->now, &late)) {
        struct link *link = link_by_number(w, binder, late.peer);

        check_late(w, s, binder, s->sent_at[count(w, &late.at)], link);
        log_event(w, "%s is late with place %d, %zu leases are void",
                  name_of(link->client), count(w, &late.at), late.taken);
        link->aside = w->now + 4 * ldexp(w->lease, link->late);
        link->late += link->late <= 8;
        book_free(s, late.peer);
    }
    while (flow_producer_next_item(s->flow, w->now, &turn)) {
        struct link *link = link_by_number(w, binder, turn.peer);
        const struct content content = {.session = turn.at.session,
                                        .k = (int16_t)count(w, &turn.at)};

        if (link->session != turn.at.session)
            fail(w, "%s gets an item of an unknown session",
                 name_of(link->client));
        book_item(w, s, &turn, link);
        post(w, (int)(link - w->link), 0, ITEM, &content);
        flow_producer_mark_sent(s->flow, &turn, 1, w->now);
    }
    check_idle(w, s, binder);
}

static void
send_end(struct world *w, struct source *s, int binder)
{
    const struct content content = {.session = s->session,
                                    .k = (int16_t)s->fresh};
    uint64_t peer;

    while ((peer = flow_producer_next_unnotified(s->flow, w->now))) {
        struct link *link = link_by_number(w, binder, peer);

        post(w, (int)(link - w->link), 0, END, &content);
        flow_producer_mark_notified(s->flow, peer, 1, w->now);
        link->end_sent = w->now;
        link->wants = 0;
    }
    check_end_sent(w, s, binder);
}

static enum flow_event_kind
source_next(struct world *w, struct source *s, struct link *link,
            const struct content *msg)
{
    int64_t have[WINDOW_MAX][2];
    const struct wire_want next = next_of(w, msg, have);
    const int newer = msg->session > s->session ||
                      (msg->session == s->session && msg->serial > s->serial);
    const int is_same =
        link->session == msg->session && link->serial == msg->serial;
    enum flow_event_kind event;
    int all;

    // what foil-select and wire_session_check() refuse
    if (msg->k > w->places || msg->session > 1000000)
        return FLOW_NOTHING;
    link->session = msg->session;
    link->serial = msg->serial;
    link->wants = 1;
    link->room = msg->room ? msg->room : msg->window;
    event = flow_producer_on_snapshot(s->flow, link->number, &next, w->now);
    if (event == FLOW_REPORT) // it has changed nothing
        event = FLOW_NOTHING;
    if (event == FLOW_REWOUND) {
        log_event(w, "the producer goes back to %d", msg->k);
        if (!newer && w->now - s->confirmed < FLOW_LAPSE + 1)
            fail(w, "the producer goes back to %d after %.3f s", msg->k,
                 w->now - s->confirmed);
        if (!newer && is_same && count_over(w, s, link->binder, &all))
            fail(w, "the producer goes back to %d after an end", msg->k);
    }
    if (event == FLOW_NEW_SESSION || event == FLOW_REWOUND) {
        s->fresh = msg->k;
        s->closed = 0;
    }
    if (event != FLOW_NOTHING || newer)
        book_end(w, s, msg, newer);
    if (event == FLOW_NEW_SESSION)
        s->over = 0;
    if (event != FLOW_NOTHING || newer)
        book_snapshot(w, s, msg,
                      event == FLOW_NEW_SESSION || event == FLOW_REWOUND);
    if (msg->session == s->session && msg->serial == s->serial)
        s->confirmed = w->now;
    if (s->fresh < s->place)
        s->fresh = s->place;
    return event;
}

/* ---- the selector ------------------------------------------------------- */

static void
selector_turn(struct world *w)
{
    struct source *s = &w->selector;

    while (flow_producer_needs_place(s->flow)) {
        const struct wire_place at = flow_producer_fresh(s->flow),
                                after = place(w, at.session, count(w, &at) + 1);

        if (count(w, &at) >= w->places) {
            flow_producer_close(s->flow, &at);
            s->closed = 1;
            break;
        }
        flow_producer_add(s->flow, &at, &after);
        s->added[count(w, &at)] = 1;
        s->fresh = count(w, &after);
    }
    hand_out(w, s, SELECTOR);
    send_end(w, s, SELECTOR);
    selector_ends(w);
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
hold(struct world *w, struct flow_consumer *c, const struct content *content)
{
    const struct wire_place at = place(w, content->session, content->k);
    struct thing *thing, *dropped;

    if (!flow_consumer_wants(c, &at))
        return;
    thing = mem_array(1, sizeof *thing);
    *thing = (struct thing){content->session, content->k};
    dropped = flow_consumer_hold(c, &at, thing);
    if (c == w->trainer) {
        w->holds[content->k] = 1;
        disprove(w, content->k);
        if (dropped)
            w->holds[dropped->k] = 0;
    }
    free(dropped);
    if (flow_consumer_held(c) > (size_t)w->window)
        fail(w, "%zu held in a window of %d", flow_consumer_held(c), w->window);
}

/* Sends snapshots to producers. */
static void
ask(struct world *w, struct flow_consumer *c, int binder)
{
    struct flow_send_snapshot ask;

    while (flow_consumer_next_snapshot(c, w->now, &ask)) {
        const struct content content = content_of(w, &ask.want);
        int sent = binder == TRAINER;

        if (sent && content.serial != w->snapshot.serial)
            w->made[content.serial % SERIALS_MAX] = w->now;
        if (sent)
            w->snapshot = content;
        for (int i = 0; i < w->n_links; i++) {
            struct link *link = &w->link[i];

            if (binder == TRAINER && link->binder == TRAINER &&
                link->number == ask.peer) {
                link->notified = w->now;
                link->latest = content;
                post(w, i, 0, WANT, &content);
            }
            if (binder == SELECTOR && link->client == FILTER)
                sent = link->greeting.state == FLOW_IN &&
                       post(w, i, 1, WANT, &content);
        }
        flow_consumer_mark_sent(c, &ask, sent, w->now);
    }
}

static void
filter_next(struct world *w, enum flow_event_kind event)
{
    struct source *s = &w->filter_out;
    const struct wire_place at = flow_producer_place(s->flow);
    void *item;

    if (event == FLOW_NEW_SESSION || event == FLOW_REWOUND) {
        drop_items(w->filter_in);
        flow_consumer_begin(w->filter_in, &at);
        w->begins = 0;
        w->drawn = w->plan_end = -1;
    }
    if (at.session < 0)
        return;
    if (w->drawn < s->place)
        w->drawn = s->place;
    flow_consumer_resize(w->filter_in,
                         (size_t)flow_producer_newest(s->flow)->window);
    flow_consumer_set_place(w->filter_in, &at);
    while ((item = flow_consumer_stale(w->filter_in)))
        free(item);
}

static void
filter_turn(struct world *w)
{
    struct source *s = &w->filter_out;

    if (s->session >= 0 && w->weighs)
        begin_weighing(w);
    if (s->session >= 0)
        may_draw(w);
    while (s->session >= 0 && flow_producer_needs_place(s->flow)) {
        const struct wire_place at = place(w, s->session, w->drawn),
                                after = place(w, s->session, w->drawn + 1);

        if (w->plan_end >= 0 && w->drawn >= w->plan_end) {
            const struct wire_place end = place(w, s->session, w->plan_end);

            flow_producer_close(s->flow, &end);
            s->fresh = w->plan_end > s->fresh ? w->plan_end : s->fresh;
            s->closed = 1;
            break;
        }
        if (!flow_consumer_find(w->filter_in, &at) || !may_draw(w))
            break;
        if (s->low < 0)
            s->low = w->drawn;
        flow_producer_add(s->flow, &at, &after);
        s->added[w->drawn] = 1;
        s->fresh = ++w->drawn;
    }
    hand_out(w, s, FILTER);
    send_end(w, s, FILTER);
    if (s->session >= 0) {
        flow_consumer_mark_waiting(w->filter_in, w->now);
        ask(w, w->filter_in, SELECTOR);
    }
    filter_ends(w);
}
