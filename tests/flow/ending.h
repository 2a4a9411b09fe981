#ifndef TESTS_FLOW_ENDING_H
#define TESTS_FLOW_ENDING_H

/*
 * How parties end once the run is over: the trainer says so to relays, they to
 * who hands out, and that one to all that it reaches.
 */
#include "flow/check.h"

/* Seconds for which a relay that knows the run to be over waits for who hands
 * out, to say so. */
static const double parting = 10;

static int
binder_of_items(const struct world *w)
{
    return w->filtered ? FILTER : SELECTOR;
}

/* All that can be reached hear that the run is over, who fell silent, too. */
static void
say_over(struct world *w, int binder, const struct wire_place *at)
{
    const struct said said = {
        .session = at->session, .k = (int16_t)count(w, at), .over = 1};

    for (int i = 0; i < w->n_links; i++) {
        const struct link *link = &w->link[i];

        if (link->binder == binder &&
            (link->number || link->silent == link->connection))
            post(w, i, 0, END, &said);
    }
}

/* It has nothing more to do: what it said before still arrives. */
static void
depart(struct world *w, int party)
{
    tell(w, "%s ends", name_of(party));
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
    say_over(w, SELECTOR, &at);
    depart(w, SELECTOR);
}

/* It tells the selector, and stays: it serves the trainer, too. */
static void
filter_ends(struct world *w)
{
    struct source *s = &w->filter_out;
    const struct wire_place at = flow_producer_place(s->flow);
    const struct said said = {
        .session = at.session, .k = (int16_t)count(w, &at), .over = 1};
    const int i = link_of(w, FILTER, SELECTOR);

    check_over(w, s, FILTER);
    if (s->over || !flow_producer_over(s->flow, w->now))
        return;
    s->over = w->link[i].greeting.state == FLOW_IN && post(w, i, 1, END, &said);
}

/* Who hands out hears that the run is over, when it is there. */
static void
relay_ends(struct world *w, int party)
{
    const struct wire_place at = flow_relay_place(w->relay[party - RELAY].flow);
    const struct said said = {
        .session = at.session, .k = (int16_t)count(w, &at), .over = 1};
    const int plan = link_of(w, party, binder_of_items(w));

    if (at.session >= 0 && w->link[plan].greeting.state == FLOW_IN &&
        post(w, plan, 1, END, &said))
        depart(w, party);
    else if (at.session < 0 || w->now - w->relay[party - RELAY].over >= parting)
        depart(w, party);
}

/* All are told, and it leaves. */
static void
trainer_ends(struct world *w)
{
    const struct wire_place at = flow_consumer_place(w->trainer);

    for (int i = 0; i < w->n_links; i++)
        w->latecomer |= !w->link[i].number;
    say_over(w, TRAINER, &at);
    depart(w, TRAINER);
    w->end_by = w->now + FLOW_QUIET + 20;
    for (int party = 0; party < PARTIES; party++)
        w->end_by = fmax(w->end_by,
                         fmax(w->party[party].back, w->party[party].stopped) +
                             FLOW_QUIET + 20);
}

/* All have heard that the run is over; or who could have has not, in time.  A
 * lie may have ended it before. */
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
        fail(w, "who has heard that the run is over goes on");
    w->unheard = 1;
    return 1;
}

#endif
