#include "t.h"
#include "util/rng.h"
#include "wire/lease.h"

static struct wire_place
step(int64_t k)
{
    return (struct wire_place){.epoch = k / 10, .step = k % 10};
}

static void
give(struct wire_leases *leases, int64_t k, uint64_t peer, double now)
{
    const struct wire_place at = step(k);

    wire_leases_give(leases, &at, peer, now);
}

/* The next to be handed out again, or -1. */
static int64_t
next(struct wire_leases *leases, double now)
{
    struct wire_place at;

    return wire_leases_next(leases, now, &at) ? at.epoch * 10 + at.step : -1;
}

static void
by_hand(void)
{
    struct wire_leases *leases = wire_leases_new(10);
    const struct wire_place five = step(5), nine = step(9);

    T(next(leases, 0) == -1 && wire_leases_due(leases, 0) > 1e8, "empty");
    give(leases, 12, 1, 0);
    give(leases, 5, 2, 1);
    give(leases, 9, 1, 2);
    T(wire_leases_size(leases) == 3 && next(leases, 3) == -1, "all leased");
    T(wire_leases_holder(leases, &five) == 2, "who has it");
    T_NEAR(wire_leases_due(leases, 3), 7, 1e-12, "the first deadline");
    T(wire_leases_drop(leases, 1) == 2, "a peer is gone with two");
    T(next(leases, 3) == 9, "the lowest comes first");
    T(wire_leases_due(leases, 3) == 0, "and is due now");
    give(leases, 9, 3, 3);
    T(wire_leases_size(leases) == 3, "given anew, it is still one");
    T(next(leases, 3) == 12, "then the next");
    give(leases, 12, 3, 3);
    T(next(leases, 3) == -1, "then none");
    T(next(leases, 11) == 5, "a deadline passes");
    T(wire_leases_done(leases, &nine) == 1, "done: before, not at");
    T(wire_leases_holder(leases, &five) == 0, "nobody has what is done");
    T(wire_leases_size(leases) == 2, "two are left");
    wire_leases_clear(leases);
    T(wire_leases_size(leases) == 0 && next(leases, 99) == -1, "cleared");
    wire_leases_free(leases);
    wire_leases_free(NULL);
}

/* Against a table that is as plain as it can be. */
static void
by_the_book(void)
{
    enum { N = 60, TURNS = 4000 };
    struct {
        int in;
        uint64_t peer;
        double until;
    } book[N] = {0};
    struct wire_leases *leases = wire_leases_new(5);
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
            wire_leases_drop(leases, peer);
            for (int i = 0; i < N; i++)
                if (book[i].peer == peer)
                    book[i].peer = 0;
            break;
        case 1:
            wire_leases_done(leases, &at);
            for (int i = 0; i < k; i++)
                book[i].in = 0;
            break;
        default:
            wire_leases_give(leases, &at, peer, now);
            book[k].in = 1;
            book[k].peer = peer;
            book[k].until = now + 5;
        }
        for (int i = N; i-- > 0;) {
            open += (size_t)book[i].in;
            if (book[i].in && (!book[i].peer || now >= book[i].until))
                want = i;
        }
        bad += next(leases, now) != want || wire_leases_size(leases) != open;
    }
    T(bad == 0, "as a plain table says, over %d turns", TURNS);
    wire_leases_free(leases);
}

int
main(void)
{
    by_hand();
    by_the_book();
    return t_done();
}
