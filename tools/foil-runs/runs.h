#pragma once

#include "util/json.h"

/*
 * The parts of foil-runs:
 *
 *   gather.c  the state of a run, from its directory
 *   show.c    all runs as a table
 *   board.c   a run as a TensorBoard file
 *   draw.c    curves of all runs in one picture
 */

/*
 * runs_gather() returns an object:
 *
 *     run       its directory
 *     state     "training" while a trainer holds its lock; "done" after all
 *               epochs; else "stopped"
 *     step      steps done, from metrics.jsonl
 *     epoch, epochs   done, and in all; from the newest checkpoint
 *     seconds   of its steps, with the waits before them
 *     exchanged, slowest_rank, rank_lag   with several ranks: seconds of
 *               exchange; the rank that delayed the others most; by how many
 *               seconds
 *     loss      of the last step
 *     options   of the newest checkpoint, else of RUN/command
 *     results   the newest result of each measure, by its label (runs_label())
 *
 * Unknown fields are left out.
 */
json_t *runs_gather(const char *run);

/* runs_label() returns 1 with the label of a result, "knn 10", and its figure;
 * 0 if it has no figure for a table. */
int runs_label(const json_t *result, char label[64], double *figure);

/* runs_show() prints an array of such objects as a table of `width` columns;
 * 0: any width.  Shows all options, or those that differ between runs or are
 * missing ("-") in one though its checkpoint and command are known. */
void runs_show(const json_t *runs, int all, int width);

/*
 * runs_write_events() writes DIR/RUN/events.out.tfevents.foil-runs
 * (util/board.h), replacing an older file: metrics of all steps, figures of
 * results, and histograms of per-sample values in the newest checkpoint.  RUN
 * is the run's path without "..".
 */
void runs_write_events(const char *dir, const char *run);

/*
 * runs_draw() draws curves of all runs, an array of their paths, as a picture
 * (util/plot.h) with a plot for each name.  Dies if no run has a name.
 *   name  of a metric in metrics.jsonl, or a label of runs_label()
 *   by    the x axis: steps; images trained; minutes of the steps, with the
 *         waits before them
 */
enum runs_axis { RUNS_BY_STEPS, RUNS_BY_IMAGES, RUNS_BY_TIME };

struct runs_drawing {
    const char *const *name;
    size_t n;
    enum runs_axis by;
};

void runs_draw(const char *picture, const struct runs_drawing *how,
               const json_t *runs);
