#ifndef TESTS_BENCH_SHORTEST_H
#define TESTS_BENCH_SHORTEST_H

#include <math.h>
#include <stdio.h>
#include <sys/resource.h>

#include "util/clock.h"

/* Runs a step 1 + steps times, the first uncounted; returns the shortest time,
 * in ms. */
static inline double
shortest(void (*step)(void *bench, size_t i), void *bench, size_t steps)
{
    double best = HUGE_VAL;

    for (size_t i = 0; i <= steps; i++) {
        const double start = clock_now();

        step(bench, i);
        if (i > 0)
            best = fmin(best, clock_now() - start);
    }
    return best * 1e3;
}

/* The most memory that this process has had, in MB. */
static inline double
peak_memory(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Prints both. */
static inline void
print_shortest(void (*step)(void *bench, size_t i), void *bench, size_t steps)
{
    const double best = shortest(step, bench, steps);

    printf("%.2f %.0f\n", best, peak_memory());
}

#endif
