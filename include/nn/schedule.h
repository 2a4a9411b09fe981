#ifndef NN_SCHEDULE_H
#define NN_SCHEDULE_H

#include <stddef.h>

#include "util/err.h"

/*
 * The learning rate as a function of the epoch e, a real number that moves
 * with each iteration (design/algorithms.md, B.6):
 *
 *     lr(e) = base * ( e < w ? e / w : f(e) )
 *     constant   f = 1
 *     cosine     f = (1 + cos(pi (e - w) / (E - w))) / 2
 *     step       f = 0.1 ^ (how many of the given epochs have begun)
 *
 * with w epochs of warm-up, from exactly 0, out of E.
 */
enum nn_schedule_kind { NN_CONSTANT, NN_COSINE, NN_STEP };
enum { NN_MAX_DROPS = 16 };

struct nn_schedule {
    enum nn_schedule_kind kind;
    double base, warmup, epochs;
    double drop[NN_MAX_DROPS]; /* step: at these epochs, rising */
    size_t drops;
};

/*
 * nn_schedule_parse() reads "constant", "cosine" or "step:60,80"; the other
 * fields are left alone.
 */
int nn_schedule_parse(const char *text, struct nn_schedule *schedule,
                      struct err *err);

/* nn_schedule_rate() returns lr(e), 0 <= e <= epochs. */
double nn_schedule_rate(const struct nn_schedule *schedule, double epoch);

#endif
