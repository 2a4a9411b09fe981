/*
 * A producer in virtual time: which peers are late, and what they get then.
 */
#include "flow/small_plan.h"

static int
is_late(struct flow_producer *p, double now)
{
    struct flow_late what;

    return flow_producer_late(p, now, &what);
}

/* Messages sent before the end of a lease may arrive long after it. */
static void
arrive_at_once(void)
{
    struct flow_producer *p = with_peers(2, 1);

    hand_out(p, 0);
    T(flow_producer_due(p, 4) == LEASE - 4, "the end of a lease is due");
    next(p, 1, 2, 0, "", 1, 100);
    T(!is_late(p, 100), "a producer that was stopped for long reads a snapshot "
                        "that is newer: no peer is late");
    next(p, 2, 3, 0, "", 1, 100);
    T(!is_late(p, 100), "no peer is late by the next pending snapshot");
    next(p, 1, 4, 0, "", 1, 100.05);
    T(!is_late(p, 100.05), "no peer is late by a snapshot in transit");
    next(p, 1, 4, 0, "", 1, 105);
    T(!is_late(p, 105), "no peer is late by a repeated snapshot");
    T(flow_producer_due(p, 105) > 1e8, "nothing is due for that");
    next(p, 2, 5, 0, "", 1, 106);
    T(is_late(p, 106) && is_late(p, 106) && !is_late(p, 106),
      "both peers are late by a snapshot that was received later");
    flow_producer_free(p);
}

/* It may have been sent first long before the lease began. */
static void
first_of_a_peer(void)
{
    struct flow_producer *p = with_peers(2, 1);

    hand_out(p, 0);
    is_late(p, 10);
    flow_producer_join(p, 3);
    T(next(p, 3, 2, 0, "1", 1, 11) == FLOW_NOTHING && !is_late(p, 11),
      "[producer: first want of a peer] no peer is late by the first snapshot "
      "of a peer");
    T(hand_out(p, 11) == 2 && holder(p, 2) == 3 && holder(p, 3) == 2,
      "a delivered item of that snapshot ends its lease");
    next(p, 3, 3, 0, "1", 1, 12);
    T(is_late(p, 12) && !is_late(p, 12),
      "a peer is late by the second snapshot of that peer");
    flow_producer_free(p);
}

/* After a false snapshot an older one is adopted; that of another peer is newer
 * again, but may be from long before the lease. */
static void
repeated_by_its_peer(void)
{
    struct flow_producer *p = with_peers(2, 1);
    double now = 4;

    next(p, 2, 5, 0, "", 1, 0);
    next(p, 1, 9, 3, "", 1, 1);
    while (now < 20 && next(p, 1, 4, 0, "", 1, now) != FLOW_REWOUND)
        now += 0.5;
    T(now < 20 && hand_out(p, now), "the older snapshot is adopted");
    now += LEASE + 1;
    is_late(p, now);
    next(p, 2, 5, 0, "", 1, now + 1);
    T(!is_late(p, now + 1), "no peer is late by a snapshot that its peer sent "
                            "before");
    next(p, 2, 6, 0, "", 1, now + 2);
    T(is_late(p, now + 2), "a peer is late by a new snapshot");
    flow_producer_free(p);
}

static void
late(void)
{
    struct flow_producer *p = with_peers(3, 2);
    struct flow_late what;

    hand_out(p, 0); // 1 has 0 and 3, 2 has 1 and 4, 3 has 2 and 5
    next(p, 1, 2, 0, "1245", 2, 5);
    hand_out(p, 5);
    T(!is_late(p, 10.5), "no peer is late by a snapshot from before the end of "
                         "the lease");
    next(p, 2, 3, 0, "1245", 2, 11);
    T(flow_producer_late(p, 11, &what) && what.peer == 1 && !number(what.at) &&
          what.taken == 2 && what.lease == LEASE && what.aside == 4 * LEASE,
      "[producer: lease too old, and a later want without its place] a late "
      "peer loses all its items");
    T(!is_late(p, 11), "only one peer is late");
    next(p, 1, 4, 0, "124567", 2, 11);
    T(hand_out(p, 11) == 2 && holder(p, 0) != 1 && holder(p, 3) != 1,
      "these go to others, although it has room");
    next(p, 3, 5, 4, "4567", 1, 52);
    next(p, 2, 5, 4, "4567", 1, 52);
    T(hand_out(p, 52) == 3 && holder(p, 8) != 1 && holder(p, 9) != 1 &&
          holder(p, 11) == 1,
      "[producer: peer late, that time over] after four leases it gets one, "
      "the last that is wanted");
    T(!is_late(p, 62), "the next lease is over");
    next(p, 3, 6, 4, "456789", 2, 63);
    T(flow_producer_late(p, 63, &what), "late once more");
    while (what.peer != 1 && flow_producer_late(p, 63, &what))
        ;
    T(what.peer == 1 && what.aside == 8 * LEASE,
      "it is suspended for twice as long");
    flow_producer_free(p);
}

/* Peer 1 is late at 11 s; peer 2 has delivered places 1 and 3. */
static struct flow_producer *
with_one_late(void)
{
    struct flow_producer *p = with_peers(2, 2);

    hand_out(p, 0);
    next(p, 2, 2, 0, "13", 2, 5);
    is_late(p, 10);
    next(p, 2, 3, 0, "13", 2, 11);
    is_late(p, 11);
    return p;
}

static void
set_aside(void)
{
    struct flow_producer *p = with_one_late();

    T(hand_out(p, 11) == 2 && !hand_out(p, 50) && hand_out(p, 51) == 1 &&
          holder(p, 7) == 1,
      "a late peer gets nothing for four leases, though others have no room");
    flow_producer_free(p);
}

static void
another_session(void)
{
    const struct wire_want later = {
        .at = {8, 0, 0}, .serial = 1, .window = WINDOW, .room = 2};
    struct flow_producer *p = with_one_late();

    flow_producer_on_snapshot(p, 1, &later, 12);
    flow_producer_on_snapshot(p, 2, &later, 12);
    T(hand_out(p, 12) == 4 && holder(p, 0) == 1 && holder(p, 2) == 1,
      "in another session no peer is late");
    flow_producer_free(p);
}

/* Both were late, and count like others; then one delivers. */
static void
delivers(void)
{
    struct flow_producer *p = with_peers(2, 1);

    hand_out(p, 0);
    is_late(p, 10);
    next(p, 1, 2, 0, "", 1, 11);
    T(is_late(p, 11) && is_late(p, 11) && hand_out(p, 11) == 2,
      "two are late, and both get items");
    next(p, 2, 3, 0, "0", 5, 12);
    next(p, 1, 3, 0, "0", 1, 12);
    T(hand_out(p, 12) == 1 && holder(p, 2) == 1,
      "a peer that delivers is not late any more: the other one is suspended");
    flow_producer_free(p);
}

/* When all are suspended, none is. */
static void
all_late(void)
{
    struct flow_producer *p = with_peers(2, 2);

    hand_out(p, 0);
    T(!is_late(p, 10), "[producer: lease too old] no peer is late when the "
                       "leases end");
    next(p, 1, 2, 0, "", 2, 11);
    T(is_late(p, 11) && is_late(p, 11), "both are, after the next snapshot");
    T(hand_out(p, 11) == 4, "[producer: all peers late] both get items as "
                            "before");
    next(p, 1, 3, 0, "0", 2, 12);
    T(hand_out(p, 12) == 1 && holder(p, 4) == 1,
      "the first that delivers is not late any more");
    T(flow_producer_leave(p, 1) == 2 && !hand_out(p, 12), "it leaves");
    next(p, 2, 4, 0, "0123", 2, 13);
    T(hand_out(p, 13) == 2 && holder(p, 4) == 2,
      "the other one gets the items of the peer that left");
    flow_producer_free(p);
}

/* A peer that never delivers has the most room; the other one, whose items
 * were lost once, has to get items again. */
static void
room_does_not_outweigh_being_late(uint64_t first)
{
    static const char held[] = "1234567";
    const uint64_t second = 3 - first;
    struct flow_producer *p = with_peers(2, 2);
    struct flow_late what;
    int64_t serial = 2;
    double now = 0;

    next(p, second, serial, 0, held, 2, now);
    next(p, first, serial, 0, held, 5, now);
    T(hand_out(p, now) == 1 && holder(p, 0) == first,
      "the peer with the most room, %ju, gets the item", (uintmax_t)first);
    for (int k = 0; k < 2; k++) {
        T(!is_late(p, now + LEASE), "its lease is over");
        now += 11;
        next(p, first, ++serial, 0, held, 5, now);
        T(flow_producer_late(p, now, &what) &&
              what.peer == (k ? second : first),
          "it is late, and the other one is next");
        hand_out(p, now);
    }
    T(!is_late(p, now + LEASE), "the lease of the first is over again");
    now += 11;
    next(p, first, ++serial, 0, held, 5, now);
    T(flow_producer_late(p, now, &what) && what.peer == first,
      "the first is late again");
    T(hand_out(p, now) == 1 && holder(p, 0) == second,
      "the less often late peer is next, whatever the room");
    flow_producer_free(p);
}

int
main(void)
{
    arrive_at_once();
    first_of_a_peer();
    repeated_by_its_peer();
    late();
    set_aside();
    another_session();
    delivers();
    all_late();
    room_does_not_outweigh_being_late(1);
    room_does_not_outweigh_being_late(2);
    return t_done();
}
