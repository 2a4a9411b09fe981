#ifndef TRAIN_STATE_H
#define TRAIN_STATE_H

#include <stdint.h>

#include "util/err.h"
#include "util/json.h"

/* How far a run is, and counts of its events; a part of config.json. */
struct train_state {
    int64_t epoch, step;   /* the first step of the plan that is not done */
    int64_t steps, epochs; /* in its epoch; in all; 0: not known yet */
    int64_t total;         /* steps done */
    int64_t images;        /* trained in these steps */
    int64_t substituted;   /* of these, substitutes for unusable ones */
    int64_t skipped;       /* steps that were not applied: not finite */
    int64_t steps_without_service; /* steps without their negatives service */
    char plan[256]; /* the options of the last step's plan; or "" */
    char order[33]; /* a digest of the order of `epoch`, where it has begun and
                     * its plan names it; else "" */
};

/* train_state_put() returns it as an object, to be given to json_decref(), with
 * a whole number for each count, and the texts that are not "";
 * train_state_get() reads one back: 0, or -1 where a number is missing or out
 * of range, or a text is none. */
json_t *train_state_put(const struct train_state *state);
int train_state_get(struct train_state *state, const json_t *object,
                    struct err *err);

#endif
