#ifndef FOIL_TRAIN_DRAWN_H
#define FOIL_TRAIN_DRAWN_H

#include "sample/heaviest.h"
#include "train/negatives.h"
#include "util/arena.h"
#include "wire/feed.h"

/*
 * The negatives with the largest weights in a step, for subscribers of `drawn`.
 * It sits between a learner and its negatives, and costs nothing without a
 * subscriber.
 */
enum { TRAIN_DRAWN = 8 }; /* of each anchor */

struct train_drawn {
    struct train_negatives negatives; /* the wrapped ones */
    int wanted;                       /* 1: needed for this step */
    double sent_at;
    int known; /* 1: `drawn` is of the last step that was weighed */
    struct wire_drawn drawn;
    struct arena arrays; /* of `drawn` */
};

/* train_drawn_negatives() returns negatives that wrap others. */
struct train_negatives train_drawn_negatives(struct train_drawn *drawn,
                                             struct train_negatives negatives);
void train_drawn_release(struct train_drawn *drawn);

/* train_drawn_begin() begins a step.  With a subscriber, one step per quarter
 * of a second is recorded: at b = 128 that costs .84 ms. */
void train_drawn_begin(struct train_drawn *drawn, int followed);

/* train_drawn_send() publishes the record of a step, once. */
void train_drawn_send(struct train_drawn *drawn, struct wire_feed *feed);

#endif
