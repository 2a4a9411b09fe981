#ifndef NN_SCHEDULE_H
#define NN_SCHEDULE_H

#include <stddef.h>

#include "util/err.h"

/*
 * A number that moves with the epoch e, a real number that moves with each
 * iteration: the learning rate, a temperature, the weight of a running mean.
 * From `base` to `end` after w epochs of warm-up, which begin at exactly 0:
 *
 *     e < w      base e / w
 *     constant   base
 *     cosine     end + (base - end) (1 + cos(pi x)) / 2
 *     quarter    end + (base - end) cos(pi x / 2)
 *     linear     end + (base - end) (1 - x)
 *     wave       end + (base - end) (1 + cos(2 pi (e - w) / P)) / 2
 *     exp        end + (base - end) R ^ (how many epochs have ended)
 *     step       base 0.1 ^ (how many of the given epochs have begun)
 *
 * x goes from 0 to 1 and stays there: (e - w) / S over a span of S epochs,
 * those up to the end of the run, E - w, where S is not given.
 *
 * The cosine with warm-up is that of lib/algorithms.md 6; over a span
 * that of the running means of LibAUC; wave is the inverse temperature of
 * EMC2's code; quarter and exp are for the rate of temperatures.
 */
enum nn_schedule_kind {
    NN_SCHEDULE_CONSTANT,
    NN_SCHEDULE_COSINE,
    NN_SCHEDULE_QUARTER,
    NN_SCHEDULE_LINEAR,
    NN_SCHEDULE_WAVE,
    NN_SCHEDULE_EXP,
    NN_SCHEDULE_STEP
};
enum { NN_MAX_DROPS = 16 };

struct nn_schedule {
    enum nn_schedule_kind kind;
    double base, end, warmup, epochs; /* epochs: E */
    double number;                    /* S (0: up to the end), P or R */
    double drop[NN_MAX_DROPS];        /* step: at these epochs, rising */
    size_t drops;
};

/*
 * nn_schedule_parse() reads "constant", "cosine", "quarter", "linear", these
 * three also with a span as in "cosine:50", "wave:P", "exp:R" or "step:60,80".
 * The fields base, end, warmup and epochs are left alone.
 */
int nn_schedule_parse(const char *text, struct nn_schedule *schedule,
                      struct err *err);

/* nn_schedule_at() returns the number at e, 0 <= e <= epochs. */
double nn_schedule_at(const struct nn_schedule *schedule, double epoch);

#endif
