/*
 * A producer in virtual time: which peer gets which item, whatever its peers
 * do.
 */
#include "flow/small_plan.h"

static void
shares(uint64_t peers)
{
    struct flow_producer *p = with_peers(peers, 2);
    const size_t n = peers < WINDOW / 2 ? 2 * peers : WINDOW;
    int even = 1;

    T(hand_out(p, 0) == n && flow_producer_leases(p) == n,
      "%ju peers get %zu items: two each, of a window of eight",
      (uintmax_t)peers, n);
    for (int64_t k = 0; k < (int64_t)n; k++)
        even &= holder(p, k) == 1 + (uint64_t)k % peers;
    T(even, "[producer: place wanted and free] the lowest first, in turn");
    T(!hand_out(p, 1), "no further item is handed out");
    flow_producer_free(p);
}

/* Peer 1 has room for `one`, peer 2 for `two`; places go to peers as digits. */
static void
rooms(int64_t one, int64_t two, const char *peers)
{
    struct flow_producer *p = with_peers(2, 1);
    int right = 1;

    next(p, 1, 1, 0, "", one, 0);
    next(p, 2, 1, 0, "", two, 0);
    hand_out(p, 0);
    for (int64_t k = 0; peers[k]; k++)
        right &= holder(p, k) == (uint64_t)(peers[k] - '0');
    T(right,
      "rooms of %jd and %jd: the most room first, of equal room the "
      "least recently served",
      (intmax_t)one, (intmax_t)two);
    next(p, 1, 2, 0, "", 1, 0);
    next(p, 2, 2, 0, "", 1, 0);
    T(!hand_out(p, 0), "no peer gets more than a smaller room");
    flow_producer_free(p);
}

/* Nothing adds up. */
static void
snapshots(void)
{
    struct flow_producer *p = with_peers(1, 2);

    hand_out(p, 0);
    T(next(p, 1, 1, 0, "", 2, 0) == FLOW_NOTHING && !hand_out(p, 0),
      "a repeated snapshot changes nothing");
    T(next(p, 1, 3, 0, "01", 2, 0) == FLOW_NOTHING && hand_out(p, 0) == 2 &&
          holder(p, 2) == 1 && holder(p, 3) == 1,
      "[producer: place trained, or in have] a delivered item ends its lease, "
      "and more are sent");
    T(next(p, 1, 2, 0, "", 2, 0) == FLOW_NOTHING && !hand_out(p, 0),
      "[producer: want, older] an older snapshot changes nothing");
    T(next(p, 1, 4, 3, "", 2, 0) == FLOW_PROGRESS && hand_out(p, 0) == 1 &&
          holder(p, 4) == 1,
      "[producer: want, newer] a trained item ends its lease, the other one "
      "continues");
    T(next(p, 1, 5, 3, "", 0, 0) == FLOW_NOTHING && hand_out(p, 0) == 6,
      "without room it is the window");
    T(next(p, 1, 6, 3, "56789", 0, 0) == FLOW_NOTHING &&
          next(p, 1, 7, 3, "678", 0, 0) == FLOW_NOTHING &&
          hand_out(p, 0) == 2 && flow_producer_leases(p) == 5,
      "[producer: place no longer in have] a dropped item is sent "
      "again");
    flow_producer_free(p);
}

static void
sessions(void)
{
    struct flow_producer *p = with_peers(2, 1);
    struct wire_want later = {
        .at = {8, 0, 4}, .serial = 1, .window = WINDOW, .room = -1};

    hand_out(p, 0);
    T(flow_producer_on_snapshot(p, 1, &later, 1) == FLOW_NEW_SESSION &&
          !flow_producer_leases(p) && flow_producer_place(p).session == 8,
      "[producer: want, of a newer session] a later session: all leases are "
      "void");
    T(hand_out(p, 1) == 8 && holder(p, 4) == 1 && holder(p, 11) == 1,
      "a peer without it gets nothing of it");
    T(next(p, 2, 99, 9, "", 1, 1) == FLOW_NOTHING &&
          flow_producer_place(p).step == 4,
      "an earlier one is ignored, whatever its serial");
    for (int serial = 100; serial < 104; serial++)
        T(next(p, 2, serial, 9, "", 1, 1) ==
              (serial < 103 ? FLOW_NOTHING : FLOW_REPORT),
          "an earlier one that is new, %d in a row", serial - 98);
    T(next(p, 2, 103, 9, "", 1, 1) == FLOW_NOTHING &&
          next(p, 2, 104, 9, "", 1, 1) == FLOW_NOTHING,
      "it is reported once");
    flow_producer_free(p);
}

/* A peer that lost the trainer before the run was over repeats an older
 * snapshot for ever. */
static void
is_over_for_all(void)
{
    struct flow_producer *p = with_peers(2, 1);
    const struct wire_place last = step(5);
    int changed = 0, early = 0;

    next(p, 1, 2, 5, "", 1, 0);
    flow_producer_on_end(p, 1, &last, 1);
    flow_producer_leave(p, 1);
    for (double now = 1; now < 1 + FLOW_QUIET; now++) {
        changed |= next(p, 2, 1, 0, "", 1, now) != FLOW_NOTHING;
        early |= flow_producer_over(p, now);
    }
    T(!changed && flow_producer_place(p).step == 5,
      "[producer: want, older, the same again, after an end] it changes "
      "nothing");
    T(!early && flow_producer_over(p, 1 + FLOW_QUIET),
      "after %g s without a change the run is over", FLOW_QUIET);
    flow_producer_free(p);
}

/* A peer sends a false, newer snapshot, and that the run is over. */
static void
is_not_over_for_all(void)
{
    struct flow_producer *p = with_peers(2, 1);
    const struct wire_place last = step(5);
    enum flow_event_kind event = FLOW_NOTHING;
    double now = 1;

    next(p, 1, 1000, 5, "", 1, now);
    flow_producer_on_end(p, 1, &last, now);
    while (event == FLOW_NOTHING && now < 20) {
        now++;
        event = next(p, 2, (int64_t)now, 2, "", 1, now);
    }
    T(event == FLOW_REWOUND && now <= 2 + FLOW_LAPSE + 2,
      "new ones of a trainer that continues count, in spite of an end");
    flow_producer_free(p);
}

static void
all_is_trained(void)
{
    struct flow_producer *p = with_peers(2, 1);

    hand_out(p, 0);
    next(p, 1, 2, PLACES - 1, "", 1, 1);
    hand_out(p, 1);
    T(!flow_producer_over(p, 99), "one place is not trained");
    next(p, 1, 3, PLACES, "", 1, 2);
    hand_out(p, 2);
    T(!flow_producer_over(p, 1.9 + FLOW_TRAINED) &&
          flow_producer_over(p, 2 + FLOW_TRAINED),
      "[producer: place behind the plan, for 6 s] the run is over");
    next(p, 1, 4, PLACES - 2, "", 1, 9);
    hand_out(p, 9);
    T(!flow_producer_over(p, 99),
      "a plan is not over where the consumer goes back");
    flow_producer_free(p);
}

/* A snapshot that was never the consumer's is dropped when no peer repeats
 * it. */
static void
lapses(int more)
{
    struct flow_producer *p = with_peers(2, 1);
    enum flow_event_kind event = FLOW_NOTHING;
    double now = 0;

    hand_out(p, 0);
    next(p, 2, 1000, more, more ? "" : "01234567", 1, 0);
    T(!hand_out(p, 0) || more, "a false snapshot is accepted at first");
    while (event == FLOW_NOTHING && now < 20) {
        now += 0.5;
        event = next(p, 1, 2, 0, "", 1, now);
        next(p, 2, 2, 0, "", 1, now); // the peer sends true ones again
    }
    T(event == FLOW_REWOUND && now >= FLOW_LAPSE && now <= FLOW_LAPSE + 1.5,
      "[producer: want, older, for 4 s in which nobody sends the newer one] "
      "the true one replaces it after %g s",
      now);
    T(hand_out(p, now) == 2 && holder(p, 0),
      "items are handed out by the true snapshot");
    flow_producer_free(p);
}

/* Only for as long as a peer repeats it. */
static void
does_not_lapse(void)
{
    struct flow_producer *p = with_peers(2, 1);
    int ignored = 1;

    next(p, 1, 5, 2, "", 1, 0);
    for (double now = 0; now < 10; now += 1) {
        ignored &= next(p, 1, 5, 2, "", 1, now) == FLOW_NOTHING;
        ignored &= next(p, 2, 4, 1, "", 1, now) == FLOW_NOTHING;
    }
    T(ignored && flow_producer_place(p).step == 2,
      "a repeated newer snapshot remains, whatever others send");
    T(next(p, 2, 4, 1, "", 1, 60) == FLOW_NOTHING,
      "an older one after a pause of ours is not accepted at once");
    T(next(p, 1, 5, 2, "", 1, 60) == FLOW_NOTHING &&
          next(p, 2, 4, 1, "", 1, 61.5) == FLOW_NOTHING &&
          flow_producer_place(p).step == 2,
      "an older one is not accepted when the newer one follows it");
    flow_producer_free(p);
}

/* The consumer that waits makes a snapshot each second. */
static void
missing(void)
{
    struct flow_producer *p = with_peers(1, 2);

    T(!flow_producer_awaited_peer(p, 0), "no peer has an item");
    next(p, 1, 2, 0, "", 2, 1);
    hand_out(p, 1);
    T(flow_producer_awaited_peer(p, 2) == 1,
      "one has the item that the consumer waits for");
    T(!flow_producer_awaited_peer(p, 6),
      "a consumer that waits would send a snapshot");
    next(p, 1, 3, 0, "0", 2, 7);
    T(!flow_producer_awaited_peer(p, 7),
      "no peer is awaited for an item that the consumer has");
    flow_producer_free(p);
}

static void
goes_back(void)
{
    struct flow_producer *p = with_peers(1, 2);

    next(p, 1, 2, 6, "", 2, 0);
    hand_out(p, 0);
    T(next(p, 1, 3, 4, "67", 2, 0) == FLOW_REWOUND &&
          !flow_producer_leases(p) && hand_out(p, 0) == 2 &&
          holder(p, 4) == 1 && holder(p, 5) == 1,
      "[producer: want, newer, of a place before] a consumer that goes back "
      "gets earlier items, not those that it has");
    flow_producer_free(p);
}

static void
leaves(void)
{
    struct flow_producer *p = with_peers(3, 2);

    hand_out(p, 0);
    T(flow_producer_leave(p, 2) == 2,
      "[producer: peer gone] a peer that leaves had "
      "two items");
    T(!hand_out(p, 0), "the items of a peer that left wait for room");
    next(p, 1, 2, 0, "03", 2, 0);
    T(hand_out(p, 0) == 2 && holder(p, 1) == 1 && holder(p, 4) == 1,
      "the two items go to the peer that has room");
    flow_producer_free(p);
}

static void
refuses(void)
{
    struct flow_producer *p = with_peers(1, 1);
    const struct wire_place zero = step(0), one = step(1);
    double now = 3;
    int again = 1;

    hand_out(p, 0);
    flow_producer_on_refusal(p, 1, &one, 0);
    T(flow_producer_leases(p) == 1, "an item that it does not have");
    flow_producer_on_refusal(p, 1, &zero, 0);
    T(!flow_producer_leases(p),
      "[producer: error of an item] one that it has is "
      "free then");
    T(!hand_out(p, 0.9) && hand_out(p, 1) == 1, "for a second");
    flow_producer_on_refusal(p, 1, &zero, 1);
    T(!hand_out(p, 2.9) && hand_out(p, 3) == 1,
      "after a second error it gets nothing for two seconds");
    for (int i = 0; i < 10; i++, now += 32) {
        flow_producer_on_refusal(p, 1, &zero, now);
        again &= hand_out(p, now + 32) == 1;
    }
    T(again, "it never gets nothing for more than 32 seconds");
    flow_producer_free(p);
}

static void
cannot_be_sent(void)
{
    struct flow_producer *p = with_peers(1, 1);
    struct flow_send_item turn;

    fill(p);
    T(flow_producer_next_item(p, 0, &turn) && turn.peer == 1 &&
          !number(turn.at) && turn.at.session == 7,
      "the only peer is next");
    flow_producer_mark_sent(p, &turn, 0, 0);
    T(!flow_producer_next_item(p, 0.04, &turn) &&
          flow_producer_due(p, 0) < 0.06,
      "after a failed send: not at once again");
    T(flow_producer_next_item(p, 0.06, &turn),
      "after a failed send: soon again");
    flow_producer_free(p);
}

static void
ends(void)
{
    struct flow_producer *p = with_peers(2, 2);
    uint64_t first, second;

    hand_out(p, 0);
    T(!flow_producer_next_unnotified(p, 0),
      "the plan continues after the window");
    next(p, 1, 2, 95, "", 2, 1);
    hand_out(p, 1);
    first = flow_producer_next_unnotified(p, 1);
    T(first && number(flow_producer_fresh(p)) == PLACES,
      "[producer: plan ends in the window] it ends within the window: that is "
      "sent");
    flow_producer_mark_notified(p, first, 1, 1);
    second = flow_producer_next_unnotified(p, 1);
    T(second && second != first, "the end is sent to each peer");
    flow_producer_mark_notified(p, second, 1, 1);
    next(p, 1, 2, 95, "", 2, 1.5);
    T(!flow_producer_next_unnotified(p, 1.5),
      "the end is sent once a second at most");
    T(flow_producer_next_unnotified(p, 2) == 1 && second,
      "after a second the end is sent again to a peer that wants items");
    flow_producer_mark_notified(p, 1, 1, 2);
    T(!flow_producer_next_unnotified(p, 9), "only to those");
    flow_producer_free(p);
}

/* The last place is in training and not in the book: after a false session a
 * filter does not draw again for what was weighed. */
static void
ends_after_skipped_places(void)
{
    struct flow_producer *p = with_peers(2, 1);
    const struct wire_place end = step(PLACES);

    next(p, 1, 2, PLACES - 1, "", 1, 1);
    flow_producer_close(p, &end);
    T(number(flow_producer_fresh(p)) == PLACES,
      "the end of the plan is after places that are not in the book");
    T(!flow_producer_over(p, 99), "a skipped place in training is not trained");
    next(p, 1, 3, PLACES, "", 1, 2);
    T(flow_producer_over(p, 2 + FLOW_TRAINED),
      "a plan with skipped places is over when all is trained");
    flow_producer_free(p);
}

static void
over(void)
{
    struct flow_producer *p = with_peers(3, 1);
    const struct wire_place at = step(0), other = {6, 0, 0};

    T(!flow_producer_over(p, 0), "no peer reports the end of the run");
    flow_producer_on_end(p, 1, &other, 0);
    flow_producer_on_end(p, 2, &at, 1);
    T(!flow_producer_over(p, 2), "one of three does");
    T(!flow_producer_over(p, FLOW_QUIET) &&
          flow_producer_over(p, FLOW_QUIET + 1.5),
      "[producer: end of one peer] which counts when nothing has changed for "
      "long");
    flow_producer_on_end(p, 1, &at, 3);
    flow_producer_leave(p, 3);
    T(flow_producer_over(p, 3), "[producer: end of all peers] all present "
                                "peers report it");
    flow_producer_leave(p, 1);
    flow_producer_leave(p, 2);
    T(flow_producer_over(p, 3), "the last of them have left");
    flow_producer_join(p, 4);
    T(!flow_producer_over(p, 4), "a new one does not report it");
    flow_producer_free(p);
}

/* A peer whose data are not there yet. */
static void
has_no_room(void)
{
    struct flow_producer *p = with_peers(2, 2);
    const struct wire_want none = {
        .at = step(0), .serial = 2, .window = WINDOW};
    struct flow_late late;

    hand_out(p, 0);
    T(flow_producer_on_snapshot(p, 1, &none, 1) == FLOW_NOTHING &&
          flow_producer_leases(p) == 2 && !hand_out(p, 1),
      "[producer: want with room 0] its leases are void, and it gets none");
    REQUIRE(!flow_producer_late(p, LEASE + 1, &late)); // the end is noticed
    next(p, 2, 3, 0, "", 2, LEASE + 2);
    T(flow_producer_late(p, LEASE + 2, &late) && late.peer == 2 &&
          !flow_producer_late(p, LEASE + 2, &late),
      "and it is not late");
    next(p, 1, 5, 0, "", 2, LEASE + 3);
    T(hand_out(p, LEASE + 3) == 2 && holder(p, 0) == 1,
      "with room it gets items again");
    flow_producer_free(p);
}

int
main(void)
{
    shares(1);
    shares(3);
    shares(8);
    rooms(1, 3, "2212");
    rooms(3, 1, "1121");
    snapshots();
    sessions();
    is_over_for_all();
    is_not_over_for_all();
    all_is_trained();
    lapses(0);
    lapses(5);
    does_not_lapse();
    goes_back();
    missing();
    leaves();
    refuses();
    cannot_be_sent();
    ends();
    ends_after_skipped_places();
    over();
    has_no_room();
    return t_done();
}
