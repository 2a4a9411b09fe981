#ifndef TESTS_BENCH_SHORTEST_H
#define TESTS_BENCH_SHORTEST_H

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "util/clock.h"

/* Runs a step 1 + steps times, the first uncounted, and prints the shortest
 * time, in ms, and the peak memory, in MB. */
static void
print_shortest(void (*step)(void *bench, size_t i), void *bench, size_t steps)
{
    double best = HUGE_VAL;
    struct rusage usage;

    for (size_t i = 0; i <= steps; i++) {
        const double start = clock_now();

        step(bench, i);
        if (i > 0)
            best = fmin(best, clock_now() - start);
    }
    getrusage(RUSAGE_SELF, &usage);
    printf("%.2f %.0f\n", best * 1e3, (double)usage.ru_maxrss / 1024);
}

#endif
