#pragma once

#include <stddef.h>
#include <stdint.h>

#include "run/metrics.h"
#include "util/json.h"

enum { HISTORY_MOST = 4000 }; /* rows */

/*
 * The metrics of each step of a run, read from its file, since published
 * messages may be lost.  A zeroed history is empty.
 *
 * Up to HISTORY_MOST steps, a row is a step.  Beyond that, two rows represent a
 * bucket of steps: the minimum and the maximum of each column, in the order of
 * their steps.  Whenever the rows are full, the length of a bucket doubles.
 */
struct history {
    struct run_metrics step;     /* the last step that was read */
    size_t n;                    /* rows */
    int64_t bucket;              /* steps in a bucket; 0: a row is a step */
    int64_t filled;              /* steps in the last bucket */
    int64_t total[HISTORY_MOST]; /* [n] rising; the first and the last step of a
                                  * bucket */
    size_t columns, column_room;
    struct history_column {
        char name[64];
        double *x;   /* [HISTORY_MOST] NaN: the step has no such value */
        double last; /* of the last step */
    } * column;
};

/* history_read() reads new lines of RUN/metrics.jsonl, and appends each as
 * {total, values: {name}} to `steps`, unless it is NULL.  It returns 1 if the
 * run was resumed and the file was cut: the history then has only what is in
 * the file now. */
int history_read(struct history *history, const char *run, json_t *steps);
json_t *history_show_values(const struct value *value, size_t n);

/* history_add() adds a step and returns 1, or 0 if it has no "total".  It drops
 * this and later steps, with their whole buckets, since a resumed run repeats
 * them. */
int history_add(struct history *history, const struct value *value, size_t n);

/* history_total() returns the number of the last step, or 0. */
int64_t history_total(const struct history *history);

/* history_json() returns the rows, {total: [], columns: {name: []}}: no peak is
 * lost, and a falling column does not rise. */
json_t *history_json(const struct history *history);
void history_release(struct history *history);
