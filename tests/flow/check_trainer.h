#ifndef TESTS_FLOW_CHECK_TRAINER_H
#define TESTS_FLOW_CHECK_TRAINER_H

/*
 * A second book of what the trainer holds and of who has said end, kept naively
 * beside it; and what it owes its peers.
 */
#include "flow/check.h"

static int64_t
session(const struct world *w)
{
    return w->session;
}

/* Its clock jumps by up to an hour when it starts; nine sessions are left to
 * those who lie. */
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
    w->says = (struct said){.session = -1};
    w->differs = 0;
    w->end_left = 0;
}

/* ---- the end ------------------------------------------------------------ */

static void
hear_end(struct world *w, struct link *link, const struct said *said)
{
    if (said->session != session(w))
        return;
    link->ended = 1;
    link->end = said->k;
}

static void
end_leaves(struct world *w, const struct link *link)
{
    if (!link->ended)
        return;
    w->end_left = 1;
    w->left_at = link->end;
}

/* An item came, which disproves them. */
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
        const int says = link->ended && link->end <= w->trained;

        if (link->binder != TRAINER || !link->number)
            continue;
        some |= says;
        all &= says;
    }
    ended = !some ? FLOW_NONE_ENDED : all ? FLOW_ALL_ENDED : FLOW_SOME_ENDED;
    if (flow_consumer_ended(w->trainer) != ended)
        fail(w, "%s of the peers say end, not %s",
             flow_consumer_ended(w->trainer) == FLOW_ALL_ENDED ? "all" : "some",
             ended == FLOW_ALL_ENDED ? "all" : "some or none");
}

/* ---- what is said ------------------------------------------------------- */

/* The newest snapshot says what is held. */
static int
is_said(const struct world *w)
{
    int n = 0;

    for (int k = w->trained; k <= PLACES_MAX; k++)
        n += w->holds[k];
    for (int i = 0; i < w->says.n; i++)
        n -= w->holds[w->says.have[i]] ? 1 : PLACES_MAX;
    return w->says.k == w->trained && !n;
}

/* After it had its say: all were told the newest, within the last second; it
 * says what is held, at once where a batch goes into training. */
static void
check_says(struct world *w, int begins)
{
    int told = 0;

    for (int i = 0; i < w->n_links; i++) {
        const struct link *link = &w->link[i];

        if (link->binder != TRAINER || !link->number)
            continue;
        told = 1;
        if (w->now - link->told >= 1)
            fail(w, "%s was told nothing for %.3f s", name_of(link->client),
                 w->now - link->told);
        if (link->tells.serial != w->says.serial)
            fail(w, "%s was told serial %jd, not %jd", name_of(link->client),
                 (intmax_t)link->tells.serial, (intmax_t)w->says.serial);
    }
    if (!told || is_said(w)) {
        w->differs = 0;
        return;
    }
    if (!w->differs)
        w->differs = w->now;
    if (begins || w->now - w->differs > 0.011)
        fail(w, "what is held is not said for %.3f s", w->now - w->differs);
}

#endif
