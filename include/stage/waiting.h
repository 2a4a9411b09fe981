#ifndef STAGE_WAITING_H
#define STAGE_WAITING_H

#include "wire/next.h"

/*
 * When a stage reports that it waits: every STAGE_REPORT_EVERY_S seconds of a
 * wait.  Reads no clock: `now` is in seconds from any origin and never
 * decreases.  Not thread-safe.
 */
#define STAGE_REPORT_EVERY_S 10.0

struct stage_waiting {
    struct wire_place at; /* where the trainer is; session -1: unknown */
    double since;         /* when it got there, or was idle last */
    double longest;       /* most seconds it was at one place */
    double reported;      /* when the wait was last reported, or began */
};

/* stage_waiting_begin() begins a wait; the trainer's place is unknown. */
void stage_waiting_begin(struct stage_waiting *waiting, double now);

/* stage_waiting_moved() returns 1 if the trainer's place or session differs
 * from that of the last call, and sets at, since and longest; else 0. */
int stage_waiting_moved(struct stage_waiting *waiting,
                        const struct wire_place *at, double now);

/*
 * stage_waiting_due() returns 1 if the wait must be reported, else 0.
 *   waits   1: the stage waits; 0: it does not, and the next wait begins now;
 *           -1: it waits, but it is too early to report
 */
int stage_waiting_due(struct stage_waiting *waiting, int waits, double now);

#endif
