#ifndef STAGE_WAITING_H
#define STAGE_WAITING_H

#include "wire/next.h"

/*
 * When a stage says that it waits: STAGE_SAY_EVERY_S seconds after the wait
 * began, and as often again.  No clock: `now` is in seconds from any start and
 * never goes back.  Not thread-safe.
 */
#define STAGE_SAY_EVERY_S 10.0

struct stage_waiting {
    struct wire_place at; /* where the trainer is; session -1: not known */
    double since;         /* when it came there, or was idle last */
    double longest;       /* seconds that it was at one place, at most */
    double said;          /* when the wait was said last, or began */
};

/* stage_waiting_begin() begins a wait, for a trainer of which no place is
 * known. */
void stage_waiting_begin(struct stage_waiting *waiting, double now);

/* stage_waiting_moved() returns 1 where the trainer is at another place, or in
 * another session, than when it was called last, and sets at, since and longest
 * then; else 0. */
int stage_waiting_moved(struct stage_waiting *waiting,
                        const struct wire_place *at, double now);

/*
 * stage_waiting_due() returns 1 when the wait is to be said, else 0.
 *   waits   1: somebody is waited for; 0: nobody is, and the next wait begins
 *           now; -1: somebody is, and it is too early to say so
 */
int stage_waiting_due(struct stage_waiting *waiting, int waits, double now);

#endif
