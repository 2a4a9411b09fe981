#ifndef RUN_STAGES_H
#define RUN_STAGES_H

#include <stddef.h>

#include "wire/events.h"

/*
 * The last status of each stage of a run.  All zeros is an empty list; finding
 * a stage is O(n).  Not thread-safe.
 */
enum { RUN_STAGES_MAX = 500 };

struct run_stage {
    struct wire_status status;
    double received_at; /* as clock_now(); 0: in an earlier run */
    double rate;        /* batches a second, lately; or NaN */
    double made, since; /* batches, and when `rate` was updated */
};

struct run_stages {
    size_t n, room;
    struct run_stage *stage; /* [n], in order of their first status */
};

/* run_stages_put() replaces the status of a stage, or adds the stage; ignored
 * beyond RUN_STAGES_MAX stages. */
void run_stages_put(struct run_stages *stages, const struct wire_status *status,
                    double received_at);

/* run_stages_find() returns a stage by name and number, or NULL. */
struct run_stage *run_stages_find(const struct run_stages *stages,
                                  const char *name, int64_t number);

/* run_stage_value() returns a value from a stage's status by name, or NaN. */
double run_stage_value(const struct run_stage *stage, const char *name);

/*
 * run_stages_save() writes RUN/stages.json, {total, stages: [{stage, number,
 * values}]}; it ignores errors, as no run needs the file.  run_stages_load()
 * adds the stages of that file if it was written after step `total`, > 0.
 */
void run_stages_save(const struct run_stages *stages, const char *run,
                     int64_t total);
void run_stages_load(struct run_stages *stages, const char *run, int64_t total);
void run_stages_release(struct run_stages *stages);

#endif
