#ifndef RUN_METRICS_H
#define RUN_METRICS_H

#include <stdint.h>

#include "run/lines.h"
#include "util/err.h"
#include "wire/metrics.h"

/*
 * The numbers of the steps of a run, one after the other, as metrics.jsonl
 * (train/journal.h) has them, while its trainer appends or afterwards:
 *
 *     struct run_metrics step = {.n = 0};
 *
 *     while (run_metrics_next(&step, run))
 *         if (step.n)
 *             loss = value_find(step.value, step.n, "loss");
 *         else
 *             ...; // begin anew
 *     run_metrics_release(&step);
 *
 * Not for two threads at once.
 */
#define RUN_METRICS "metrics.jsonl"

struct run_metrics {
    struct run_lines lines;
    size_t n;
    struct value value[WIRE_METRICS_MAX]; /* [n], in the line's order */
};

/*
 * run_metrics_next() returns 1 with the n > 0 numbers of a step: those of an
 * object in its line, as {"plan":{"mean":1}}, by the name that a trainer
 * publishes, plan.mean; what is no number, or does not fit, is left out.  1
 * with n = 0, where steps that were returned are not all in the file any more:
 * the next call begins with the first one.  0 where there is no further whole
 * line yet, or no file.  A line without numbers, as one that is no JSON, is
 * passed over.  O(line).
 */
int run_metrics_next(struct run_metrics *metrics, const char *run);
void run_metrics_release(struct run_metrics *metrics);

/*
 * run_metrics_append() opens the file for appending, made where it is not
 * there, and cuts off the lines of steps above `total`, which will be done
 * again, and a last line that is not whole.  Returns a descriptor, or -1.
 */
int run_metrics_append(const char *run, int64_t total, struct err *err);

#endif
