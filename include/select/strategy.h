#ifndef SELECT_STRATEGY_H
#define SELECT_STRATEGY_H

#include <stdint.h>

#include "select/layout.h"

/*
 * A strategy orders the samples of one epoch.  To add one: a header, a source
 * and a test in this room, and a row in the table of lib/select/strategy.c.
 */

/* All that a strategy may look at; what else one needs (features of an earlier
 * epoch, groups to keep apart) becomes a field here. */
struct select_task {
    struct select_layout layout;
    uint64_t seed, epoch;
};

struct select_strategy {
    const char *name, *help;

    /* Writes the ids of the whole epoch, batch behind batch, as a function of
     * the task alone:  ids [select_layout_total()].  No id twice in a batch. */
    void (*order)(const struct select_task *task, int64_t *ids);
};

/* select_strategy_find() returns the strategy of that name; NULL with the
 * list of names. */
const struct select_strategy *select_strategy_find(const char *name,
                                                   struct err *err);

#endif
