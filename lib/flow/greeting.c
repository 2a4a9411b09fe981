#include <string.h>

#include "util/mem.h"

#include "greeting.h"

/* Seconds until a hello that is not answered is sent again; between two
 * requests for hello on one connection; between two checks of a silent peer. */
static const double hello_retry_s = 1, hello_pause_s = 1, recheck_s = 0.1;

int
flow_greeting_turn(struct flow_greeting *greeting, int connected, double now)
{
    if (!connected || greeting->state == FLOW_IN ||
        (greeting->state == FLOW_GREETING &&
         now - greeting->sent < hello_retry_s))
        return 0;
    greeting->state = FLOW_GREETING;
    greeting->sent = now;
    return 1;
}

double
flow_greeting_due(const struct flow_greeting *greeting, int connected)
{
    if (!connected || greeting->state == FLOW_IN)
        return 1e18;
    return greeting->state == FLOW_OUT ? 0 : greeting->sent + hello_retry_s;
}

int
flow_greeting_hello(struct flow_greeting *greeting)
{
    if (greeting->state != FLOW_GREETING)
        return 0;
    greeting->state = FLOW_IN;
    return 1;
}

void
flow_greeting_again(struct flow_greeting *greeting)
{
    if (greeting->state == FLOW_IN)
        greeting->state = FLOW_OUT;
}

void
flow_greeting_lost(struct flow_greeting *greeting)
{
    greeting->state = FLOW_OUT;
}

void
flow_peer_table_release(struct flow_peer_table *table)
{
    mem_free(table->peer, table->left, table->silent, table->unknown);
    *table = (struct flow_peer_table){0};
}

static int
is_same(const struct wire_id *a, const struct wire_id *b)
{
    return a->len == b->len && !memcmp(a->byte, b->byte, a->len);
}

struct flow_known_peer *
flow_peer_table_by_id(const struct flow_peer_table *table,
                      const struct wire_id *id)
{
    for (size_t i = 0; i < table->n; i++) {
        struct flow_known_peer *peer = &table->peer[i];

        if (is_same(&peer->id, id))
            return peer;
    }
    return NULL;
}

struct flow_known_peer *
flow_peer_table_by_number(const struct flow_peer_table *table, uint64_t number)
{
    for (size_t i = 0; i < table->n; i++)
        if (table->peer[i].number == number)
            return &table->peer[i];
    return NULL;
}

struct flow_known_peer *
flow_peer_table_by_name(const struct flow_peer_table *table, const char *name)
{
    for (size_t i = 0; i < table->n && *name; i++)
        if (!strcmp(table->peer[i].hello.peer, name))
            return &table->peer[i];
    return NULL;
}

/* Remove a peer; flow_peer_table_left() reports it. */
static void
drop_peer(struct flow_peer_table *table, struct flow_known_peer *peer)
{
    mem_grow(&table->left, &table->room_left, table->n_left + 1,
             sizeof *table->left);
    table->left[table->n_left++] = peer->number;
    *peer = table->peer[--table->n];
}

/* A new entry, or NULL when the table is full. */
static struct flow_known_peer *
reserve_peer(struct flow_peer_table *table)
{
    struct flow_known_peer *oldest = table->peer;

    for (size_t i = 1; i < table->n; i++)
        if (table->peer[i].last_seen < oldest->last_seen)
            oldest = &table->peer[i];
    if (table->n == FLOW_PEERS_MAX && table->keeps_silent)
        drop_peer(table, oldest);
    if (table->n == FLOW_PEERS_MAX)
        return NULL;
    mem_grow(&table->peer, &table->room, table->n + 1, sizeof *table->peer);
    return &table->peer[table->n++];
}

enum flow_entry
flow_peer_table_greet(struct flow_peer_table *table, const struct wire_id *id,
                      const struct wire_hello *hello, double now,
                      struct flow_known_peer **peer)
{
    struct flow_known_peer *old;

    *peer = flow_peer_table_by_id(table, id);
    if (*peer) {
        (*peer)->last_seen = now;
        return FLOW_KNOWN;
    }
    old = flow_peer_table_by_name(table, hello->peer);
    if (old)
        drop_peer(table, old);
    *peer = reserve_peer(table);
    if (!*peer)
        return FLOW_TABLE_FULL;
    **peer = (struct flow_known_peer){.number = ++table->last_number,
                                      .id = *id,
                                      .hello = *hello,
                                      .last_seen = now};
    return FLOW_ADDED;
}

int
flow_peer_table_unknown(struct flow_peer_table *table, const struct wire_id *id,
                        double now)
{
    struct flow_unknown_peer *unknown = table->unknown;
    size_t i = 0;

    while (i < table->n_unknown && !is_same(&unknown[i].id, id))
        i++;
    if (i < table->n_unknown && now - unknown[i].requested < hello_pause_s)
        return 0;
    if (i == table->n_unknown && i < FLOW_PEERS_MAX) {
        mem_grow(&table->unknown, &table->room_unknown, i + 1, sizeof *unknown);
        table->n_unknown++;
    } else if (i == table->n_unknown) { // replace the oldest
        i = table->next_unknown++ % FLOW_PEERS_MAX;
    }
    table->unknown[i] = (struct flow_unknown_peer){*id, now};
    return 1;
}

uint64_t
flow_peer_table_left(struct flow_peer_table *table)
{
    return table->n_left ? table->left[--table->n_left] : 0;
}

void
flow_peer_table_remove_gone(struct flow_peer_table *table)
{
    for (size_t i = table->n; i-- > 0;)
        if (table->peer[i].gone)
            drop_peer(table, &table->peer[i]);
}

static void
store_silent(struct flow_peer_table *table, const struct wire_id *id)
{
    if (table->n_silent == FLOW_PEERS_MAX)
        memmove(table->silent, table->silent + 1,
                --table->n_silent * sizeof *table->silent);
    mem_grow(&table->silent, &table->room_silent, table->n_silent + 1,
             sizeof *table->silent);
    table->silent[table->n_silent++] = *id;
}

void
flow_peer_table_expire(struct flow_peer_table *table, double now)
{
    for (size_t i = table->n; i-- > 0;) {
        struct flow_known_peer *peer = &table->peer[i];

        if (now - peer->last_seen <= WIRE_SILENCE) {
            peer->overdue = 0;
        } else if (!peer->overdue) {
            peer->overdue = now;
        } else if (now - peer->overdue >= recheck_s) {
            store_silent(table, &peer->id);
            drop_peer(table, peer);
        }
    }
}
