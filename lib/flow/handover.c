#include <stdio.h>
#include <string.h>

#include "flow/handover.h"

/* ---- the client --------------------------------------------------------- */

/* After this many errors for lack of a state in a row, the request fails.  A
 * working service needs the state again for each answer that was lost. */
enum { TRIES = 8 };

int
flow_keeper_meets(struct flow_keeper *keeper, const char *name)
{
    keeper->ready &= !strcmp(keeper->met, name);
    snprintf(keeper->met, sizeof keeper->met, "%s", name);
    return !keeper->ready;
}

void
flow_keeper_behind(struct flow_keeper *keeper)
{
    keeper->ready = 0;
}

int
flow_keeper_next(struct flow_keeper *keeper, enum flow_answer what,
                 const char *name)
{
    const int was = keeper->ready;

    if (what == FLOW_ANSWERED)
        snprintf(keeper->met, sizeof keeper->met, "%s", name);
    keeper->ready = what == FLOW_ANSWERED || (was && what != FLOW_NO_STATE);
    if (what == FLOW_NO_STATE)
        return ++keeper->tries < TRIES;
    if (was)
        keeper->tries = 0;
    return what == FLOW_ANSWERED && !was;
}

/* ---- the service -------------------------------------------------------- */

static const struct wire_place nowhere = {.session = -1};

void
flow_stand_init(struct flow_stand *stand)
{
    *stand = (struct flow_stand){.next = nowhere, .arrival.at = nowhere};
}

void
flow_stand_begin(struct flow_stand *stand, const struct wire_place *at)
{
    stand->next = *at;
    stand->owner = 0;
}

static void
change_owner(struct flow_stand *stand, uint64_t peer, const char *name)
{
    stand->owner = peer;
    snprintf(stand->name, sizeof stand->name, "%s", name);
}

int
flow_stand_begins(const struct flow_stand *stand, const struct wire_place *at)
{
    return !at->epoch && !at->step && stand->next.session != at->session;
}

void
flow_stand_greeted(struct flow_stand *stand, uint64_t peer, const char *name)
{
    if (stand->owner && *stand->name && !strcmp(name, stand->name))
        stand->owner = peer;
}

int
flow_stand_check(const struct flow_stand *stand, uint64_t peer, int64_t session,
                 const struct wire_hello *owner, struct err *err)
{
    if (!stand->owner || stand->owner == peer)
        return 0;
    if (owner)
        return err_set(err,
                       "the state belongs to %s %ju of session %jd, which is "
                       "still connected",
                       owner->stage, (uintmax_t)stand->owner,
                       (intmax_t)stand->next.session);
    if (session < stand->next.session)
        return err_set(err, "the state is of session %jd, which is newer",
                       (intmax_t)stand->next.session);
    return 0;
}

int
flow_stand_fits(const struct flow_stand *stand, const struct wire_place *at)
{
    return at->session == stand->next.session &&
           wire_place_cmp(at, &stand->next) >= 0;
}

void
flow_stand_weighed(struct flow_stand *stand, const struct wire_place *at,
                   uint64_t peer, const char *name)
{
    stand->next.epoch = at->epoch;
    stand->next.step = at->step + 1;
    change_owner(stand, peer, name);
}

/* The index of the table that has rows in a piece, or n for none. */
static size_t
table_of(const struct wire_state *piece)
{
    size_t i = 0;

    while (i < piece->n && !piece->tables[i].n)
        i++;
    return i;
}

int
flow_stand_follows(struct flow_stand *stand, const struct wire_state *piece,
                   struct err *err)
{
    const struct wire_place at = {piece->session, piece->epoch, piece->step};
    const size_t table = table_of(piece);

    if (table == piece->n || (!table && !piece->from)) {
        flow_stand_drop(stand);
        stand->arrival.at = at;
        stand->arrival.total = piece->total;
        return 1;
    }
    if (stand->arrival.at.session == at.session &&
        !wire_place_cmp(&stand->arrival.at, &at) &&
        stand->arrival.total == piece->total && stand->arrival.table == table &&
        stand->arrival.from == (size_t)piece->from)
        return 0;
    return err_set(err,
                   "rows %jd .. of table '%s' do not follow those received so "
                   "far: send the state again from its beginning",
                   (intmax_t)piece->from, piece->tables[table].name);
}

void
flow_stand_add(struct flow_stand *stand, const struct wire_state *piece,
               uint64_t peer, const char *name)
{
    const size_t i = table_of(piece);

    change_owner(stand, peer, name);
    if (i == piece->n)
        return;
    stand->arrival.from += piece->tables[i].n;
    if (stand->arrival.from == piece->tables[i].rows) {
        stand->arrival.table++;
        stand->arrival.from = 0;
    }
}

int
flow_stand_whole(const struct flow_stand *stand, const struct wire_state *piece,
                 struct err *err)
{
    const size_t table = stand->arrival.table;

    if (table == piece->n)
        return 0;
    return err_set(err, "the state of %jd steps lacks rows %zu .. of '%s'",
                   (intmax_t)piece->total, stand->arrival.from,
                   piece->tables[table].name);
}

void
flow_stand_stands(struct flow_stand *stand)
{
    stand->next = stand->arrival.at;
    flow_stand_drop(stand);
}

void
flow_stand_drop(struct flow_stand *stand)
{
    stand->arrival.at = nowhere;
    stand->arrival.total = 0;
    stand->arrival.table = stand->arrival.from = 0;
}
