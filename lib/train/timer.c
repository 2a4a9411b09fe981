#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/mem.h"

#include "timer.h"

void
train_timer_init(struct train_timer *timer, const struct ranks *ranks,
                 size_t floats)
{
    *timer = (struct train_timer){.ranks = ranks};
    if (ranks->rank || ranks->size == 1)
        return;
    timer->seconds = mem_array(ranks->size, sizeof *timer->seconds);
    timer->received = mem_array(
        floats * sizeof(float) + ranks->size * sizeof timer->computing, 1);
}

void
train_timer_release(struct train_timer *timer)
{
    free(timer->seconds);
    free(timer->received);
}

/* A clock without the time of waiting for other ranks. */
static double
own_clock(const struct ranks *ranks)
{
    return clock_now() - (ranks->seconds ? *ranks->seconds : 0);
}

void
train_timer_start(struct train_timer *timer)
{
    timer->started = own_clock(timer->ranks);
}

void
train_timer_stop(struct train_timer *timer)
{
    timer->computing += own_clock(timer->ranks) - timer->started;
}

/* Takes rows and seconds of all other ranks. */
static void
take_received(struct train_timer *timer, const size_t *from, float *z)
{
    timer->seconds[0] += timer->computing;
    for (size_t r = 1; r < timer->ranks->size; r++) {
        const size_t bytes = from[r + 1] - from[r];
        const char *received = timer->received + from[r] + r * sizeof(double);
        double took;

        memcpy((char *)z + from[r], received, bytes);
        memcpy(&took, received + bytes, sizeof took);
        timer->seconds[r] += took;
    }
}

void
train_timer_gather(struct train_timer *timer, const size_t *from, float *z)
{
    const struct ranks *ranks = timer->ranks;
    const size_t rank = ranks->rank, length = sizeof timer->computing;
    size_t at[TRAIN_SHARDS_MOST + 1];

    for (size_t r = 0; r <= ranks->size; r++)
        at[r] = from[r] + r * length;
    if (rank)
        memcpy((char *)z + (from[rank + 1] - from[rank]), &timer->computing,
               length);
    ranks->gather(ranks->self, z, at, timer->received);
    if (!rank)
        take_received(timer, from, z);
    timer->computing = 0;
}

struct train_slowest
train_timer_slowest(struct train_timer *timer, struct train_timer *other)
{
    struct train_slowest slowest = {0};
    double all = 0, most = 0;

    for (size_t r = 0; r < timer->ranks->size; r++) {
        const double took = timer->seconds[r] + (other ? other->seconds[r] : 0);

        all += took;
        if (took > most) {
            most = took;
            slowest.rank = r;
        }
        timer->seconds[r] = 0;
        if (other)
            other->seconds[r] = 0;
    }
    slowest.excess = most - all / (double)timer->ranks->size;
    return slowest;
}
