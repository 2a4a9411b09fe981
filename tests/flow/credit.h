#pragma once

/*
 * Selector, augmenters and trainer by the rules of version 1 of the protocol,
 * before they were corrected: credit that adds up.
 *
 *     trainer   gives each peer credit for its share of the window that is not
 *               held, and one at least.  While the next batch is missing and
 *               the window is full of others: one more to each, each second,
 *               up to four windows
 *     relay     forwards credit to the selector; makes items in order of
 *               arrival.  After a new hello it sends all its open credit again
 *     selector  an item to each peer that has credit, in turn: the lowest with
 *               an expired lease or a lost holder, else a new one
 *
 * Messages are those of the world: WANT has the credit in `room`.
 */
#include "flow/world.h"

enum { FILTERS = 0 }; /* there are none */

static struct {
    int64_t session;
    int place, fresh;
    size_t credit[LINKS_MAX];
    uint64_t served[LINKS_MAX], turn;
    int holder[PLACES_MAX]; /* link + 1; 0: none */
    int leased[PLACES_MAX]; /* it was handed out */
    double until[PLACES_MAX];
} plan;

static struct {
    int place, held;
    char has[PLACES_MAX];
    size_t credit[LINKS_MAX];
    double waiting, granted; /* since when; when more was granted last */
} sink;

static struct {
    int64_t session;
    int place, n, queue[PLACES_MAX]; /* the first may be in the making */
    size_t credit; /* open: granted, and no batch sent for it */
} relays[RELAYS_MAX];

static int
binder_of_items(const struct world *w)
{
    (void)w;
    return SELECTOR;
}

static int64_t
session_of(const struct world *w)
{
    return 10 * w->party[TRAINER].starts;
}

static void
send_next(struct world *w, int link, int up, int64_t session, int k,
          size_t credit)
{
    const struct content content = {
        .session = session, .k = (int16_t)k, .room = (int16_t)credit};

    post(w, link, up, WANT, &content);
}

/* ---- the selector ------------------------------------------------------- */

static void
forget(int from)
{
    for (int k = from; k < PLACES_MAX; k++)
        plan.leased[k] = plan.holder[k] = 0;
}

static void
selector_receives(struct world *w, int link, const struct content *content)
{
    if (content->session < plan.session || content->k > w->places ||
        content->session > 1000000)
        return;
    if (content->session > plan.session) {
        plan.session = content->session;
        plan.place = plan.fresh = content->k;
        memset(plan.credit, 0, sizeof plan.credit);
        forget(0);
    }
    if (content->k > plan.place)
        plan.place = content->k;
    if (plan.fresh < plan.place)
        plan.fresh = plan.place;
    plan.credit[link] += (size_t)content->room;
}

/* The place to be handed out next, or -1. */
static int
next_place(const struct world *w)
{
    for (int k = plan.place; k < plan.fresh; k++)
        if (plan.leased[k] && (!plan.holder[k] || w->now >= plan.until[k]))
            return k;
    return plan.fresh < w->places ? plan.fresh : -1;
}

static void
selector_turn(struct world *w)
{
    for (;;) {
        const int k = next_place(w);
        int best = -1;

        for (int i = 0; i < w->n_links; i++)
            if (w->link[i].binder == SELECTOR && w->link[i].number &&
                plan.credit[i] &&
                (best < 0 || plan.served[i] < plan.served[best]))
                best = i;
        if (plan.session < 0 || k < 0 || best < 0)
            return;
        plan.credit[best]--;
        plan.served[best] = ++plan.turn;
        plan.leased[k] = 1;
        plan.holder[k] = best + 1;
        plan.until[k] = w->now + LEASE;
        plan.fresh += k == plan.fresh;
        post(w, best, 0, ITEM,
             &(struct content){.session = plan.session, .k = (int16_t)k});
    }
}

/* ---- an augmenter ------------------------------------------------------- */

static void
relay_receives(struct world *w, int party, const struct event *e)
{
    const int i = party - RELAY, to = link_of(w, party, SELECTOR);
    int at = 0;

    if (e->content.session < relays[i].session)
        return;
    if (e->what == WANT) {
        if (e->content.session > relays[i].session)
            relays[i].n = 0, relays[i].credit = 0, w->relay[i].made = 0;
        relays[i].session = e->content.session;
        relays[i].place = e->content.k;
        relays[i].credit += (size_t)e->content.room;
        if (w->link[to].greeting.state == FLOW_IN)
            send_next(w, to, 1, relays[i].session, relays[i].place,
                      (size_t)e->content.room);
    } else if (e->what == ITEM && e->content.session == relays[i].session) {
        while (at < relays[i].n && relays[i].queue[at] != e->content.k)
            at++;
        if (at == relays[i].n && e->content.k >= relays[i].place)
            relays[i].queue[relays[i].n++] = e->content.k;
    }
}

static void
relay_turn(struct world *w, int party)
{
    const int i = party - RELAY, to = link_of(w, party, TRAINER);
    struct relay *r = &w->relay[i];

    if (r->made && r->made <= w->now) {
        const struct content content = {.session = relays[i].session,
                                        .k = (int16_t)relays[i].queue[0]};

        if (w->link[to].greeting.state == FLOW_IN) // or it is dropped
            post(w, to, 1, BATCH, &content);
        relays[i].credit -= relays[i].credit > 0;
        memmove(relays[i].queue, relays[i].queue + 1,
                (size_t)--relays[i].n * sizeof *relays[i].queue);
        r->made = 0;
    }
    if (r->made || r->hangs > w->now || !relays[i].n)
        return;
    r->made = w->now + 0.01 + some(w, 0.2);
    log_event(w, "%s makes %d", name_of(party), relays[i].queue[0]);
    tick(w, party, r->made);
}

/* ---- the trainer -------------------------------------------------------- */

static void
grant(struct world *w, int link, size_t credit)
{
    if (!credit)
        return;
    sink.credit[link] += credit;
    send_next(w, link, 0, session_of(w), sink.place, credit);
}

static int
is_peer(const struct world *w, int i)
{
    return w->link[i].binder == TRAINER && w->link[i].number;
}

static void
grant_shares(struct world *w)
{
    int peers = 0;
    size_t share;

    for (int i = 0; i < w->n_links; i++)
        peers += is_peer(w, i);
    if (!peers || sink.held >= w->window)
        return;
    share = (size_t)((w->window - sink.held) / peers);
    share = share ? share : 1;
    for (int i = 0; i < w->n_links; i++)
        if (is_peer(w, i) && sink.credit[i] < share)
            grant(w, i, share - sink.credit[i]);
}

static void
relieve(struct world *w)
{
    if (sink.held < w->window || sink.held >= 4 * w->window ||
        w->now - sink.waiting < 1 || w->now - sink.granted < 1)
        return;
    sink.granted = w->now;
    for (int i = 0; i < w->n_links; i++)
        if (is_peer(w, i))
            grant(w, i, 1);
}

static void
trainer_turn(struct world *w)
{
    if (w->busy > w->now)
        return;
    if (w->training) {
        w->training = 0;
        sink.place = ++w->trained;
        sink.waiting = w->now;
        for (int i = 0; i < w->n_links; i++)
            if (is_peer(w, i)) // done
                send_next(w, i, 0, session_of(w), sink.place, 0);
    }
    w->over = w->trained == w->places;
    if (!w->over && sink.has[sink.place]) {
        sink.has[sink.place] = 0;
        sink.held--;
        w->training = 1;
        w->busy = w->now + 0.01 + some(w, 0.1);
        log_event(w, "trainer trains %d", sink.place);
        tick(w, TRAINER, w->busy);
    } else {
        relieve(w);
    }
    grant_shares(w);
}

static void
trainer_receives(struct world *w, int link, const struct content *content)
{
    sink.credit[link] -= sink.credit[link] > 0;
    if (content->session != session_of(w) || content->k < sink.place ||
        (w->training && content->k == sink.place) || sink.has[content->k])
        return;
    sink.has[content->k] = 1;
    sink.held++;
}

/* ---- interface of a schedule ------------------------------------------- */

static double
pause_s(struct world *w, int party)
{
    double at = w->now + 0.5;

    if (party == TRAINER && w->busy > w->now)
        at = fmin(at, w->busy);
    if (party >= RELAY && w->relay[party - RELAY].made > w->now)
        at = fmin(at, w->relay[party - RELAY].made);
    return fmax(at - w->now, 0.001);
}

static void
turn(struct world *w, int party)
{
    if (party == SELECTOR)
        selector_turn(w);
    else if (party == TRAINER)
        trainer_turn(w);
    else if (party >= RELAY)
        relay_turn(w, party);
}

static void
join(struct world *w, const struct link *link)
{
    const size_t i = (size_t)(link - w->link);

    if (link->binder == TRAINER)
        sink.credit[i] = 0;
    else
        plan.credit[i] = 0;
}

static void
leave(struct world *w, struct link *link)
{
    const int i = (int)(link - w->link);

    log_event(w, "%s has lost %s", name_of(link->binder),
              name_of(link->client));
    for (int k = 0; k < PLACES_MAX && link->binder == SELECTOR; k++)
        if (plan.holder[k] == i + 1)
            plan.holder[k] = 0;
    link->number = 0;
}

static void
start(struct world *w, int party)
{
    w->party[party].starts++;
    if (party == SELECTOR) {
        memset(&plan, 0, sizeof plan);
        plan.session = -1;
    } else if (party == TRAINER) {
        w->trained -= w->trained % w->checkpoint;
        memset(&sink, 0, sizeof sink);
        sink.place = w->trained;
        sink.waiting = w->busy = w->now;
        w->training = 0;
    } else if (party >= RELAY) {
        memset(&relays[party - RELAY], 0, sizeof *relays);
        w->relay[party - RELAY].made = 0;
        w->relay[party - RELAY].hangs = 0;
    }
    tick(w, party, w->now);
}

static void
finish(struct world *w, int party)
{
    (void)w;
    (void)party;
}

static void
client_greeted(struct world *w, struct link *link)
{
    const int i = link->client - RELAY;

    if (link->binder == SELECTOR && relays[i].session)
        send_next(w, (int)(link - w->link), 1, relays[i].session,
                  relays[i].place,
                  relays[i].credit > (size_t)relays[i].n
                      ? relays[i].credit - (size_t)relays[i].n
                      : 0);
}

static void
lost(struct world *w, struct link *link)
{
    (void)w;
    (void)link;
}

static void
client_receives(struct world *w, struct link *link, const struct event *e)
{
    relay_receives(w, link->client, e);
}

static void
binder_receives(struct world *w, struct link *link, const struct event *e)
{
    const int i = (int)(link - w->link);

    if (e->what == WANT && link->binder == SELECTOR)
        selector_receives(w, i, &e->content);
    else if (e->what == BATCH)
        trainer_receives(w, i, &e->content);
}

/* None does: version 1 accepted every message. */
static void
lie(struct world *w)
{
    (void)w;
}

static void
judge(struct world *w, int party)
{
    (void)w;
    (void)party;
}

static void
check_calm(struct world *w)
{
    (void)w;
}

/* Nothing after the last step is simulated. */
static int
is_settled(const struct world *w)
{
    return w->over;
}
