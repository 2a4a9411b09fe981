/*
 * The rules of version 1 (tests/flow/credit.h) in the same world, on the same
 * schedules: they fail.  A run that is not over ten minutes after the most
 * that its faults may cost hangs for good; the test looks for one with three
 * augmenters on a network that loses nothing.
 *
 * usage: test_credit [N [SEED]]     N schedules from SEED on, or until one
 * hangs
 *        test_credit 1 SEED         one, with a log of its events
 */
#include <time.h>

#include "t.h"

#include "flow/credit.h"
#include "flow/schedule.h"

int
main(int argc, char **argv)
{
    const uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000,
                   first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    struct world w = {.grace = 600};
    uint64_t seed = first, stalls = 0;
    int hangs = 0;

    for (; seed < first + n && !hangs; seed++) {
        if (run(&w, seed, n == 1))
            continue;
        stalls++;
        hangs = w.relays == 3 && !w.loss && !w.twice;
        printf("# seed %ju: %d augmenters, window %d, hangs at %d of %d\n",
               (uintmax_t)seed, w.relays, w.window, w.trained, w.places);
    }
    free(w.due);
    free(w.event);
    free(w.spare);
    printf("# %ju of %ju hang; %.1f s of processor time\n", (uintmax_t)stalls,
           (uintmax_t)(seed - first), (double)clock() / CLOCKS_PER_SEC);
    T(hangs, "credit that adds up: a run with three augmenters hangs");
    return t_done();
}
