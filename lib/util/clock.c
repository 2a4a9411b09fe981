#include <stdio.h>
#include <time.h>

#include "util/clock.h"

static double
seconds_of(clockid_t id)
{
    struct timespec t = {0};

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double
clock_now(void)
{
    return seconds_of(CLOCK_MONOTONIC);
}

void
clock_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t attr;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &attr);
    pthread_condattr_destroy(&attr);
}

int
clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock, double seconds)
{
    const double until = clock_now() + seconds;
    const struct timespec at = {
        .tv_sec = (time_t)until,
        .tv_nsec = (long)((until - (double)(time_t)until) * 1e9)};

    return !pthread_cond_timedwait(cond, lock, &at);
}

uint64_t
clock_wall(void)
{
    struct timespec t = {0};

    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double
clock_cpu(void)
{
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double
clock_cpu_of(pthread_t thread)
{
    clockid_t id;

    return pthread_getcpuclockid(thread, &id) ? 0 : seconds_of(id);
}

void
clock_span(double seconds, char text[24])
{
    const double most = 3599999; // three digits of hours
    const unsigned s = seconds > most ? (unsigned)most
                       : seconds > 0  ? (unsigned)(seconds + 0.5)
                                      : 0;

    if (s < 60)
        snprintf(text, 24, "%us", s);
    else if (s < 3600)
        snprintf(text, 24, "%um%02us", s / 60, s % 60);
    else
        snprintf(text, 24, "%uh%02um", s / 3600, s / 60 % 60);
}
