#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "roll.h"

/* Seconds between the first and the second look at a silent peer. */
static const double second_look = 0.1;

/* Seconds between two times that a connection is told to say hello. */
static const double pause_again = 1;

void
flow_roll_release(struct flow_roll *roll)
{
    free(roll->peer);
    free(roll->left);
    free(roll->silent);
    free(roll->stranger);
    *roll = (struct flow_roll){0};
}

static int
is_same(const struct wire_id *a, const struct wire_id *b)
{
    return a->len == b->len && !memcmp(a->byte, b->byte, a->len);
}

struct flow_greeted *
flow_roll_by_id(const struct flow_roll *roll, const struct wire_id *id)
{
    for (size_t i = 0; i < roll->n; i++) {
        struct flow_greeted *peer = &roll->peer[i];

        if (is_same(&peer->id, id))
            return peer;
    }
    return NULL;
}

struct flow_greeted *
flow_roll_by_number(const struct flow_roll *roll, uint64_t number)
{
    for (size_t i = 0; i < roll->n; i++)
        if (roll->peer[i].number == number)
            return &roll->peer[i];
    return NULL;
}

struct flow_greeted *
flow_roll_by_name(const struct flow_roll *roll, const char *name)
{
    for (size_t i = 0; i < roll->n && *name; i++)
        if (!strcmp(roll->peer[i].hello.peer, name))
            return &roll->peer[i];
    return NULL;
}

/* One leaves, to be reported by flow_roll_left(). */
static void
drop_peer(struct flow_roll *roll, struct flow_greeted *peer)
{
    mem_grow(&roll->left, &roll->room_left, roll->n_left + 1,
             sizeof *roll->left);
    roll->left[roll->n_left++] = peer->number;
    *peer = roll->peer[--roll->n];
}

/* Room for one more, or NULL. */
static struct flow_greeted *
find_vacancy(struct flow_roll *roll)
{
    struct flow_greeted *oldest = roll->peer;

    for (size_t i = 1; i < roll->n; i++)
        if (roll->peer[i].heard < oldest->heard)
            oldest = &roll->peer[i];
    if (roll->n == FLOW_PEERS_MAX && roll->patient)
        drop_peer(roll, oldest);
    if (roll->n == FLOW_PEERS_MAX)
        return NULL;
    mem_grow(&roll->peer, &roll->room, roll->n + 1, sizeof *roll->peer);
    return &roll->peer[roll->n++];
}

enum flow_entry
flow_roll_greet(struct flow_roll *roll, const struct wire_id *id,
                const struct wire_hello *hello, double now,
                struct flow_greeted **peer)
{
    struct flow_greeted *before;

    *peer = flow_roll_by_id(roll, id);
    if (*peer) {
        (*peer)->heard = now;
        return FLOW_KNOWN;
    }
    before = flow_roll_by_name(roll, hello->peer);
    if (before)
        drop_peer(roll, before);
    *peer = find_vacancy(roll);
    if (!*peer)
        return FLOW_CROWDED;
    **peer = (struct flow_greeted){
        .number = ++roll->last, .id = *id, .hello = *hello, .heard = now};
    return FLOW_ENTERED;
}

int
flow_roll_again(struct flow_roll *roll, const struct wire_id *id, double now)
{
    struct flow_stranger *stranger = roll->stranger;
    size_t i = 0;

    while (i < roll->n_strangers && !is_same(&stranger[i].id, id))
        i++;
    if (i < roll->n_strangers && now - stranger[i].told < pause_again)
        return 0;
    if (i == roll->n_strangers && i < FLOW_PEERS_MAX) {
        mem_grow(&roll->stranger, &roll->room_strangers, i + 1,
                 sizeof *stranger);
        roll->n_strangers++;
    } else if (i == roll->n_strangers) { // in the place of the oldest
        i = roll->next_stranger++ % FLOW_PEERS_MAX;
    }
    roll->stranger[i] = (struct flow_stranger){*id, now};
    return 1;
}

uint64_t
flow_roll_left(struct flow_roll *roll)
{
    return roll->n_left ? roll->left[--roll->n_left] : 0;
}

void
flow_roll_part(struct flow_roll *roll)
{
    for (size_t i = roll->n; i-- > 0;)
        if (roll->peer[i].gone)
            drop_peer(roll, &roll->peer[i]);
}

/* Keep how a silent peer is reached. */
static void
keep_silent(struct flow_roll *roll, const struct wire_id *id)
{
    if (roll->n_silent == FLOW_PEERS_MAX)
        memmove(roll->silent, roll->silent + 1,
                --roll->n_silent * sizeof *roll->silent);
    mem_grow(&roll->silent, &roll->room_silent, roll->n_silent + 1,
             sizeof *roll->silent);
    roll->silent[roll->n_silent++] = *id;
}

void
flow_roll_expire(struct flow_roll *roll, double now)
{
    for (size_t i = roll->n; i-- > 0;) {
        struct flow_greeted *peer = &roll->peer[i];

        if (now - peer->heard <= WIRE_SILENCE) {
            peer->suspect = 0;
        } else if (!peer->suspect) {
            peer->suspect = now;
        } else if (now - peer->suspect >= second_look) {
            keep_silent(roll, &peer->id);
            drop_peer(roll, peer);
        }
    }
}
