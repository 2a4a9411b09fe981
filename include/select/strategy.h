#ifndef SELECT_STRATEGY_H
#define SELECT_STRATEGY_H

#include <stdint.h>

#include "select/layout.h"

/*
 * A strategy orders the samples of one epoch.  To add one: a header, a source
 * and a test in this room, and a row in the table of lib/select/strategy.c.
 */

/*
 * What the encoder made of the samples, by id, rows of unit length: u of their
 * first view and v of their second.  Both may be one array.
 */
struct select_features {
    size_t d;
    const float *u, *v;   /* [N,d] each */
    const uint8_t *known; /* [N] 0: no row yet, to be placed at random; NULL:
                             all are known */
};

/* Which matrix the spectral strategy clusters; select/spectral.h. */
enum select_variant { SELECT_NJW, SELECT_CODE, SELECT_LITERAL, SELECT_KMEANS };

/* What a user may set; each strategy reads what its header names. */
struct select_param {
    double tau;                  /* temperature of the batch loss, > 0 */
    enum select_variant variant; /* spectral */
    size_t block;                /* spectral, swap: batches that are planned
                                    together; 0 for swap: the whole data set */
    size_t restarts;             /* spectral: of k-means, >= 1 */
    size_t draws, keep;          /* osgd: of so many batches the so many
                                    with the largest loss, keep <= draws */
    int replace;                 /* osgd: with replacement */
    int refine;                  /* any: swap afterwards */
    double hardness;             /* any with features: 0 .. 1, from what a
                                    shuffle has to what the strategy can;
                                    select/soften.h */
};

/* All that a strategy may look at. */
struct select_task {
    struct select_layout layout;
    uint64_t seed, epoch;
    struct select_param param;
    const struct select_features *features; /* NULL: none yet; then the
                                               order is that of shuffle */
    const int64_t *group; /* [N] samples of one group >= 0 are not to share a
                             batch, where that can be helped; or NULL */
};

struct select_strategy {
    const char *name, *help;
    int wants_features; /* of an earlier epoch */

    /*
     * Judges layout and parameters, and shortens the layout where the strategy
     * does not train every batch of it; or NULL: every layout as it is.
     */
    int (*fit)(struct select_layout *layout, const struct select_param *param,
               struct err *err);

    /*
     * Writes the ids of the whole epoch, batch behind batch, as a function of
     * the task alone:  ids [select_layout_total()].  No id twice in a batch.
     */
    void (*order)(const struct select_task *task, int64_t *ids);
};

/* The parameters' defaults. */
struct select_param select_param_default(void);

/* select_strategy_find() returns the strategy of that name; NULL with the
 * list of names. */
const struct select_strategy *select_strategy_find(const char *name,
                                                   struct err *err);

/* select_strategy_at() returns the i-th strategy; NULL past the last. */
const struct select_strategy *select_strategy_at(size_t i);

/*
 * select_strategy_fit() judges what a user asks of a strategy, and shortens
 * the layout as it will be trained.  Call it before the task is made.
 */
int select_strategy_fit(const struct select_strategy *strategy,
                        struct select_layout *layout,
                        const struct select_param *param, struct err *err);

/*
 * select_strategy_order() writes the epoch of a strategy; without features it
 * is that of shuffle where the strategy wants them.  Then, where the
 * parameters say so, it is refined (select/swap.h) and softened
 * (select/soften.h), and samples of one group are parted (select/avoid.h).
 */
void select_strategy_order(const struct select_strategy *strategy,
                           const struct select_task *task, int64_t *ids);

#endif
