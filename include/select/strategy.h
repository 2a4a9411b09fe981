#pragma once

#include <stdint.h>

#include "select/layout.h"
#include "util/param.h"

/* A strategy orders the samples of one epoch.  lib/README.md 5 says how to add
 * one. */

/* Features of the samples, by id, rows of unit length: u of their first view
 * and v of their second.  Both may be one array. */
struct select_features {
    size_t d;
    const float *u, *v;   /* [N,d] each */
    const uint8_t *known; /* [N] 0: no row yet, the place is random; NULL: all
                             are known */
};

/* The parameters of every strategy, before its own. */
enum {
    SELECT_TAU,
    SELECT_BLOCK,
    SELECT_REFINE,
    SELECT_HARDNESS,
    SELECT_OWN_PARAMS
};

#define SELECT_PARAMS                                                         \
    [SELECT_TAU] = {PARAM_REAL("tau", 0.5, 1e-4, 1e4,                         \
                               "temperature of the batch loss in the plan")}, \
    [SELECT_BLOCK] = {PARAM_WHOLE(                                            \
        "block", -1, -1, 1e6,                                                 \
        "batches that are planned together; 0: all; -1: by N")},              \
    [SELECT_REFINE] = {PARAM_FLAG(                                            \
        "refine", "exchange samples between batches afterwards")},            \
    [SELECT_HARDNESS] = {PARAM_REAL(                                          \
        "hardness", 1, 0, 1, "0: as a shuffle .. 1: as hard as possible")}

/* The table of a strategy without parameters of its own. */
extern const struct param select_params[];

/* The input of a strategy. */
struct select_task {
    struct select_layout layout;
    uint64_t seed, epoch;
    double value[PARAM_MOST];               /* of the strategy's parameters */
    const struct select_features *features; /* NULL: none yet; the order is
                                               that of shuffle */
    struct select_windows *windows; /* order of shuffle and fixed; NULL: all
                                       samples are one window */
    const int64_t *group; /* [N] samples of one group >= 0 should not share a
                             batch, if possible; or NULL */
};

struct select_strategy {
    const char *name, *summary;
    const struct param *params; /* SELECT_PARAMS, then its own */
    int needs_features;         /* of an earlier epoch */
    int partial; /* 1: an epoch may leave samples out, or have some twice */

    /*
     * Checks layout and parameters, returns 0 or -1, and shortens the layout if
     * the strategy does not train every batch of it.  NULL: accepts any layout.
     */
    int (*fit)(struct select_layout *layout, const double *value,
               struct err *err);

    /*
     * Writes the ids of the whole epoch, batch after batch, as a function of
     * the task alone:  ids [select_layout_total()].  No id twice in a batch.
     */
    void (*order)(const struct select_task *task, int64_t *ids);
};

/* select_strategy_find() returns the strategy of that name; or NULL with the
 * list of names in err. */
const struct select_strategy *select_strategy_find(const char *name,
                                                   struct err *err);

/* select_shuffle() is the order() of shuffle:  ids [select_layout_total()] */
void select_shuffle(const struct select_task *task, int64_t *ids);

/* The table, terminated by NULL. */
extern const struct select_strategy *const select_strategies[];

/* select_strategy_fit() checks the user's values of a strategy, returns 0 or
 * -1, and shortens the layout to the batches that will be trained.  Call it
 * before the task is made. */
int select_strategy_fit(const struct select_strategy *strategy,
                        struct select_layout *layout, const double *value,
                        struct err *err);

/*
 * select_strategy_order() writes the epoch of a strategy; that of shuffle if
 * the strategy needs features and there are none.  Then it calls
 * select_strategy_finish().
 *   ids [select_layout_total()]
 */
void select_strategy_order(const struct select_strategy *strategy,
                           const struct select_task *task, int64_t *ids);

/* select_strategy_finish() refines an epoch and softens it as the parameters
 * say (lib/select/strategies.h), and separates samples of one group
 * by select_avoid(). */
void select_strategy_finish(const struct select_strategy *strategy,
                            const struct select_task *task, int64_t *ids);

/*
 * select_avoid_count() returns how many pairs of samples of one group share a
 * batch.
 *   group [N] of each sample; < 0: none
 *   ids [select_layout_total()]
 */
size_t select_avoid_count(const struct select_layout *layout,
                          const int64_t *group, const int64_t *ids);

/*
 * select_avoid() separates such pairs in an epoch of any strategy.  A sample
 * that shares its batch with another of its group is exchanged with a sample of
 * another batch, if that leaves fewer pairs in the two batches and no duplicate
 * in either.  The next 256 batches are searched.  Passes over the epoch end
 * when nothing changes, after four at most.  A group of more samples than
 * batches cannot be separated: only 16 batches are searched for its samples.
 * Deterministic.  Returns the number of pairs left.  O(N) if few pairs must be
 * separated.
 */
size_t select_avoid(const struct select_layout *layout, const int64_t *group,
                    int64_t *ids);
