#pragma once

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "util/clock.h"

/* The clock for so many threads: others that run here disturb the time of a
 * processor less than that of a clock, but it counts all threads. */
static inline double (*clock_for(const char *threads))(void)
{
    return atoi(threads) == 1 ? clock_cpu : clock_now;
}

/* Runs a step 1 + steps times, the first uncounted; returns the shortest time
 * by that clock, in ms. */
static inline double
shortest(void (*step)(void *bench, size_t i), void *bench, size_t steps,
         double (*now)(void))
{
    double best = HUGE_VAL;

    for (size_t i = 0; i <= steps; i++) {
        const double start = now();

        step(bench, i);
        if (i > 0)
            best = fmin(best, now() - start);
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
print_shortest(void (*step)(void *bench, size_t i), void *bench, size_t steps,
               double (*now)(void))
{
    const double best = shortest(step, bench, steps, now);

    printf("%.2f %.0f\n", best, peak_memory());
}
