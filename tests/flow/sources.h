#ifndef TESTS_FLOW_SOURCES_H
#define TESTS_FLOW_SOURCES_H

/*
 * Who hands items out: the selector, and the filter, which takes them in
 * before.
 */
#include "flow/check_trainer.h"
#include "flow/ending.h"

static void begin_weighing(struct world *w);
static int may_draw(struct world *w);

/* ---- snapshots ---------------------------------------------------------- */

static struct said
said_of(const struct world *w, const struct wire_next *next)
{
    struct said s = {.session = next->at.session,
                     .serial = next->serial,
                     .k = (int16_t)count(w, &next->at),
                     .window = (int16_t)next->window,
                     .room = (int16_t)next->room,
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
static struct wire_next
next_of(const struct world *w, const struct said *s, int64_t (*have)[2])
{
    const struct wire_next next = {.at = place(w, s->session, s->k),
                                   .serial = s->serial,
                                   .window = s->window,
                                   .room = s->room,
                                   .n_have = (size_t)s->n,
                                   .have = s->n ? have[0] : NULL};

    for (int i = 0; i < s->n; i++) {
        const struct wire_place at = place(w, 0, s->have[i]);

        have[i][0] = at.epoch;
        have[i][1] = at.step;
    }
    return next;
}

/* ---- who hands out ------------------------------------------------------ */

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
    fail(w, "peer %ju is not there", (uintmax_t)number);
    return &w->link[0];
}

/* A peer is late: by a snapshot that the trainer made after the lease was over,
 * but for the time that this took to come, which has no bound where a relay
 * reads one message after each item that it makes. */
static void
check_late(struct world *w, const struct source *s, int binder, double given,
           const struct link *link)
{
    const double least = given + w->lease, slack = 2 * w->slow + 0.5 + w->stale,
                 made = w->made[s->serial % SERIALS_MAX];
    int is_known = binder == binder_of_items(w) && !w->loss &&
                   s->session == session(w) && s->serial <= w->says.serial;

    for (int i = 0; i < w->relays; i++)
        is_known &= !w->relay[i].deaf;
    if (w->now < least || (is_known && made < least - slack))
        fail(w, "%s is late, and nobody has looked for its batch",
             name_of(link->client));
}

/* All that is wanted and may be handed out goes out. */
static void
hand_out(struct world *w, struct source *s, int binder)
{
    struct flow_turn turn;
    struct flow_late late;

    while (flow_producer_late(s->flow, w->now, &late)) {
        struct link *link = link_by_number(w, binder, late.peer);

        check_late(w, s, binder, s->given[count(w, &late.at)], link);
        tell(w, "%s is late with place %d, %zu leases are void",
             name_of(link->client), count(w, &late.at), late.taken);
        link->aside = w->now + 4 * ldexp(w->lease, link->late);
        link->late += link->late <= 8;
        book_free(s, late.peer);
    }
    while (flow_producer_turn(s->flow, w->now, &turn)) {
        struct link *link = link_by_number(w, binder, turn.peer);
        const struct said said = {.session = turn.at.session,
                                  .k = (int16_t)count(w, &turn.at)};

        if (link->session != turn.at.session)
            fail(w, "%s gets an item of a session that it does not know",
                 name_of(link->client));
        book_give(w, s, &turn, link);
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
        link->end_told = w->now;
        link->asks = 0;
    }
    check_told_end(w, s, binder);
}

static enum flow_what
source_next(struct world *w, struct source *s, struct link *link,
            const struct said *said)
{
    int64_t have[WINDOW_MAX][2];
    const struct wire_next next = next_of(w, said, have);
    const int newer = said->session > s->session ||
                      (said->session == s->session && said->serial > s->serial);
    const int is_same =
        link->session == said->session && link->serial == said->serial;
    enum flow_what heard;
    int all;

    // what foil-select and wire_session_check() refuse
    if (said->k > w->places || said->session > 1000000)
        return FLOW_NOTHING;
    link->session = said->session;
    link->serial = said->serial;
    link->asks = 1;
    link->room = said->room ? said->room : said->window;
    heard = flow_producer_next(s->flow, link->number, &next, w->now);
    if (heard == FLOW_BACK) {
        tell(w, "the producer goes back to %d", said->k);
        if (!newer && w->now - s->said < FLOW_LAPSE + 1)
            fail(w, "the producer goes back to %d after %.3f s", said->k,
                 w->now - s->said);
        if (!newer && is_same && count_over(w, s, link->binder, &all))
            fail(w, "the producer goes back to %d after an end", said->k);
    }
    if (heard == FLOW_MOVED || heard == FLOW_BACK) {
        s->fresh = said->k;
        s->closed = 0;
    }
    if (heard != FLOW_NOTHING || newer)
        book_end(w, s, said, newer);
    if (heard == FLOW_MOVED)
        s->over = 0;
    if (heard != FLOW_NOTHING || newer)
        book_snapshot(w, s, said, heard == FLOW_MOVED || heard == FLOW_BACK);
    if (said->session == s->session && said->serial == s->serial)
        s->said = w->now;
    if (s->fresh < s->place)
        s->fresh = s->place;
    return heard;
}

/* ---- the selector ------------------------------------------------------- */

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
            s->closed = 1;
            break;
        }
        flow_producer_add(s->flow, &at, &behind);
        s->fresh = count(w, &behind);
    }
    hand_out(w, s, SELECTOR);
    tell_end(w, s, SELECTOR);
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
hold(struct world *w, struct flow_consumer *c, const struct said *said)
{
    const struct wire_place at = place(w, said->session, said->k);
    struct thing *thing, *dropped;

    if (!flow_consumer_wants(c, &at))
        return;
    thing = mem_array(1, sizeof *thing);
    *thing = (struct thing){said->session, said->k};
    dropped = flow_consumer_hold(c, &at, thing);
    if (c == w->trainer) {
        w->holds[said->k] = 1;
        disprove(w, said->k);
        if (dropped)
            w->holds[dropped->k] = 0;
    }
    free(dropped);
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

        if (sent && said.serial != w->says.serial)
            w->made[said.serial % SERIALS_MAX] = w->now;
        if (sent)
            w->says = said;
        for (int i = 0; i < w->n_links; i++) {
            struct link *link = &w->link[i];

            if (binder == TRAINER && link->binder == TRAINER &&
                link->number == ask.peer) {
                link->told = w->now;
                link->tells = said;
                post(w, i, 0, NEXT, &said);
            }
            if (binder == SELECTOR && link->client == FILTER)
                sent = link->greeting.state == FLOW_IN &&
                       post(w, i, 1, NEXT, &said);
        }
        flow_consumer_asked(c, &ask, sent, w->now);
    }
}

static void
filter_next(struct world *w, enum flow_what heard)
{
    struct source *s = &w->filter_out;
    const struct wire_place at = flow_producer_place(s->flow);
    void *item;

    if (heard == FLOW_MOVED || heard == FLOW_BACK) {
        drop_items(w->filter_in);
        flow_consumer_begin(w->filter_in, &at);
        w->begins = 0;
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

    if (s->session >= 0 && w->weighs)
        begin_weighing(w);
    if (s->session >= 0)
        may_draw(w);
    while (s->session >= 0 && flow_producer_short(s->flow)) {
        const struct wire_place at = place(w, s->session, w->drawn),
                                behind = place(w, s->session, w->drawn + 1);

        if (w->plan_end >= 0 && w->drawn >= w->plan_end) {
            flow_producer_close(s->flow);
            s->closed = 1;
            break;
        }
        if (!flow_consumer_find(w->filter_in, &at) || !may_draw(w))
            break;
        if (s->low < 0)
            s->low = w->drawn;
        flow_producer_add(s->flow, &at, &behind);
        s->fresh = ++w->drawn;
    }
    hand_out(w, s, FILTER);
    tell_end(w, s, FILTER);
    if (s->session >= 0) {
        flow_consumer_wait(w->filter_in, w->now);
        ask(w, w->filter_in, SELECTOR);
    }
    filter_ends(w);
}

#endif
