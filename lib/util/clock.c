#include <time.h>

#include "util/clock.h"

static struct timespec
read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return t;
}

double
clock_now(void)
{
    struct timespec t = read_clock(CLOCK_MONOTONIC);

    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t
clock_wall(void)
{
    struct timespec t = read_clock(CLOCK_REALTIME);

    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double
clock_cpu(void)
{
    struct timespec t = read_clock(CLOCK_PROCESS_CPUTIME_ID);

    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
