/*
 * A producer in virtual time: who gets which item, whatever its peers do.
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

/* What is held, as a text of digits: places of the first epoch. */
static enum flow_said
next(struct flow_producer *p, uint64_t peer, int64_t serial, int64_t k,
     const char *held, int64_t room, double now)
{
    int64_t have[WINDOW][2];
    struct wire_next said = {.at = step(k),
                             .serial = serial,
                             .window = WINDOW,
                             .room = room,
                             .have = have[0]};

    for (; held[said.n_have]; said.n_have++) {
        have[said.n_have][0] = 0;
        have[said.n_have][1] = held[said.n_have] - '0';
    }
    return flow_producer_next(p, peer, &said, now);
}

static void
fill(struct flow_producer *p)
{
    while (flow_producer_short(p)) {
        const struct wire_place at = flow_producer_fresh(p);
        const struct wire_place behind = step(number(at) + 1);

        if (number(at) == PLACES) {
            flow_producer_close(p);
            return;
        }
        flow_producer_add(p, &at, &behind);
    }
}

/* Hands out all that it can: the number of items. */
static size_t
hand_out(struct flow_producer *p, double now)
{
    struct flow_turn turn;
    size_t n = 0;

    fill(p);
    for (; flow_producer_turn(p, now, &turn); n++)
        flow_producer_gave(p, &turn, 1, now);
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

static void
shares(uint64_t peers)
{
    struct flow_producer *p = with_peers(peers, 2);
    const size_t n = peers < WINDOW / 2 ? 2 * peers : WINDOW;
    int even = 1;

    T(hand_out(p, 0) == n && flow_producer_out(p) == n,
      "%ju peers get %zu items: two each, of a window of eight",
      (uintmax_t)peers, n);
    for (int64_t k = 0; k < (int64_t)n; k++)
        even &= holder(p, k) == 1 + (uint64_t)k % peers;
    T(even, "the lowest first, in turn");
    T(!hand_out(p, 1), "then nothing more");
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
      "rooms of %jd and %jd: the most room first, of equal room the one served "
      "longest ago",
      (intmax_t)one, (intmax_t)two);
    next(p, 1, 2, 0, "", 1, 0);
    next(p, 2, 2, 0, "", 1, 0);
    T(!hand_out(p, 0), "nobody gets more than a room that has shrunk");
    flow_producer_free(p);
}

/* Nothing adds up. */
static void
snapshots(void)
{
    struct flow_producer *p = with_peers(1, 2);

    hand_out(p, 0);
    T(next(p, 1, 1, 0, "", 2, 0) == FLOW_NOTHING && !hand_out(p, 0),
      "said again it changes nothing");
    T(next(p, 1, 3, 0, "01", 2, 0) == FLOW_NOTHING && hand_out(p, 0) == 2 &&
          holder(p, 2) == 1 && holder(p, 3) == 1,
      "what is had ends its lease, and more goes out");
    T(next(p, 1, 2, 0, "", 2, 0) == FLOW_NOTHING && !hand_out(p, 0),
      "an older snapshot changes nothing");
    T(next(p, 1, 4, 3, "", 2, 0) == FLOW_PASSED && hand_out(p, 0) == 1 &&
          holder(p, 4) == 1,
      "so does what is trained; the other lease goes on");
    T(next(p, 1, 5, 3, "", 0, 0) == FLOW_NOTHING && hand_out(p, 0) == 6,
      "without room there is as much as the window");
    T(next(p, 1, 6, 3, "56789", 0, 0) == FLOW_NOTHING &&
          next(p, 1, 7, 3, "678", 0, 0) == FLOW_NOTHING &&
          hand_out(p, 0) == 2 && flow_producer_out(p) == 5,
      "what is not had any more goes out again");
    flow_producer_free(p);
}

static void
sessions(void)
{
    struct flow_producer *p = with_peers(2, 1);
    struct wire_next later = {.at = {8, 0, 4}, .serial = 1, .window = WINDOW};

    hand_out(p, 0);
    T(flow_producer_next(p, 1, &later, 1) == FLOW_MOVED &&
          !flow_producer_out(p) && flow_producer_place(p).session == 8,
      "a later session: all leases are void");
    T(hand_out(p, 1) == 8 && holder(p, 4) == 1 && holder(p, 11) == 1,
      "who has not heard of it gets nothing of it");
    T(next(p, 2, 99, 9, "", 1, 1) == FLOW_NOTHING &&
          flow_producer_place(p).step == 4,
      "an earlier one is passed over, whatever its serial");
    flow_producer_free(p);
}

/* A snapshot that was never the consumer's goes when nobody says it again. */
static void
lapses(int more)
{
    struct flow_producer *p = with_peers(2, 1);
    enum flow_said said = FLOW_NOTHING;
    double now = 0;

    hand_out(p, 0);
    next(p, 2, 1000, more, more ? "" : "01234567", 1, 0);
    T(!hand_out(p, 0) || more, "a false snapshot is believed at first");
    while (said == FLOW_NOTHING && now < 20) {
        now += 0.5;
        said = next(p, 1, 2, 0, "", 1, now);
        next(p, 2, 2, 0, "", 1, now); // who lied tells the truth again
    }
    T(said == FLOW_BACK && now >= FLOW_LAPSE && now <= FLOW_LAPSE + 1.5,
      "the true one takes its place after %g s", now);
    T(hand_out(p, now) == 2 && holder(p, 0), "and is gone by");
    flow_producer_free(p);
}

/* Only for as long as somebody says it. */
static void
does_not_lapse(void)
{
    struct flow_producer *p = with_peers(2, 1);
    int kept = 1;

    next(p, 1, 5, 2, "", 1, 0);
    for (double now = 0; now < 10; now += 1) {
        kept &= next(p, 1, 5, 2, "", 1, now) == FLOW_NOTHING;
        kept &= next(p, 2, 4, 1, "", 1, now) == FLOW_NOTHING;
    }
    T(kept && flow_producer_place(p).step == 2,
      "a newer snapshot that is said again stays, whatever others say");
    T(next(p, 2, 4, 1, "", 1, 60) == FLOW_NOTHING,
      "an older one after a pause of ours is not believed at once");
    T(next(p, 1, 5, 2, "", 1, 60) == FLOW_NOTHING &&
          next(p, 2, 4, 1, "", 1, 61.5) == FLOW_NOTHING &&
          flow_producer_place(p).step == 2,
      "nor when the newer one follows it");
    flow_producer_free(p);
}

static void
goes_back(void)
{
    struct flow_producer *p = with_peers(1, 2);

    next(p, 1, 2, 6, "", 2, 0);
    hand_out(p, 0);
    T(next(p, 1, 3, 4, "67", 2, 0) == FLOW_BACK && !flow_producer_out(p) &&
          hand_out(p, 0) == 2 && holder(p, 4) == 1 && holder(p, 5) == 1,
      "a consumer that goes back gets what lies before, not what it has");
    flow_producer_free(p);
}

static void
leaves(void)
{
    struct flow_producer *p = with_peers(3, 2);

    hand_out(p, 0);
    T(flow_producer_leave(p, 2) == 2, "who leaves had two items");
    T(!hand_out(p, 0), "which wait for room");
    next(p, 1, 2, 0, "03", 2, 0);
    T(hand_out(p, 0) == 2 && holder(p, 1) == 1 && holder(p, 4) == 1,
      "and go to who has it");
    flow_producer_free(p);
}

static int
is_late(struct flow_producer *p, double now)
{
    struct flow_late what;

    return flow_producer_late(p, now, &what);
}

/* What was said before the end of a lease may come long after it. */
static void
comes_all_at_once(void)
{
    struct flow_producer *p = with_peers(2, 1);

    hand_out(p, 0);
    T(flow_producer_due(p, 4) == LEASE - 4, "the end of a lease is due");
    next(p, 1, 2, 0, "", 1, 100);
    T(!is_late(p, 100), "a producer that was stopped for long finds a snapshot "
                        "that is newer: nobody is late");
    next(p, 2, 3, 0, "", 1, 100);
    T(!is_late(p, 100), "nor by the next one that was there");
    next(p, 1, 4, 0, "", 1, 100.05);
    T(!is_late(p, 100.05), "nor by one on its way");
    next(p, 1, 4, 0, "", 1, 105);
    T(!is_late(p, 105), "nor by one that is said again");
    T(flow_producer_due(p, 105) > 1e8, "nothing is due for that");
    next(p, 2, 5, 0, "", 1, 106);
    T(is_late(p, 106) && is_late(p, 106) && !is_late(p, 106),
      "but by one that comes later both are");
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
    T(!is_late(p, 10.5), "nobody is late by what the consumer said before the "
                         "lease was over");
    next(p, 2, 3, 0, "1245", 2, 11);
    T(flow_producer_late(p, 11, &what) && what.peer == 1 && !number(what.at) &&
          what.taken == 2 && what.lease == LEASE && what.aside == 4 * LEASE,
      "who is late loses all that it has");
    T(!is_late(p, 11), "and only that one is");
    next(p, 1, 4, 0, "124567", 2, 11);
    T(hand_out(p, 11) == 2 && holder(p, 0) != 1 && holder(p, 3) != 1,
      "these go to others, although it asks");
    next(p, 3, 5, 4, "4567", 1, 52);
    next(p, 2, 5, 4, "4567", 1, 52);
    T(hand_out(p, 52) == 3 && holder(p, 8) != 1 && holder(p, 9) != 1 &&
          holder(p, 11) == 1,
      "after four leases it gets one, the last that is wanted");
    T(!is_late(p, 62), "the next lease is over");
    next(p, 3, 6, 4, "456789", 2, 63);
    T(flow_producer_late(p, 63, &what), "late once more");
    while (what.peer != 1 && flow_producer_late(p, 63, &what))
        ;
    T(what.peer == 1 && what.aside == 8 * LEASE,
      "it is set aside for twice as long");
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
      "who is late gets nothing for four leases, though others have no room");
    flow_producer_free(p);
}

static void
another_session(void)
{
    const struct wire_next later = {
        .at = {8, 0, 0}, .serial = 1, .window = WINDOW, .room = 2};
    struct flow_producer *p = with_one_late();

    flow_producer_next(p, 1, &later, 12);
    flow_producer_next(p, 2, &later, 12);
    T(hand_out(p, 12) == 4 && holder(p, 0) == 1 && holder(p, 2) == 1,
      "another session forgives who was late");
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
      "who delivers is late no more: the other one is set aside");
    flow_producer_free(p);
}

/* Set aside all, and nobody is. */
static void
all_late(void)
{
    struct flow_producer *p = with_peers(2, 2);

    hand_out(p, 0);
    T(!is_late(p, 10), "nobody is late when the leases end");
    next(p, 1, 2, 0, "", 2, 11);
    T(is_late(p, 11) && is_late(p, 11),
      "both are, once the consumer has looked");
    T(hand_out(p, 11) == 4, "both get items as before");
    next(p, 1, 3, 0, "0", 2, 12);
    T(hand_out(p, 12) == 1 && holder(p, 4) == 1,
      "the first that delivers is late no more");
    T(flow_producer_leave(p, 1) == 2 && !hand_out(p, 12), "it leaves");
    next(p, 2, 4, 0, "0123", 2, 13);
    T(hand_out(p, 13) == 2 && holder(p, 4) == 2,
      "and the other one gets what it had");
    flow_producer_free(p);
}

/* One that never delivers has the most room; the other one, whose items were
 * lost once, has to have its turn again. */
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
      "who was late less often is next, whatever the room");
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
    flow_producer_refused(p, 1, &one, 0);
    T(flow_producer_out(p) == 1, "an item that it does not have");
    flow_producer_refused(p, 1, &zero, 0);
    T(!flow_producer_out(p), "one that it has is nobody's then");
    T(!hand_out(p, 0.9) && hand_out(p, 1) == 1, "for a second");
    flow_producer_refused(p, 1, &zero, 1);
    T(!hand_out(p, 2.9) && hand_out(p, 3) == 1, "then for two");
    for (int i = 0; i < 10; i++, now += 32) {
        flow_producer_refused(p, 1, &zero, now);
        again &= hand_out(p, now + 32) == 1;
    }
    T(again, "and never for more than 32");
    flow_producer_free(p);
}

static void
cannot_be_sent(void)
{
    struct flow_producer *p = with_peers(1, 1);
    struct flow_turn turn;

    fill(p);
    T(flow_producer_turn(p, 0, &turn) && turn.peer == 1 && !number(turn.at) &&
          turn.at.session == 7,
      "the turn of the one peer");
    flow_producer_gave(p, &turn, 0, 0);
    T(!flow_producer_turn(p, 0.04, &turn) && flow_producer_due(p, 0) < 0.06,
      "it could not be sent: not at once again");
    T(flow_producer_turn(p, 0.06, &turn), "but soon");
    flow_producer_free(p);
}

static void
ends(void)
{
    struct flow_producer *p = with_peers(2, 2);
    uint64_t first, second;

    hand_out(p, 0);
    T(!flow_producer_untold(p, 0), "the plan goes on behind the window");
    next(p, 1, 2, 95, "", 2, 1);
    hand_out(p, 1);
    first = flow_producer_untold(p, 1);
    T(first && number(flow_producer_fresh(p)) == PLACES,
      "it ends within the window: that is said");
    flow_producer_told(p, first, 1, 1);
    second = flow_producer_untold(p, 1);
    T(second && second != first, "to all");
    flow_producer_told(p, second, 1, 1);
    next(p, 1, 2, 95, "", 2, 1.5);
    T(!flow_producer_untold(p, 1.5), "once a second at most");
    T(flow_producer_untold(p, 2) == 1 && second, "and again to those that ask");
    flow_producer_told(p, 1, 1, 2);
    T(!flow_producer_untold(p, 9), "only to those");
    flow_producer_free(p);
}

static void
over(void)
{
    struct flow_producer *p = with_peers(3, 1);
    const struct wire_place at = step(0), other = {6, 0, 0};

    T(!flow_producer_over(p, 0), "nobody says that the run is over");
    flow_producer_end(p, 1, &other, 0);
    flow_producer_end(p, 2, &at, 1);
    T(!flow_producer_over(p, 2), "one of three does");
    T(!flow_producer_over(p, FLOW_QUIET) &&
          flow_producer_over(p, FLOW_QUIET + 1.5),
      "which counts when nothing has moved for long");
    flow_producer_end(p, 1, &at, 3);
    flow_producer_leave(p, 3);
    T(flow_producer_over(p, 3), "all that are there say so");
    flow_producer_leave(p, 1);
    flow_producer_leave(p, 2);
    T(flow_producer_over(p, 3), "the last of them have left");
    flow_producer_join(p, 4);
    T(!flow_producer_over(p, 4), "one that comes does not");
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
    lapses(0);
    lapses(5);
    does_not_lapse();
    goes_back();
    leaves();
    comes_all_at_once();
    late();
    set_aside();
    another_session();
    delivers();
    all_late();
    room_does_not_outweigh_being_late(1);
    room_does_not_outweigh_being_late(2);
    refuses();
    cannot_be_sent();
    ends();
    over();
    return t_done();
}
