#pragma once

/*
 * A producer of a plan of PLACES places, ten an epoch, with peers numbered
 * from 1 on, in virtual time.
 */
#include "flow/producer.h"
#include "t.h"

enum { LEASE = 10, PLACES = 100, WINDOW = 8 };

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){7, k / 10, k % 10};
}

static int64_t
number(struct wire_place at)
{
    return at.epoch * 10 + at.step;
}

/* Held places of the first epoch, as a string of digits. */
static enum flow_event_kind
next(struct flow_producer *p, uint64_t peer, int64_t serial, int64_t k,
     const char *held, int64_t room, double now)
{
    int64_t have[WINDOW][2];
    struct wire_want content = {.at = step(k),
                                .serial = serial,
                                .window = WINDOW,
                                .room = room ? room : -1,
                                .have = have[0]};

    for (; held[content.n_have]; content.n_have++) {
        have[content.n_have][0] = 0;
        have[content.n_have][1] = held[content.n_have] - '0';
    }
    return flow_producer_on_snapshot(p, peer, &content, now);
}

static void
fill(struct flow_producer *p)
{
    while (flow_producer_needs_place(p)) {
        const struct wire_place at = flow_producer_fresh(p);
        const struct wire_place after = step(number(at) + 1);

        if (number(at) == PLACES) {
            flow_producer_close(p, &at);
            return;
        }
        flow_producer_add(p, &at, &after);
    }
}

/* Sends all items that it can: returns their number. */
static size_t
hand_out(struct flow_producer *p, double now)
{
    struct flow_send_item turn;
    size_t n = 0;

    fill(p);
    for (; flow_producer_next_item(p, now, &turn); n++)
        flow_producer_mark_sent(p, &turn, 1, now);
    return n;
}

static struct flow_producer *
with_peers(uint64_t peers, int64_t room)
{
    struct flow_producer *p = flow_producer_new(LEASE);

    for (uint64_t i = 1; i <= peers; i++) {
        flow_producer_join(p, i);
        next(p, i, 1, 0, "", room, 0);
    }
    return p;
}

static uint64_t
holder(const struct flow_producer *p, int64_t k)
{
    const struct wire_place at = step(k);

    return flow_producer_holder(p, &at);
}
