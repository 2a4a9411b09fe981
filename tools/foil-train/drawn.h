#ifndef FOIL_TRAIN_DRAWN_H
#define FOIL_TRAIN_DRAWN_H

#include "sample/heaviest.h"
#include "train/negatives.h"
#include "wire/feed.h"

/*
 * Which negatives a sampler gave the most weight, for those who follow it.  It
 * stands between a learner and its negatives, and costs nothing while nobody
 * does.
 */
enum { TRAIN_DRAWN = 8 }; /* of each anchor */

struct train_drawn {
    struct train_negatives negatives; /* that are asked */
    int wanted;                       /* in this step */
    double told_at;
    int known; /* of the step that was weighed last */
    struct sample_heaviest heaviest;
    size_t room; /* rows of its arrays */
    int64_t columns;
    double beta;
    char sampler[64];
};

/* train_drawn_negatives() returns the same negatives, heard on their way. */
struct train_negatives train_drawn_negatives(struct train_drawn *drawn,
                                             struct train_negatives negatives);
void train_drawn_release(struct train_drawn *drawn);

/* train_drawn_begin() begins a step, which is told of where somebody follows it
 * and the last one was a quarter of a second ago: at b = 128 it costs .84 ms.
 */
void train_drawn_begin(struct train_drawn *drawn, int followed);

/* train_drawn_tell() publishes what is known of a step, once. */
void train_drawn_tell(struct train_drawn *drawn, struct wire_feed *feed,
                      int64_t epoch, int64_t step, size_t n,
                      const int64_t *ids);

#endif
