#ifndef FOIL_VIEW_HISTORY_H
#define FOIL_VIEW_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "run/metrics.h"
#include "util/json.h"

enum { HISTORY_MOST = 32768 }; /* rows */

/*
 * The numbers of each step of a run, as its file has them: what is published
 * may be lost.  Zeros are an empty one.
 *
 * A row is a step, until there are HISTORY_MOST.  From then on two rows stand
 * for the steps of a bucket: the least and the most of each column, in the
 * order of their steps.  Each time that the rows are full, buckets become twice
 * as long.
 */
struct history {
    struct run_metrics step; /* the last that was read */
    size_t n, room;          /* rows */
    int64_t bucket;          /* steps of a bucket; 0: a row is a step */
    int64_t filled;          /* steps in the last bucket */
    int64_t *total; /* [n] rising; of a bucket, its first and its last step */
    size_t columns, column_room;
    struct history_column {
        char name[64];
        double *x;   /* [n] NaN: the step has no such number */
        double last; /* of the last step */
    } * column;
};

/* history_read() takes in what is new in RUN/metrics.jsonl.  It returns 1 where
 * steps are not in it any more that were there, for its run was resumed: they
 * are forgotten. */
int history_read(struct history *history, const char *run);

/* history_add() takes in a step; 0 where it has no "total".  Steps from that
 * one on are forgotten, with the whole of its bucket: a run that was resumed
 * does them again. */
int history_add(struct history *history, const struct value *value, size_t n);

/* history_total() returns the number of the last step, 0 where there is none.
 */
int64_t history_total(const struct history *history);

/* history_column() returns a column, [n], NULL where there is none. */
const double *history_column(const struct history *history, const char *name);

/*
 * history_show() returns {total: [], columns: {name: []}} of at most `most`
 * points.  Where there are more steps, two points stand for the steps of a
 * bucket, with the least and the most of each column in their order: no peak is
 * lost, and what falls does not rise.
 */
json_t *history_show(const struct history *history, size_t most);

/* history_last() returns the last step, {total, values: {name}}; n > 0. */
json_t *history_last(const struct history *history);
void history_release(struct history *history);

#endif
