#pragma once

#include <stdatomic.h>

/*
 * Which epochs of a run are evaluated, so that all evaluations take at most a
 * share of the trainer's processor time.  The first evaluation shows its cost;
 * then the distance in epochs is fixed, and stored in RUN/compare/pace, which a
 * resumed run reads.
 */
struct pace {
    const char *run;
    double share;    /* of the trainer's processor time */
    long every;      /* epochs between evaluations; at first a divisor */
    long from;       /* first epoch to evaluate, at first only estimated */
    int fixed;       /* 1: both are final */
    double epochs;   /* done when this process started */
    double started;  /* as of clock_now() */
    atomic_long cpu; /* the trainer's processor time in milliseconds, which
                        another thread may set */
    struct {
        double trainer, own; /* seconds of processor time */
        double clock;        /* s */
    } before;                /* at the start of an evaluation */
};

/* pace_open() reads what the run has stored; `run`, `share`, `every` and `from`
 * are set, the rest is zero. */
void pace_open(struct pace *pace);

/* pace_epoch() returns the epoch that ends at a checkpoint; 0 if none does, or
 * it is the last of the run. */
long pace_epoch(const struct pace *pace, long step);
int pace_is_due(const struct pace *pace, long epoch);

/* These enclose the evaluation of an epoch.  pace_end() fixes the pace after
 * the first one, or ends the process if it cannot store it.
 *   prepared  processor seconds of it that later ones do not need */
void pace_begin(struct pace *pace);
void pace_end(struct pace *pace, long epoch, double prepared);
