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

/* Of the objectives; of strategy and sizes of batches. */
extern const struct opt method_opts[], batches_opts[];

/* A method, as eval_frozen_new() wants it; `sampler` is in it. */
struct method {
    const char *name; /* as the user has it */
    struct eval_frozen_how how;
    struct sample_how sampler;
};

/* method_read() reads the method of one objective, or the process ends. */
void method_read(struct method *method, const char *objective);

/* method_batches() reads the list of sizes, 2 .. most; returns how many. */
size_t method_batches(size_t most, size_t batch[LIST_MOST]);

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

/*
 * method_each() opens the rows and calls `measure` for each objective and each
 * size of batches, or ends the process; objectives are refused before there is
 * work.
 *   begin  is called once the rows are open
 */
void method_each(struct instrument *in, char **path, int train,
                 void (*begin)(void *self, char **path),
                 void (*measure)(void *self, const struct method *method),
                 void *self);

/*
 * Figures with their intervals against the size of batches: a picture with a
 * panel for each figure and a line for each name.
 */
enum { CURVES_PANELS = 3 };

struct curves_panel {
    const char *label;
    int logarithms; /* 1: what is below 1e-6 is drawn there */
};

struct curves {
    struct curves_point {
        char *name;
        size_t batch;
        struct eval_figure figure[CURVES_PANELS];
    } * point;
    size_t n, room;
};

/* curves_add() adds a point; its name becomes that of `curves`. */
void curves_add(struct curves *curves, char *name, size_t batch,
                const struct eval_figure figure[CURVES_PANELS]);

/* curves_draw() draws them where a picture is wanted, and releases them. */
void curves_draw(struct curves *curves,
                 const struct curves_panel panel[CURVES_PANELS]);

#endif
