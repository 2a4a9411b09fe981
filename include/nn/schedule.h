#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * A number that depends on the epoch e, a real number that grows with each
 * step: the learning rate, a temperature, the weight of a running mean.  It
 * goes from 0 to `base` in w epochs of warm-up, and then from `base` to `end`:
 *
 *     e < w      base e / w
 *     constant   base
 *     cosine     end + (base - end) (1 + cos(pi x)) / 2
 *     quarter    end + (base - end) cos(pi x / 2)
 *     linear     end + (base - end) (1 - x)
 *     wave       end + (base - end) (1 + cos(2 pi (e - w) / P)) / 2
 *     exp        end + (base - end) R ^ (completed epochs after the warm-up)
 *     step       base 0.1 ^ (number of listed epochs up to e)
 *
 * with x = min(1, (e - w) / S) over a span of S epochs; by default to the end
 * of the run, S = E - w.
 *
 * cosine with warm-up is that of lib/algorithms.md 6, and over a span that of
 * the running means of LibAUC; wave is the inverse temperature in EMC2's
 * program; quarter and exp are for the rate of temperatures.
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
    double drop[NN_MAX_DROPS];        /* step: these epochs, ascending */
    size_t drops;
};

/*
 * nn_schedule_parse() reads "constant"; "cosine", "quarter" or "linear", also
 * with a span as in "cosine:50"; "wave:P", "exp:R" or "step:60,80".  Returns 0,
 * or -1 for any other text.  It does not change base, end, warmup and epochs.
 */
int nn_schedule_parse(const char *text, struct nn_schedule *schedule,
                      struct err *err);

/* nn_schedule_at() returns the number at e, 0 <= e <= epochs. */
double nn_schedule_at(const struct nn_schedule *schedule, double epoch);
