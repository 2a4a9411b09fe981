#ifndef FOIL_RUNS_H
#define FOIL_RUNS_H

#include "util/json.h"

/*
 * The parts of foil-runs:
 *
 *   find.c    run directories below a folder
 *   gather.c  what a run directory says of its run
 *   show.c    all runs as a table
 *   board.c   a run as a file of TensorBoard's
 *   draw.c    curves of all runs in one picture
 */

/* runs_find() adds the paths of runs, which are DIR itself or lie up to four
 * folders below it, to an array of strings, in order. */
void runs_find(const char *dir, json_t *paths);

/*
 * runs_gather() returns an object:
 *
 *     run       its directory
 *     state     "training", while a trainer has it; "done", when all epochs
 *               are; else "stopped"
 *     step      steps that are done, of those in metrics.jsonl
 *     epoch, epochs   that are done, and in all; of the newest checkpoint
 *     seconds   that its steps took, with the waits before them
 *     exchanged, slowest, behind   of several ranks: seconds with others; the
 *               one that held the others up; by so many seconds
 *     loss      of the last step
 *     options   what the newest checkpoint remembers, and what RUN/command
 *               does; of each name, the former
 *     results   the newest of each measure, by its name (runs_label())
 *
 * What is not known is left out.
 */
json_t *runs_gather(const char *run);

/* runs_label() names the figure of a result, "knn 10", and finds it: 1, or 0
 * for a result that has none for a table. */
int runs_label(const json_t *result, char label[64], double *figure);

/* runs_show() prints runs, an array of such objects, as a table for so many
 * columns; 0: any.  Options are shown where they differ between runs, or one
 * has none ("-") though its checkpoint and its command are known, or all.
 */
void runs_show(const json_t *runs, int all, int width);

/*
 * runs_board() writes DIR/RUN/events.out.tfevents.foil-runs (util/board.h)
 * anew: numbers of all steps, figures of results, and histograms of what the
 * newest checkpoint keeps of each sample.  RUN is the run's path without "..".
 */
void runs_board(const char *dir, const char *run);

/*
 * runs_draw() draws numbers of runs, an array of their paths, as curves in a
 * picture (util/plot.h), a plot for each name; it ends the process where no run
 * has a name.
 *   name  of a number in metrics.jsonl, or as runs_label() names a figure
 *   by    what the axis has: steps; images that were trained; minutes that the
 *         steps took, with the waits before them
 */
enum runs_axis { RUNS_BY_STEPS, RUNS_BY_IMAGES, RUNS_BY_TIME };

struct runs_drawing {
    const char *const *name;
    size_t n;
    enum runs_axis by;
};

void runs_draw(const char *picture, const struct runs_drawing *how,
               const json_t *runs);

#endif
