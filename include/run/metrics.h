#pragma once

#include <stdint.h>

#include "run/lines.h"
#include "util/err.h"
#include "wire/events.h"

/*
 * Reads the metrics of each step of a run from metrics.jsonl
 * (train/journal.h), also while its trainer appends, as run/lines.h reads
 * lines.  A zeroed struct run_metrics begins; run_lines_release() of its lines
 * ends.  Not thread-safe.
 */
#define RUN_METRICS "metrics.jsonl"

struct run_metrics {
    struct run_lines lines;
    size_t n;
    struct value value[WIRE_METRICS_MAX]; /* [n], in order of the line */
};

/*
 * run_metrics_next() returns 1 with the n > 0 numbers of a step.  A number in
 * a nested object, such as {"plan":{"mean":1}}, has the name plan.mean, as a
 * trainer publishes it; other values, and those that do not fit, are left out.
 * Metrics in lines of an older foil have today's names.
 * 1 with n = 0 if returned steps are no longer all in the file: the next call
 * returns the first step.  0 if there is no complete line yet, or no file.
 * Lines without numbers, or that are not JSON, are skipped.  O(line).
 */
int run_metrics_next(struct run_metrics *metrics, const char *run);

/* run_metrics_old_name() returns the name that older versions wrote for a
 * metric, or for `view_options` of batches.jsonl; NULL if it has not changed.
 */
const char *run_metrics_old_name(const char *name);

/* run_metrics_append() opens the file for appending, creates it if needed, and
 * truncates the lines of steps above `total`, which will run again, and an
 * incomplete last line.  Returns a descriptor, or -1. */
int run_metrics_append(const char *run, int64_t total, struct err *err);
