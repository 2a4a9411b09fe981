#ifndef TRAIN_TIMER_H
#define TRAIN_TIMER_H

#include "ranks/ranks.h"
#include "train/shards.h"

/*
 * The seconds that each rank computes, without waiting for others: those
 * between train_timer_start() and train_timer_stop(), summed until they are
 * sent to rank 0.
 */
struct train_timer {
    const struct ranks *ranks;
    double started, computing; /* seconds; sum since the last gather */
    double *seconds;           /* [ranks], their sums on rank 0 */
    char *received;            /* rows and seconds of all ranks */
};

/* train_timer_init() makes a timer for batches of up to that many floats;
 * `ranks` must outlive it. */
void train_timer_init(struct train_timer *timer, const struct ranks *ranks,
                      size_t floats);
void train_timer_release(struct train_timer *timer);

void train_timer_start(struct train_timer *timer);
void train_timer_stop(struct train_timer *timer);

/*
 * train_timer_gather() is ranks->gather of a follower's `z` to rank 0's, with
 * the seconds of each rank after its floats.
 *   from  bytes
 *   z     of a follower: its rows, with space for a double
 */
void train_timer_gather(struct train_timer *timer, const size_t *from,
                        float *z);

/* train_timer_slowest() is train_shards_slowest(); other: of the second
 * encoder, or NULL. */
struct train_slowest train_timer_slowest(struct train_timer *timer,
                                         struct train_timer *other);

#endif
