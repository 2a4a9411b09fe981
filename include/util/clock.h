#ifndef UTIL_CLOCK_H
#define UTIL_CLOCK_H

#include <stdint.h>

/* clock_now() returns seconds since some start, never going back. */
double clock_now(void);

/* clock_wall() returns nanoseconds since 1970: for names, not for waiting. */
uint64_t clock_wall(void);

/* clock_cpu() returns the seconds of processor time this process has used. */
double clock_cpu(void);

#endif
