#ifndef RUN_STAGES_H
#define RUN_STAGES_H

#include <stddef.h>

#include "wire/status.h"

/*
 * How the stages of a run are, each by its last status.  Zeros are an empty
 * list; a stage is found in O(n).  Not for two threads at once.
 */
enum { RUN_STAGES_MAX = 500 };

struct run_stage {
    struct wire_status status;
    double heard;       /* when, as clock_now(); 0: in an earlier run */
    double rate;        /* batches that it made a second, lately; or NaN */
    double made, since; /* batches, and when they were counted for the rate */
};

struct run_stages {
    size_t n, room;
    struct run_stage *stage; /* [n], by the time of their first status */
};

/* run_stages_put() takes a status, in place of the one before of that stage;
 * those of more than RUN_STAGES_MAX stages are left out. */
void run_stages_put(struct run_stages *stages, const struct wire_status *status,
                    double heard);

/* run_stages_find() returns a stage by name and number, or NULL. */
struct run_stage *run_stages_find(const struct run_stages *stages,
                                  const char *name, int64_t number);

/* run_stage_value() returns a value of a stage by its name, or NaN. */
double run_stage_value(const struct run_stage *stage, const char *name);

/*
 * run_stages_save() writes RUN/stages.json, {total, stages: [{stage, number,
 * values}]}; that it cannot be written is no error, for no run needs it.
 * run_stages_load() adds what is in that file, where it was written after step
 * `total`, > 0.
 */
void run_stages_save(const struct run_stages *stages, const char *run,
                     int64_t total);
void run_stages_load(struct run_stages *stages, const char *run, int64_t total);
void run_stages_release(struct run_stages *stages);

#endif
