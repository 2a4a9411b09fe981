#pragma once

/*
 * How parties end once the run is over: the trainer reports it to relays, they
 * to the producer, and the producer to all peers that it reaches.
 */
#include "flow/check.h"

/* Seconds for which a relay, once the run is over, waits for a producer to
 * report that to. */
static const double parting = 10;

static int
binder_of_items(const struct world *w)
{
    return w->filtered ? FILTER : SELECTOR;
}

/* The end of the run goes to all reachable peers, also to silent ones. */
static void
send_over(struct world *w, int binder, const struct wire_place *at)
{
    const struct content content = {
        .session = at->session, .k = (int16_t)count(w, at), .over = 1};

    for (int i = 0; i < w->n_links; i++) {
        const struct link *link = &w->link[i];

        if (link->binder == binder &&
            (link->number || link->silent == link->connection))
            post(w, i, 0, END, &content);
    }
}

/* It has nothing more to do; messages sent before still arrive. */
static void
depart(struct world *w, int party)
{
    log_event(w, "%s ends", name_of(party));
    w->party[party].left = 1;
    for (int i = 0; i < w->n_links; i++) {
        struct link *link = &w->link[i];

        if (link->client != party && link->binder != party)
            continue;
        link->back = INFINITY;
        if (link->client == party)
            flow_greeting_lost(&link->greeting);
    }
}

static void
selector_ends(struct world *w)
{
    const struct wire_place at = flow_producer_place(w->selector.flow);

    check_over(w, &w->selector, SELECTOR);
    if (!flow_producer_over(w->selector.flow, w->now))
        return;
    send_over(w, SELECTOR, &at);
    depart(w, SELECTOR);
}

/* It reports the end to the selector, and remains: it serves the trainer,
 * too. */
static void
filter_ends(struct world *w)
{
    struct source *s = &w->filter_out;
    const struct wire_place at = flow_producer_place(s->flow);
    const struct content content = {
        .session = at.session, .k = (int16_t)count(w, &at), .over = 1};
    const int i = link_of(w, FILTER, SELECTOR);

    check_over(w, s, FILTER);
    if (s->over || !flow_producer_over(s->flow, w->now))
        return;
    s->over =
        w->link[i].greeting.state == FLOW_IN && post(w, i, 1, END, &content);
}

/* The producer receives the end of the run, when it is connected. */
static void
relay_ends(struct world *w, int party)
{
    const struct wire_place at = flow_relay_place(w->relay[party - RELAY].flow);
    const struct content content = {
        .session = at.session, .k = (int16_t)count(w, &at), .over = 1};
    const int plan = link_of(w, party, binder_of_items(w));

    if (at.session >= 0 && w->link[plan].greeting.state == FLOW_IN &&
        post(w, plan, 1, END, &content))
        depart(w, party);
    else if (at.session < 0 || w->now - w->relay[party - RELAY].over >= parting)
        depart(w, party);
}

/* All receive the end, and it leaves. */
static void
trainer_ends(struct world *w)
{
    const struct wire_place at = flow_consumer_place(w->trainer);

    for (int i = 0; i < w->n_links; i++)
        w->latecomer |= !w->link[i].number;
    send_over(w, TRAINER, &at);
    depart(w, TRAINER);
    w->end_by = w->now + FLOW_QUIET + 20;
    for (int party = 0; party < PARTIES; party++)
        w->end_by = fmax(w->end_by,
                         fmax(w->party[party].back, w->party[party].stopped) +
                             FLOW_QUIET + 20);
}

/* All have received the end of the run; or a party that could have, has not,
 * in time.  A false end may have ended it before. */
static int
is_settled(struct world *w)
{
    const int has_left = w->party[SELECTOR].left;
    int left = has_left, all;

    if (!w->over)
        return left;
    for (int i = 0; i < w->relays; i++)
        left &= w->party[RELAY + i].left;
    if (left || w->now < w->end_by)
        return left;
    if (!has_left && (count_over(w, &w->selector, SELECTOR, &all) ||
                      (w->filtered && !w->filter_out.over &&
                       count_over(w, &w->filter_out, FILTER, &all))))
        fail(w, "a party that received the end of the run continues");
    w->not_reached = 1;
    return 1;
}
