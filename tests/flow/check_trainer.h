#pragma once

/*
 * A naive second copy of what the trainer holds and of which peers sent end;
 * and what it has to send to its peers.
 */
#include "flow/check.h"

static int64_t
session(const struct world *w)
{
    return w->session;
}

/* Its clock jumps by up to an hour when it starts; nine sessions are left
 * for false ones. */
static void
begin_session(struct world *w)
{
    struct rng jumps;
    int64_t clock;

    rng_init(&jumps, w->seed, RNG_TEST, 3, (uint64_t)w->party[TRAINER].starts,
             0);
    clock = 100000 + (int64_t)(10 * w->now) + rng_u32(&jumps) % 72000 - 36000;
    w->session = wire_session_begin(w->session + 9, clock);
}

static void
trainer_start(struct world *w)
{
    memset(w->holds, 0, sizeof w->holds);
    w->snapshot = (struct content){.session = -1};
    w->differs = 0;
    w->end_left = 0;
}

/* ---- the end ------------------------------------------------------------ */

static void
receive_end(struct world *w, struct link *link, const struct content *content)
{
    if (content->session != session(w))
        return;
    link->ended = 1;
    link->end = content->k;
}

static void
end_leaves(struct world *w, const struct link *link)
{
    if (!link->ended)
        return;
    w->end_left = 1;
    w->left_at = link->end;
}

/* An item arrived, which cancels them. */
static void
disprove(struct world *w, int k)
{
    for (int i = 0; i < w->n_links; i++)
        if (w->link[i].binder == TRAINER && w->link[i].end <= k)
            w->link[i].ended = 0;
    w->end_left = 0;
}

static void
check_ended(struct world *w)
{
    int some = w->end_left && w->left_at <= w->trained, all = 1;
    enum flow_ended ended;

    for (int i = 0; i < w->n_links; i++) {
        const struct link *link = &w->link[i];
        const int snapshot = link->ended && link->end <= w->trained;

        if (link->binder != TRAINER || !link->number)
            continue;
        some |= snapshot;
        all &= snapshot;
    }
    ended = !some ? FLOW_NONE_ENDED : all ? FLOW_ALL_ENDED : FLOW_SOME_ENDED;
    if (flow_consumer_ended(w->trainer) != ended)
        fail(w, "%s of the peers report the end, not %s",
             flow_consumer_ended(w->trainer) == FLOW_ALL_ENDED ? "all" : "some",
             ended == FLOW_ALL_ENDED ? "all" : "some or none");
}

/* ---- snapshots --------------------------------------------------------- */

/* The newest snapshot has the held items. */
static int
is_current(const struct world *w)
{
    int n = 0;

    for (int k = w->trained; k <= PLACES_MAX; k++)
        n += w->holds[k];
    for (int i = 0; i < w->snapshot.n; i++)
        n -= w->holds[w->snapshot.have[i]] ? 1 : PLACES_MAX;
    return w->snapshot.k == w->trained && !n;
}

/* After its turn: all peers received the newest snapshot within the last
 * second. It has the held items, at once when a batch goes into training. */
static void
check_snapshots(struct world *w, int begins)
{
    int notified = 0;

    for (int i = 0; i < w->n_links; i++) {
        const struct link *link = &w->link[i];

        if (link->binder != TRAINER || !link->number)
            continue;
        notified = 1;
        if (w->now - link->notified >= 1)
            fail(w, "%s received no snapshot for %.3f s", name_of(link->client),
                 w->now - link->notified);
        if (link->latest.serial != w->snapshot.serial)
            fail(w, "%s received serial %jd, not %jd", name_of(link->client),
                 (intmax_t)link->latest.serial, (intmax_t)w->snapshot.serial);
    }
    if (!notified || is_current(w)) {
        w->differs = 0;
        return;
    }
    if (!w->differs)
        w->differs = w->now;
    if (begins || w->now - w->differs > 0.011)
        fail(w, "held items are not sent for %.3f s", w->now - w->differs);
}
