#ifndef TRAIN_STATE_H
#define TRAIN_STATE_H

#include <stdint.h>

#include "util/err.h"
#include "util/json.h"

/* The progress of a run and counts of its events; a part of config.json. */
struct train_state {
    int64_t epoch, step;   /* the first step of the plan that was not done */
    int64_t steps, epochs; /* of this epoch; of the run; 0: not known yet */
    int64_t total;         /* steps done */
    int64_t images;        /* images trained */
    int64_t substituted;   /* images that replaced unusable ones */
    int64_t skipped;       /* steps that were not applied because a number was
                              not finite */
    int64_t steps_without_service; /* steps without their negatives service */
    char plan[256]; /* the options of the last step's plan; or "" */
    char order[33]; /* digest of the order of `epoch`, if it has begun and its
                     * plan has one; else "" */
};

/* train_state_put() returns the state as an object, for json_decref(), with a
 * whole number for each count, and the texts that are not "". train_state_get()
 * reads such an object, or one of an older foil; it returns 0, or -1 if a
 * number is missing or out of range, or a text has another type. */
json_t *train_state_put(const struct train_state *state);
int train_state_get(struct train_state *state, const json_t *object,
                    struct err *err);

#endif
