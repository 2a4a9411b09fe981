#ifndef FOIL_TRAIN_TOP_NEGATIVES_H
#define FOIL_TRAIN_TOP_NEGATIVES_H

#include "sample/source.h"
#include "train/negatives.h"
#include "util/arena.h"
#include "wire/feed.h"

/*
 * The negatives with the largest weights in a step, for subscribers of
 * top_negatives. It sits between a learner and its negatives, and costs nothing
 * without a subscriber.
 */
enum { TRAIN_TOP_NEGATIVES = 8 }; /* of each anchor */

struct train_top_negatives {
    struct train_negatives negatives; /* the wrapped ones */
    int wanted;                       /* 1: needed for this step */
    double sent_at;
    int known; /* 1: `message` is of the last step that was weighed */
    struct wire_top_negatives message;
    struct arena arrays; /* of `message` */
};

/* train_top_negatives_wrap() returns negatives that wrap others. */
struct train_negatives
train_top_negatives_wrap(struct train_top_negatives *top,
                         struct train_negatives negatives);
void train_top_negatives_release(struct train_top_negatives *top);

/* train_top_negatives_begin() begins a step.  With a subscriber, one step per
 * quarter of a second is recorded: at b = 128 that costs .84 ms. */
void train_top_negatives_begin(struct train_top_negatives *top, int followed);

/* train_top_negatives_send() publishes the record of a step, once. */
void train_top_negatives_send(struct train_top_negatives *top,
                              struct wire_feed *feed);

#endif
