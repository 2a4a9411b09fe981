/*
 * The machines of lib/flow in virtual time, over a network that loses, doubles
 * and delays messages, between parties that are killed, hang, stop and lie.
 * Whatever happens, after each event
 *
 *     what a producer hands out is wanted and nobody's, within the room of who
 *     gets it, and its book is that of a naive one (tests/flow/check.h)
 *     nothing that is wanted is nobody's while a peer has room
 *     a relay makes and sends the lowest that is wanted, has what a naive one
 *     has (tests/flow/check_relay.h), and has said so within a second
 *     the trainer has told all what it holds, by a naive book of it and of who
 *     said end (tests/flow/check_trainer.h); no more than the window
 *     nobody speaks before it was greeted
 *     nobody is late by a snapshot from before the end of its lease
 *     each place is trained once, in order
 *
 * and the run ends, within the time that its faults may cost.  Without faults
 * no item goes out twice.
 *
 * usage: test_simulation [N [SEED]]     N schedules from SEED on
 *        test_simulation 1 SEED         one, told event by event
 *
 * The first one that fails is told like that, too.
 */
#include "t.h"

#include "flow/parties.h"
#include "flow/schedule.h"

/* N schedules: so many do not go as they should. */
static uint64_t
run_all(struct world *w, uint64_t first, uint64_t n, double *longest)
{
    uint64_t bad = 0;

    for (uint64_t seed = first; seed < first + n; seed++) {
        if (!run(w, seed, n == 1) && bad++ < 20) {
            printf("# seed %ju: after %.1f s and %d of %d: %s\n",
                   (uintmax_t)seed, w->now, w->trained, w->places, w->wrong);
            if (bad == 1 && n > 1)
                run(w, seed, 1);
        }
        *longest = fmax(*longest, w->now);
    }
    return bad;
}

int
main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 2000,
                   first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    struct world w = {0};
    double longest = 0;
    const uint64_t bad = run_all(&w, first, n, &longest);

    free(w.due);
    free(w.event);
    free(w.spare);
    printf("# from seed %ju on; the longest took %.1f s\n", (uintmax_t)first,
           longest);
    T(!bad, "%ju of %ju schedules go as they should", (uintmax_t)(n - bad),
      (uintmax_t)n);
    return t_done();
}
