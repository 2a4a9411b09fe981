#pragma once

/*
 * A naive second copy of a producer's book: one array by place.  It is
 * compared with the producer's after each event.
 */
#include "flow/world.h"

/* ---- places ------------------------------------------------------------- */

static struct wire_place
place(const struct world *w, int64_t session, int k)
{
    return (struct wire_place){session, k / w->steps, k % w->steps};
}

static int
count(const struct world *w, const struct wire_place *at)
{
    return (int)at->epoch * w->steps + (int)at->step;
}

/* ---- the book ---------------------------------------------------------- */

static void
book_empty(struct source *s)
{
    memset(s->holder, 0, sizeof s->holder);
    memset(s->had, 0, sizeof s->had);
    memset(s->added, 0, sizeof s->added);
    s->low = -1;
}

static void
book_free(struct source *s, uint64_t peer)
{
    for (int k = 0; k <= PLACES_MAX; k++)
        if (s->holder[k] == peer)
            s->holder[k] = 0;
}

/* A peer delivered; with 0, no peer of this binder counts as late any more. */
static void
forgive(struct world *w, int binder, uint64_t peer)
{
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].binder == binder &&
            (!peer || w->link[i].number == peer)) {
            w->link[i].late = 0;
            w->link[i].aside = 0;
        }
}

/* A snapshot that the producer adopts. */
static void
book_snapshot(struct world *w, struct source *s, const struct content *content,
              int new_session)
{
    const int binder = s == &w->selector ? SELECTOR : FILTER;

    if (new_session)
        book_empty(s);
    if (content->session != s->session)
        forgive(w, binder, 0);
    s->session = content->session;
    s->serial = content->serial;
    s->place = content->k;
    s->window = content->window;
    memset(s->had, 0, sizeof s->had);
    for (int i = 0; i < content->n; i++)
        if (content->have[i] <= PLACES_MAX)
            s->had[content->have[i]] = 1;
    for (int k = 0; k <= PLACES_MAX; k++) {
        if (!s->holder[k] || (k >= s->place && !s->had[k]))
            continue;
        forgive(w, binder, s->holder[k]);
        s->holder[k] = 0;
    }
}

/* The effect of an adopted snapshot on reports of the end, before it is
 * entered. */
static void
book_end(struct world *w, struct source *s, const struct content *content,
         int newer)
{
    const int new_session = content->session != s->session;

    if (newer && !new_session && content->k == s->place)
        return;
    s->moved = w->now;
    if (new_session || (newer && content->k > s->place))
        s->end_left = 0;
    for (int i = 0; new_session && i < w->n_links; i++)
        if (w->link[i].binder == (s == &w->selector ? SELECTOR : FILTER))
            w->link[i].over = 0;
}

/* A peer reports that the run is over. */
static void
book_over(struct world *w, struct source *s, struct link *link,
          const struct content *content)
{
    if (content->session != s->session)
        return;
    if (!link->over)
        s->moved = w->now;
    link->over = 1;
}

/* How many report that the run is over, or did before they left; *all:
 * whether all present peers do. */
static int
count_over(const struct world *w, const struct source *s, int binder, int *all)
{
    int some = s->end_left;

    *all = 1;
    for (int i = 0; i < w->n_links; i++) {
        if (w->link[i].binder != binder || !w->link[i].number)
            continue;
        some += w->link[i].over;
        *all &= w->link[i].over;
    }
    return some;
}

/* As in foil-wire(5): all report it, or one does and nothing changes, or all
 * is trained. */
static void
check_over(struct world *w, const struct source *s, int binder)
{
    const double quiet = w->now - s->moved;
    int all, some = count_over(w, s, binder, &all);
    const int over = (s->closed && s->place >= s->fresh && quiet >= 6) ||
                     (some && (all || quiet >= 30));

    if (flow_producer_over(s->flow, w->now) != over)
        fail(w, "the run is %sover for %s, with %d reports and after %.1f s",
             over ? "not " : "", name_of(binder), some, quiet);
    if (over && w->trained < w->wanted && !w->early)
        fail(w, "the run is over for %s after %d of %d", name_of(binder),
             w->trained, w->wanted);
}

static size_t
book_count(const struct source *s, uint64_t peer)
{
    size_t n = 0;

    for (int k = 0; k <= PLACES_MAX; k++)
        n += peer ? s->holder[k] == peer : s->holder[k] != 0;
    return n;
}

/* Whether a peer is in the session and accepts items at all. */
static int
is_taker(const struct source *s, int binder, const struct link *link)
{
    return link->binder == binder && link->number && link->room &&
           link->session == s->session;
}

/* How many more items a peer may get; `any`: late peers count like others. */
static int
spare_of(const struct world *w, const struct source *s, const struct link *link,
         int any)
{
    const int out = (int)book_count(s, link->number);

    if (!any && link->aside > w->now)
        return 0;
    return (link->late && !any ? 1 : link->room) - out;
}

/* 1 if a place of the book is neither at the consumer nor leased. */
static int
is_free(const struct source *s, int k)
{
    return s->added[k] && !s->had[k] && !s->holder[k];
}

/* As in foil-wire(5): the lowest place goes to the least often late peer,
 * then the one with the most room left, then the least recently served; a
 * late peer gets the highest place. */
static void
check_choice(struct world *w, const struct source *s, const struct link *taker,
             int k)
{
    const int binder = taker->binder;
    int any = 1, low = s->place < s->low ? s->low : s->place,
        high = s->fresh - 1, room;

    for (int i = 0; i < w->n_links; i++)
        any &= !is_taker(s, binder, &w->link[i]) || w->link[i].late;
    room = spare_of(w, s, taker, any);
    if (room <= 0)
        fail(w, "%s gets place %d, and may not get any", name_of(taker->client),
             k);
    for (int i = 0; i < w->n_links; i++) {
        const struct link *l = &w->link[i];
        const int n = is_taker(s, binder, l) ? spare_of(w, s, l, any) : 0;

        if (n > 0 && (l->late < taker->late ||
                      (l->late == taker->late &&
                       (n > room || (n == room && l->served < taker->served)))))
            fail(w, "%s gets place %d, due to %s", name_of(taker->client), k,
                 name_of(l->client));
    }
    if (high >= low + s->window)
        high = low + s->window - 1;
    while (low < high && !is_free(s, low))
        low++;
    while (high > low && !is_free(s, high))
        high--;
    if (k != (taker->late && !any ? high : low))
        fail(w, "%s gets place %d, not %d", name_of(taker->client), k,
             taker->late && !any ? high : low);
}

/* An item is sent. */
static void
book_item(struct world *w, struct source *s, const struct flow_send_item *turn,
          struct link *link)
{
    const size_t room = (size_t)link->room;
    const int k = count(w, &turn->at),
              low = s->place < s->low ? s->low : s->place;

    check_choice(w, s, link, k);
    link->served = ++w->turns;
    if (turn->at.session != s->session)
        fail(w, "an item of session %jd is sent in session %jd",
             (intmax_t)turn->at.session, (intmax_t)s->session);
    if (k < s->place || k >= low + s->window || s->had[k])
        fail(w, "place %d is sent and not wanted", k);
    if (s->holder[k])
        fail(w, "place %d is sent twice", k);
    s->holder[k] = turn->peer;
    s->sent_at[k] = w->now;
    s->n_sent += !w->over;
    if (book_count(s, turn->peer) > room)
        fail(w, "a peer has %zu items and room for %zu",
             book_count(s, turn->peer), room);
}

/* Who could get an item: in the session, with room, not late. */
static int
has_room(const struct source *s, const struct link *link, int any)
{
    return link->number && link->session == s->session &&
           (any || !link->late) &&
           book_count(s, link->number) < (size_t)link->room;
}

/* No wanted and known item is free while a peer has room. */
static void
check_idle(struct world *w, const struct source *s, int binder)
{
    int first = s->place < s->low ? s->low : s->place, there = 0, taker = -1;

    while (first < s->fresh && !is_free(s, first))
        first++;
    if (first >= s->fresh ||
        first >= (s->place < s->low ? s->low : s->place) + s->window)
        return;
    for (int i = 0; i < w->n_links; i++)
        there += w->link[i].binder == binder && w->link[i].number &&
                 w->link[i].session == s->session && !w->link[i].late;
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].binder == binder && has_room(s, &w->link[i], !there))
            taker = w->link[i].client;
    if (taker >= 0)
        fail(w, "place %d is free and wanted, and %s has room", first,
             name_of(taker));
}

/* Each peer that wants items is notified of the end of the plan within the
 * window. */
static void
check_end_sent(struct world *w, const struct source *s, int binder)
{
    if (!s->closed || s->fresh - s->place >= s->window)
        return;
    for (int i = 0; i < w->n_links; i++) {
        const struct link *link = &w->link[i];

        if (is_taker(s, binder, link) && link->wants &&
            w->now - link->end_sent >= 1)
            fail(w,
                 "%s wants items, and is not notified of the end of the plan",
                 name_of(link->client));
    }
}

/* Without faults no item is made twice. */
static void
check_calm(struct world *w)
{
    const int most = w->filtered ? w->filter_out.n_sent : w->selector.n_sent;

    if (w->selector.n_sent > w->places || most > w->places)
        fail(w, "%d items were handed out for %d places", most, w->places);
    if (w->not_reached && !w->latecomer)
        fail(w, "not all receive the end of the run");
}

static void
book_check(struct world *w, const struct source *s)
{
    const struct wire_place at = flow_producer_place(s->flow);

    if (at.session != s->session || (at.session && count(w, &at) != s->place))
        fail(w, "the producer is at %jd:%d, not at %jd:%d",
             (intmax_t)at.session, count(w, &at), (intmax_t)s->session,
             s->place);
    if (flow_producer_leases(s->flow) != book_count(s, 0))
        fail(w, "%zu leases, and %zu items at peers",
             flow_producer_leases(s->flow), book_count(s, 0));
}
