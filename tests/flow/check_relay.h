#pragma once

/*
 * A naive second copy of a relay's state, one array by place; and what it has
 * to send to the producer.
 */
#include "flow/check.h"

enum { NOT_HERE, WAITS, IN_MAKING, IS_MADE, IS_SENT };

static void
copy_set(struct relay *r, int k, int state)
{
    r->n[(int)r->is[k]]--;
    r->n[state]++;
    r->is[k] = (char)state;
}

static int
copy_has(const struct relay *r, int k)
{
    for (int i = 0; i < r->newest.n; i++)
        if (r->newest.have[i] == k)
            return 1;
    return 0;
}

/* The lowest place in a state that the consumer wants, or -1. */
static int
copy_lowest(const struct relay *r, int state)
{
    for (int k = r->newest.k; r->n[state] && k <= PLACES_MAX; k++)
        if (r->is[k] == state && !copy_has(r, k))
            return k;
    return -1;
}

static void
copy_start(struct relay *r)
{
    r->newest = (struct content){.session = -1};
    memset(r->is, NOT_HERE, sizeof r->is);
    memset(r->n, 0, sizeof r->n);
    r->strange = 0;
}

/* Items that are not wanted any more; a waiting item only once it is
 * trained, as the consumer may drop what it has. */
static void
copy_tidy(struct relay *r)
{
    const int any = r->n[WAITS] + r->n[IS_MADE] + r->n[IS_SENT];

    for (int k = 0; any && k <= PLACES_MAX; k++)
        if (r->is[k] != NOT_HERE && r->is[k] != IN_MAKING &&
            (k < r->newest.k || (r->is[k] != WAITS && copy_has(r, k))))
            copy_set(r, k, NOT_HERE);
    r->strange = 0;
}

static void
copy_next(struct relay *r, const struct content *content)
{
    if (content->session < r->newest.session ||
        (content->session == r->newest.session &&
         content->serial <= r->newest.serial))
        return;
    if (content->session != r->newest.session) {
        r->strange += r->n[IS_MADE];
        memset(r->is, NOT_HERE, sizeof r->is);
        memset(r->n, 0, sizeof r->n);
    }
    r->newest = *content;
}

/* Returns 1 when the item has to be stored. */
static int
copy_take(struct relay *r, const struct content *content)
{
    const char was = r->is[content->k];

    if (content->session != r->newest.session || content->k < r->newest.k)
        return 0;
    if (was == NOT_HERE || was == IS_SENT)
        copy_set(r, content->k, WAITS);
    return was == NOT_HERE;
}

static void
copy_lost(struct relay *r)
{
    for (int k = 0; r->n[IS_SENT] && k <= PLACES_MAX; k++)
        if (r->is[k] == IS_SENT)
            copy_set(r, k, WAITS);
}

/* The relay makes that item now; NULL: none. */
static void
copy_work(struct world *w, struct relay *r, const struct thing *item)
{
    const int may = r->n[IS_MADE] + r->strange < w->room,
              k = may ? copy_lowest(r, WAITS) : -1;

    if ((item ? item->k : -1) != k)
        fail(w, "a relay makes place %d, but %d is next", item ? item->k : -1,
             k);
    if (item)
        copy_set(r, item->k, IN_MAKING);
}

static void
copy_made(struct relay *r)
{
    if (r->item->session == r->newest.session)
        copy_set(r, r->item->k, IS_MADE);
    else
        r->strange++;
}

static void
copy_sent(struct world *w, struct relay *r, int k)
{
    if (copy_lowest(r, IS_MADE) != k)
        fail(w, "a relay sends place %d, but %d is next", k,
             copy_lowest(r, IS_MADE));
    copy_set(r, k, IS_SENT);
}

/* The relay has the same as the naive copy, once stale items are taken out. */
static void
check_relay(struct world *w, const struct relay *r, int party)
{
    const int strange = r->made > 0 && r->item->session != r->newest.session,
              items = r->n[WAITS] + r->n[IN_MAKING] + strange;

    if (flow_relay_items(r->flow) != (size_t)items)
        fail(w, "%s has %zu items to make, not %d", name_of(party),
             flow_relay_items(r->flow), items);
    if (flow_relay_unsent(r->flow) != (size_t)r->n[IS_MADE])
        fail(w, "%s has %zu batches, not %d", name_of(party),
             flow_relay_unsent(r->flow), r->n[IS_MADE]);
}

/* After its turn: the producer received the newest snapshot and the room on
 * this connection, within the last second. */
static void
check_forwarded(struct world *w, const struct relay *r, const struct link *plan)
{
    const int room = w->room + r->n[IS_SENT];

    if (plan->greeting.state != FLOW_IN || w->party[plan->binder].left ||
        r->newest.session < 0)
        return;
    if (w->now - plan->notified >= 1)
        fail(w, "%s sent no snapshot for %.3f s", name_of(plan->client),
             w->now - plan->notified);
    if (plan->latest.session != r->newest.session ||
        plan->latest.serial != r->newest.serial || plan->latest.room != room)
        fail(w, "%s sent serial %jd and room %d, not %jd and %d",
             name_of(plan->client), (intmax_t)plan->latest.serial,
             plan->latest.room, (intmax_t)r->newest.serial, room);
}
