/*
 * A producer in virtual time: who gets which item, whatever its peers do.
 */
#include "flow/producer.h"
#include "t.h"

enum { LEASE = 10 };

static const struct wire_place start = {7, 0, 0};

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

/* A peer says next, as of a step. */
static enum flow_said
next(struct flow_producer *p, uint64_t peer, int64_t k, int credit, int waits,
     double now)
{
    const struct wire_next said = {step(k), credit, waits};

    return flow_producer_next(p, peer, &said, now);
}

/* Hands out all that is asked for: the number of items. */
static size_t
hand_out(struct flow_producer *p, double now)
{
    struct flow_turn turn;
    size_t n = 0;

    for (; flow_producer_turn(p, now, &turn); n++) {
        const struct wire_place fresh = step(number(turn.at) + 1);

        flow_producer_gave(p, &turn, 1, now);
        if (!turn.again)
            flow_producer_go(p, &fresh);
    }
    return n;
}

static struct flow_producer *
with_peers(uint64_t peers, int credit)
{
    struct flow_producer *p = flow_producer_new(LEASE);

    for (uint64_t i = 1; i <= peers; i++) {
        flow_producer_join(p, i);
        next(p, i, 0, credit, 0, 0);
    }
    return p;
}

static uint64_t
holder(const struct flow_producer *p, int64_t k)
{
    const struct wire_place at = step(k);

    return flow_producer_holder(p, &at);
}

static void
shares(uint64_t peers)
{
    struct flow_producer *p = with_peers(peers, 3);
    int turns = 1;

    T(flow_producer_credit(p) == 3 * peers, "%ju peers ask for three each",
      (uintmax_t)peers);
    T(hand_out(p, 0) == 3 * peers && flow_producer_out(p) == 3 * peers,
      "each gets what it asked for");
    for (uint64_t i = 0; i < 3 * peers; i++)
        turns &= holder(p, (int64_t)i) == 1 + i % peers;
    T(turns, "the peers take turns, the items are in order");
    flow_producer_free(p);
}

/* One of three takes items and never delivers. */
static void
hoarder(void)
{
    struct flow_producer *p = with_peers(3, 2);
    struct flow_late late;

    hand_out(p, 0);
    T(holder(p, 0) == 1 && holder(p, 3) == 1, "peer 1 has items 0 and 3");
    T(!flow_producer_late(p, 99, &late), "nobody is late unless one waits");
    T(next(p, 2, 0, 2, 1, 5) == FLOW_WAITED, "the trainer waits for item 0");
    T_NEAR(flow_producer_due(p, 6), 4, 1e-12, "its lease has 4 s left");
    T(!flow_producer_late(p, 9.9, &late), "its holder is not late yet");
    T(flow_producer_late(p, 10, &late) && late.peer == 1 && late.taken == 2,
      "then it is, and loses all that it has");
    T(late.aside == 4 * LEASE, "it is set aside for four leases");
    next(p, 1, 0, 2, 0, 10);
    T(hand_out(p, 10) == 2 && holder(p, 0) == 2 && holder(p, 3) == 2,
      "its items go to another, though it asks, too");
    next(p, 2, 1, 0, 0, 11);
    T(hand_out(p, 49) == 0, "it gets none while it is set aside");
    T(hand_out(p, 51) == 2, "and some after that");
    flow_producer_free(p);
}

static void
only_hoarders(void)
{
    struct flow_producer *p = with_peers(1, 1);
    struct flow_late late;

    hand_out(p, 0);
    next(p, 1, 0, 1, 1, 1);
    T(flow_producer_late(p, 10, &late) && hand_out(p, 10) == 1 &&
          holder(p, 0) == 1,
      "where all are set aside none is passed over for it");
    next(p, 1, 0, 1, 1, 11);
    T(flow_producer_late(p, 20, &late) && late.aside == 8 * LEASE,
      "who is late again is set aside for twice as long");
    flow_producer_free(p);
}

/* A peer dies; another comes back under a new number. */
static void
deaths(void)
{
    struct flow_producer *p = with_peers(3, 2);

    hand_out(p, 0);
    T(flow_producer_leave(p, 2) == 2, "a peer that leaves had two items");
    T(flow_producer_due(p, 0) == 0, "they are to be handed out at once");
    flow_producer_join(p, 4);
    T(hand_out(p, 1) == 0, "who joins has no credit");
    next(p, 4, 0, 3, 0, 1);
    T(hand_out(p, 1) == 3 && holder(p, 1) == 4 && holder(p, 4) == 4 &&
          holder(p, 6) == 4,
      "what is free goes out first, lowest first, then what is new");
    T(flow_producer_leave(p, 99) == 0, "a peer that nobody knows had none");
    flow_producer_free(p);
}

/* A trainer that begins, is resumed, goes back; and word of an old one. */
static void
sessions(void)
{
    const struct wire_next newer = {{8, 1, 5}, 1, 0}, older = {{6, 9, 9}, 5, 0};
    const struct wire_place old = {6, 9, 9};
    struct flow_producer *p = flow_producer_new(LEASE);
    struct flow_turn turn;

    flow_producer_join(p, 1);
    T(!flow_producer_turn(p, 0, &turn) && flow_producer_place(p).session == -1,
      "before anybody speaks no place is known");
    T(next(p, 1, 4, 3, 0, 0) == FLOW_MOVED, "the first place begins a session");
    T(hand_out(p, 0) == 3 && holder(p, 4) == 1, "items begin at that place");
    T(flow_producer_done(p, &(struct wire_place){7, 0, 6}, 1) == FLOW_PASSED &&
          flow_producer_out(p) == 1,
      "what is trained is no longer leased");
    T(next(p, 1, 5, 0, 0, 1) == FLOW_NOTHING &&
          flow_producer_place(p).step == 6,
      "an earlier place is old news");
    T(flow_producer_next(p, 1, &older, 1) == FLOW_NOTHING &&
          flow_producer_done(p, &old, 1) == FLOW_NOTHING &&
          flow_producer_credit(p) == 0,
      "word of an older session is passed over");
    T(flow_producer_next(p, 1, &newer, 1) == FLOW_MOVED &&
          flow_producer_out(p) == 0 && flow_producer_credit(p) == 1,
      "a newer session forgets leases and credit");
    T(flow_producer_turn(p, 1, &turn) && turn.at.session == 8 &&
          turn.at.epoch == 1 && turn.at.step == 5 && !turn.again,
      "and begins at its own place");
    flow_producer_free(p);
}

/* One peer says too early that much is trained. */
static void
back(void)
{
    struct flow_producer *p = with_peers(2, 4);

    hand_out(p, 0);
    T(next(p, 2, 9, 0, 0, 1) == FLOW_PASSED && !flow_producer_out(p),
      "a peer says that nine steps are trained");
    T(next(p, 1, 2, 1, 1, 2) == FLOW_NOTHING &&
          number(flow_producer_place(p)) == 9,
      "that the trainer waits for step 2 is passed over at first");
    T(next(p, 1, 2, 1, 1, 2.9) == FLOW_NOTHING, "and within a second");
    T(next(p, 1, 2, 1, 1, 3) == FLOW_BACK &&
          number(flow_producer_place(p)) == 2,
      "said again after a second it counts");
    T(hand_out(p, 3) == 3 && holder(p, 2) && holder(p, 4),
      "and items are handed out from there");
    T(next(p, 1, 2, 0, 1, 4) == FLOW_WAITED, "then all is as before");
    flow_producer_free(p);
}

static void
unreachable(void)
{
    struct flow_producer *p = with_peers(2, 1);
    struct flow_turn turn;

    T(flow_producer_turn(p, 0, &turn) && turn.peer == 1, "it is 1's turn");
    flow_producer_gave(p, &turn, 0, 0);
    T(flow_producer_turn(p, 0, &turn) && turn.peer == 2 &&
          !wire_place_cmp(&turn.at, &start),
      "who cannot be sent to is passed over, and the item goes to another");
    flow_producer_gave(p, &turn, 1, 0);
    T(!flow_producer_turn(p, 0.04, &turn), "for a moment");
    T(flow_producer_turn(p, 0.06, &turn) && turn.peer == 1, "and no longer");
    flow_producer_free(p);
}

static void
ends(void)
{
    struct flow_producer *p = with_peers(3, 1);

    T(flow_producer_untold(p, 0) == 1, "nobody has been told of the end");
    for (uint64_t i = 1; i <= 3; i++)
        flow_producer_told(p, i, i != 2, 0);
    T(!flow_producer_untold(p, 0), "all have been, or cannot be now");
    T(flow_producer_untold(p, 1) == 2, "who could not be is told later");
    flow_producer_told(p, 2, 1, 1);
    next(p, 3, 0, 1, 0, 1);
    T(flow_producer_untold(p, 1) == 3, "who asks for more is told again");

    flow_producer_end(p, 1, &start, 2);
    T(!flow_producer_over(p, 3), "one of three says that the run is over");
    T(flow_producer_over(p, 32), "which counts when nothing moves for 30 s");
    next(p, 2, 1, 0, 0, 32);
    T(!flow_producer_over(p, 40), "but not when the others go on");
    flow_producer_end(p, 2, &start, 40);
    flow_producer_leave(p, 3);
    T(flow_producer_over(p, 40), "all that are left say so: it is over");
    flow_producer_leave(p, 1);
    flow_producer_leave(p, 2);
    T(flow_producer_over(p, 40), "it stays over when they leave");
    flow_producer_free(p);
}

int
main(void)
{
    shares(1);
    shares(3);
    shares(8);
    hoarder();
    only_hoarders();
    deaths();
    sessions();
    back();
    unreachable();
    ends();
    return t_done();
}
