#ifndef FOIL_EVAL_METHOD_H
#define FOIL_EVAL_METHOD_H

#include "eval/frozen.h"
#include "instrument.h"

/*
 * The methods to measure on frozen rows: each printed line is of one objective
 * and one batch size.
 */
struct method_settings {
    struct opt_list objectives;
    const char *proposals, *strategy, *batches;
    double tau;
};
extern struct method_settings method_settings;

/* Options on objectives; on strategy and batch sizes. */
extern const struct opt method_opts[], batches_opts[];

/* A method for eval_frozen_new(). */
struct method {
    const char *name; /* of the command line */
    struct eval_frozen_settings settings;
    struct sample_settings sampler; /* if the objective needs weights */
};

/* method_read() reads the method of one objective, or ends the process. */
void method_read(struct method *method, const char *objective);

/* method_batches() reads the list of sizes, 2 .. most; returns their number. */
size_t method_batches(size_t most, size_t batch[LIST_MOST]);

/* method_open() is instrument_open() for rows of two views or more. */
void method_open(struct instrument *in, char **path, int train);

/* method_new() is eval_frozen_new() on the rows of an instrument; ends the
 * process on error. */
struct eval_frozen *method_new(const struct instrument *in,
                               const struct method *method);

/* method_next() is eval_frozen_next(); ends the process on error. */
void method_next(struct eval_frozen *frozen, size_t epoch, size_t step,
                 struct eval_batch *batch);

/* Independent trainers of a method: R epochs of each are measured. */
struct replicas {
    const struct instrument *in;
    const struct instrument *before; /* rows of the epochs before; or NULL */
    const struct method *method;
    size_t n;               /* trainers; the k-th adds k to the seed */
    size_t warm_up, epochs; /* of each; those before are not measured */
    void (*measure)(void *self, size_t replica, struct eval_frozen *frozen,
                    const struct eval_batch *batch);
    void *self;
};

/* method_replicate() runs the trainers, and calls measure() for each batch of a
 * measured epoch; ends the process on error. */
void method_replicate(const struct replicas *replicas);

/* method_has_state() returns 1 if objective or sampler have per-sample state
 * that lasts from one epoch to the next. */
int method_has_state(const struct method *method);

/* method_describe() adds the method to a protocol. */
void method_describe(json_t *how, const struct method *method);

/*
 * method_each() opens the rows and calls `measure` for each objective and each
 * batch size, or ends the process.  Checks all objectives first.
 *   begin  called once the rows are open
 */
void method_each(struct instrument *in, char **path, int train,
                 void (*begin)(void *self, char **path),
                 void (*measure)(void *self, const struct method *method),
                 void *self);

/*
 * A picture of figures with intervals against batch size: a panel for each
 * figure and a line for each name.
 */
enum { CURVES_PANELS = 3 };

struct curves_panel {
    const char *label;
    int logarithms; /* 1: logarithmic, from 1e-6 */
};

struct curves {
    struct curves_point {
        char *name;
        size_t batch;
        struct eval_figure figure[CURVES_PANELS];
    } * point;
    size_t n, room;
};

/* curves_add() adds a point; `curves` owns its name. */
void curves_add(struct curves *curves, char *name, size_t batch,
                const struct eval_figure figure[CURVES_PANELS]);

/* curves_draw() draws them with --plot, and releases them. */
void curves_draw(struct curves *curves,
                 const struct curves_panel panel[CURVES_PANELS]);

#endif
