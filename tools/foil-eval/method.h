#ifndef FOIL_EVAL_METHOD_H
#define FOIL_EVAL_METHOD_H

#include "eval/frozen.h"
#include "instrument.h"

/*
 * What instruments that train on frozen rows are told of the method: each line
 * that they print is of one objective and one size of batches.
 */
struct method_how {
    struct opt_list objectives;
    const char *proposals, *strategy, *batches;
    double tau;
};
extern struct method_how method_how;

#define METHOD_TAU_OPT                                       \
    {                                                        \
        "tau", 0, OPT_REAL, &method_how.tau, 1e-4, 1e4, "X", \
            "temperature of the objectives"                  \
    }
#define METHOD_OBJECTIVE_OPT                                    \
    {                                                           \
        "objective", 0, OPT_LIST, &method_how.objectives, 0, 0, \
            "NAME[,PARAM=X]...",                                \
            "objectives to measure, one each time; see --list"  \
    }
#define METHOD_PROPOSALS_OPT                                               \
    {                                                                      \
        "proposals", 0, OPT_TEXT, &method_how.proposals, 0, 0,             \
            "NAME[,PARAM=X]...", "the sampler of objectives that have one" \
    }
#define METHOD_STRATEGY_OPT                                                  \
    {                                                                        \
        "strategy", 0, OPT_TEXT, &method_how.strategy, 0, 0,                 \
            "NAME[,PARAM=X]...", "how batches are chosen, as in foil-select" \
    }
#define METHOD_BATCHES_OPT                                          \
    {                                                               \
        "batch", 'b', OPT_TEXT, &method_how.batches, 0, 0, "B,...", \
            "images in a batch"                                     \
    }

enum { METHOD_MOST = 32 }; /* sizes of batches */

/* A method, as eval_frozen_new() wants it; `sampler` is in it. */
struct method {
    const char *name; /* as the user has it */
    struct eval_frozen_how how;
    struct sample_how sampler;
};

/* method_read() reads the method of one objective, or the process ends. */
void method_read(struct method *method, const char *objective);

/* method_strategy() reads the strategy and its parameters, or the process ends.
 *   value [PARAM_MOST] */
const struct select_strategy *method_strategy(double *value);

/* method_objective() returns the i-th objective that was given, or NULL. */
const char *method_objective(size_t i);

/* method_batches() reads the list of sizes; returns how many.
 *   most  2 .. most */
size_t method_batches(size_t most, size_t batch[METHOD_MOST]);

/* method_open() is instrument_open() for rows of two views or more. */
void method_open(struct instrument *in, char **path, int train);

/* method_new() is eval_frozen_new() on the rows of an instrument, or the
 * process ends. */
struct eval_frozen *method_new(const struct instrument *in,
                               const struct method *method);

/* method_next() is eval_frozen_next(), or the process ends. */
void method_next(struct eval_frozen *frozen, size_t epoch, size_t step,
                 struct eval_batch *batch);

/* method_remembers() returns 1 where objective or sampler keep something of
 * samples from one epoch to the next. */
int method_remembers(const struct method *method);

/* method_says() adds what the method is to a protocol. */
void method_says(json_t *how, const struct method *method);

#endif
