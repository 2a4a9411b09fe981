#ifndef TRAIN_TIMER_H
#define TRAIN_TIMER_H

#include "ranks/ranks.h"
#include "train/shards.h"

/*
 * How long each rank computes, without what it waits for others: between
 * train_timer_start() and train_timer_stop(), added up until it tells rank 0.
 */
struct train_timer {
    const struct ranks *ranks;
    double started, computing; /* seconds; these, since it told */
    double *seconds;           /* [ranks] at rank 0, since it was asked .. */
    char *told;                /* .. and what all tell it with their rows */
};

/* train_timer_init() makes one for batches of up to so many floats; `ranks`
 * must stay. */
void train_timer_init(struct train_timer *timer, const struct ranks *ranks,
                      size_t floats);
void train_timer_release(struct train_timer *timer);

void train_timer_start(struct train_timer *timer);
void train_timer_stop(struct train_timer *timer);

/*
 * train_timer_gather() is ranks->gather of a follower's `z` to that of rank 0,
 * and of how long each has computed, behind its floats.
 *   from  bytes
 *   z     of a follower: its own, and room for a double
 */
void train_timer_gather(struct train_timer *timer, const size_t *from,
                        float *z);

/* train_timer_slowest() is train_shards_slowest(); other: NULL, or a second. */
struct train_slowest train_timer_slowest(struct train_timer *timer,
                                         struct train_timer *other);

#endif
