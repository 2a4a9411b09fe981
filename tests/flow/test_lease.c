#include "flow/lease.h"
#include "t.h"
#include "util/rng.h"

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){.epoch = k / 10, .step = k % 10};
}

static void
give(struct flow_leases *leases, int64_t k, uint64_t peer, double now)
{
    const struct wire_place at = step(k);

    flow_leases_give(leases, &at, peer, now);
}

/* The next to be handed out again, or -1. */
static int64_t
next(struct flow_leases *leases)
{
    struct wire_place at;

    return flow_leases_next(leases, &at) ? at.epoch * 10 + at.step : -1;
}

static void
by_hand(void)
{
    struct flow_leases *leases = flow_leases_new(10);
    const struct wire_place five = step(5), nine = step(9);

    T(next(leases) == -1 && flow_leases_due(leases, 0) > 1e8, "empty");
    give(leases, 12, 1, 0);
    give(leases, 5, 2, 1);
    give(leases, 9, 1, 2);
    T(flow_leases_size(leases) == 3 && next(leases) == -1, "all leased");
    T(flow_leases_holder(leases, &five) == 2, "who has it");
    T(flow_leases_due(leases, 99) > 1e8, "no lease ends by itself");
    T(flow_leases_drop(leases, 1) == 2, "a peer is gone with two");
    T(next(leases) == 9, "the lowest comes first");
    T(flow_leases_due(leases, 3) == 0, "and is due now");
    give(leases, 9, 3, 3);
    T(flow_leases_size(leases) == 3, "given anew, it is still one");
    T(next(leases) == 12, "then the next");
    give(leases, 12, 3, 3);
    T(next(leases) == -1, "then none");
    T(flow_leases_done(leases, &nine) == 1, "done: before, not at");
    T(flow_leases_holder(leases, &five) == 0, "nobody has what is done");
    T(flow_leases_size(leases) == 2, "two are left");
    flow_leases_clear(leases);
    T(flow_leases_size(leases) == 0 && next(leases) == -1, "cleared");
    flow_leases_free(leases);
    flow_leases_free(NULL);
}

/* One of three peers holds what the trainer waits for. */
static void
late(void)
{
    struct flow_leases *leases = flow_leases_new(10);
    const struct wire_place five = step(5), six = step(6), seven = step(7);
    struct flow_late late;

    give(leases, 5, 1, 0);
    give(leases, 6, 2, 0);
    give(leases, 7, 1, 1);
    give(leases, 9, 3, 1);
    T(!flow_leases_overdue(leases, 99, &late), "nobody waits, nobody is late");
    flow_leases_wanted(leases, &five);
    T_NEAR(flow_leases_due(leases, 3), 7, 1e-12, "the lease that matters");
    T(!flow_leases_overdue(leases, 9.9, &late), "it is not over yet");
    T(flow_leases_overdue(leases, 10, &late) == 1, "then it is");
    T(late.peer == 1 && late.at.step == 5 && late.taken == 2,
      "the holder loses all that it holds");
    T(!flow_leases_overdue(leases, 10, &late), "once");
    T(next(leases) == 5 && flow_leases_due(leases, 10) == 0, "5 is free");
    T(flow_leases_aside(leases, 1, 49.9), "the holder is set aside");
    T(!flow_leases_aside(leases, 1, 50), "for four leases");
    T(!flow_leases_aside(leases, 2, 11), "no other is");

    give(leases, 5, 1, 50);
    T(flow_leases_overdue(leases, 60, &late) && late.aside == 80,
      "late again: for twice as long");
    give(leases, 5, 3, 60);
    flow_leases_done(leases, &six);
    T(flow_leases_aside(leases, 1, 139), "what another did is not its merit");
    give(leases, 6, 1, 60);
    give(leases, 7, 1, 60);
    flow_leases_done(leases, &seven);
    T(!flow_leases_aside(leases, 1, 61), "until one of its items is trained");
    flow_leases_wanted(leases, &seven);
    T(flow_leases_overdue(leases, 70, &late) && late.aside == 40,
      "which wipes the slate clean");
    flow_leases_drop(leases, 1);
    T(!flow_leases_aside(leases, 1, 71), "who left is forgotten");
    flow_leases_free(leases);
}

/* Against a table that is as plain as it can be. */
static void
by_the_book(void)
{
    enum { N = 60, TURNS = 4000 };
    struct {
        int in;
        uint64_t peer;
    } book[N] = {0};
    struct flow_leases *leases = flow_leases_new(5);
    struct rng rng;
    int bad = 0;

    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (int turn = 0; turn < TURNS; turn++) {
        const double now = turn * 0.1;
        const int64_t k = (int64_t)rng_below(&rng, N);
        const uint64_t peer = 1 + rng_below(&rng, 4);
        const struct wire_place at = step(k);
        int64_t want = -1;
        size_t open = 0;

        switch (rng_below(&rng, 8)) {
        case 0:
            flow_leases_drop(leases, peer);
            for (int i = 0; i < N; i++)
                if (book[i].peer == peer)
                    book[i].peer = 0;
            break;
        case 1:
            flow_leases_done(leases, &at);
            for (int i = 0; i < k; i++)
                book[i].in = 0;
            break;
        default:
            flow_leases_give(leases, &at, peer, now);
            book[k].in = 1;
            book[k].peer = peer;
        }
        for (int i = N; i-- > 0;) {
            open += (size_t)book[i].in;
            if (book[i].in && !book[i].peer)
                want = i;
        }
        bad += next(leases) != want || flow_leases_size(leases) != open;
    }
    T(bad == 0, "as a plain table says, over %d turns", TURNS);
    flow_leases_free(leases);
}

int
main(void)
{
    by_hand();
    late();
    by_the_book();
    return t_done();
}
