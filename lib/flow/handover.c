#include <stdio.h>
#include <string.h>

#include "flow/handover.h"

/* ---- the client --------------------------------------------------------- */

/* After this many errors for lack of a state in a row, the request fails.  A
 * working service needs the state again for each answer that was lost. */
enum { TRIES = 8 };

int
flow_state_copy_needs_handover(struct flow_state_copy *copy, const char *name)
{
    copy->ready &= !strcmp(copy->service, name);
    snprintf(copy->service, sizeof copy->service, "%s", name);
    return !copy->ready;
}

void
flow_state_copy_mark_stale(struct flow_state_copy *copy)
{
    copy->ready = 0;
}

int
flow_state_copy_on_answer(struct flow_state_copy *copy, enum flow_answer what,
                          const char *name)
{
    const int was = copy->ready;

    if (what == FLOW_ANSWERED)
        snprintf(copy->service, sizeof copy->service, "%s", name);
    copy->ready = what == FLOW_ANSWERED || (was && what != FLOW_NO_STATE);
    if (what == FLOW_NO_STATE)
        return ++copy->tries < TRIES;
    if (was)
        copy->tries = 0;
    return what == FLOW_ANSWERED && !was;
}

/* ---- the service -------------------------------------------------------- */

static const struct wire_place nowhere = {.session = -1};

void
flow_state_owner_init(struct flow_state_owner *state)
{
    *state = (struct flow_state_owner){.next = nowhere, .arrival.at = nowhere};
}

void
flow_state_owner_begin(struct flow_state_owner *state,
                       const struct wire_place *at)
{
    state->next = *at;
    state->owner = 0;
}

static void
change_owner(struct flow_state_owner *state, uint64_t peer, const char *name)
{
    state->owner = peer;
    snprintf(state->name, sizeof state->name, "%s", name);
}

int
flow_state_owner_is_new_run(const struct flow_state_owner *state,
                            const struct wire_place *at)
{
    return !at->epoch && !at->step && state->next.session != at->session;
}

void
flow_state_owner_on_hello(struct flow_state_owner *state, uint64_t peer,
                          const char *name)
{
    if (state->owner && *state->name && !strcmp(name, state->name))
        state->owner = peer;
}

int
flow_state_owner_check(const struct flow_state_owner *state, uint64_t peer,
                       int64_t session, const struct wire_hello *owner,
                       struct err *err)
{
    if (!state->owner || state->owner == peer)
        return 0;
    if (owner)
        return err_set(err,
                       "the state belongs to %s %ju of session %jd, which is "
                       "still connected",
                       owner->stage, (uintmax_t)state->owner,
                       (intmax_t)state->next.session);
    if (session < state->next.session)
        return err_set(err, "the state is of session %jd, which is newer",
                       (intmax_t)state->next.session);
    return 0;
}

int
flow_state_owner_fits(const struct flow_state_owner *state,
                      const struct wire_place *at)
{
    return at->session == state->next.session &&
           wire_place_cmp(at, &state->next) >= 0;
}

void
flow_state_owner_advance(struct flow_state_owner *state,
                         const struct wire_place *at, uint64_t peer,
                         const char *name)
{
    state->next.epoch = at->epoch;
    state->next.step = at->step + 1;
    change_owner(state, peer, name);
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
flow_state_owner_check_piece(struct flow_state_owner *state,
                             const struct wire_state *piece, struct err *err)
{
    const struct wire_place at = {piece->session, piece->epoch, piece->step};
    const size_t table = table_of(piece);

    if (table == piece->n || (!table && !piece->from)) {
        flow_state_owner_discard(state);
        state->arrival.at = at;
        state->arrival.total = piece->total;
        return 1;
    }
    if (state->arrival.at.session == at.session &&
        !wire_place_cmp(&state->arrival.at, &at) &&
        state->arrival.total == piece->total && state->arrival.table == table &&
        state->arrival.from == (size_t)piece->from)
        return 0;
    return err_set(err,
                   "rows %jd .. of table '%s' do not follow those received so "
                   "far: send the state again from its beginning",
                   (intmax_t)piece->from, piece->tables[table].name);
}

void
flow_state_owner_add_piece(struct flow_state_owner *state,
                           const struct wire_state *piece, uint64_t peer,
                           const char *name)
{
    const size_t i = table_of(piece);

    change_owner(state, peer, name);
    if (i == piece->n)
        return;
    state->arrival.from += piece->tables[i].n;
    if (state->arrival.from == piece->tables[i].rows) {
        state->arrival.table++;
        state->arrival.from = 0;
    }
}

int
flow_state_owner_check_complete(const struct flow_state_owner *state,
                                const struct wire_state *piece, struct err *err)
{
    const size_t table = state->arrival.table;

    if (table == piece->n)
        return 0;
    return err_set(err, "the state of %jd steps lacks rows %zu .. of '%s'",
                   (intmax_t)piece->total, state->arrival.from,
                   piece->tables[table].name);
}

void
flow_state_owner_commit(struct flow_state_owner *state)
{
    state->next = state->arrival.at;
    flow_state_owner_discard(state);
}

void
flow_state_owner_discard(struct flow_state_owner *state)
{
    state->arrival.at = nowhere;
    state->arrival.total = 0;
    state->arrival.table = state->arrival.from = 0;
}
