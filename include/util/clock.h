#pragma once

#include <pthread.h>
#include <stdint.h>

/* clock_now() returns seconds since an arbitrary start; it never decreases
 * (CLOCK_MONOTONIC). */
double clock_now(void);

/* clock_cond_init() initialises a condition variable of this clock;
 * clock_cond_wait() waits for it, as pthread_cond_timedwait(), up to `seconds`
 * from now: 0 if they have passed, else 1. */
void clock_cond_init(pthread_cond_t *cond);
int clock_cond_wait(pthread_cond_t *cond, pthread_mutex_t *lock,
                    double seconds);

/* clock_wall() returns nanoseconds since 1970: for names, not for waiting. */
uint64_t clock_wall(void);

/* clock_cpu() returns the seconds of processor time this process has used. */
double clock_cpu(void);

/* clock_cpu_of() returns the seconds of processor time that a thread, not
 * joined yet, has used; 0 if the system does not report it. */
double clock_cpu_of(pthread_t thread);

/* clock_span() formats a number of seconds as 59s, 12m05s or 3h07m. */
void clock_span(double seconds, char text[24]);
