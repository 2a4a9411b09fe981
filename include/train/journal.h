#pragma once

#include <stdint.h>

#include "train/checkpoints.h"
#include "train/learner.h"
#include "train/shards.h"
#include "util/err.h"
#include "util/progress.h"

/*
 * The records of a run: metrics.jsonl, a line for each step; nonfinite.jsonl,
 * the ids of batches that were not finite; a line of progress on a terminal;
 * and messages.  A listener publishes or prints numbers and messages as they
 * come.
 *
 * Not for two threads at once.
 */
struct train_listener {
    void *self; /* first argument of each */

    /* A message on a line of its own, without the end of line. */
    void (*message)(void *self, const char *text);

    /* The numbers of a line in its order, after the line is written; those of a
     * plan have names "plan.NAME".  NULL: not called. */
    void (*line)(void *self, const struct values *values);
};

/* The selector's numbers about the plan of an epoch. */
struct train_plan {
    const char *strategy;
    struct values values;
};

struct train_journal {
    struct train_listener listener;
    const char *run;
    const struct train_state *state;
    int file;               /* metrics.jsonl, or -1 */
    struct tally unwritten; /* lines that were not written */
    struct progress progress;
    double started, waited;       /* clock_now() when it was opened; seconds of
                                     waiting for batches since the last line,
                                     added by the caller */
    const double *exchanging;     /* seconds spent with other ranks so far; NULL
                                     without ranks.  Set by the caller */
    double exchanged;             /* *exchanging at the last line */
    struct train_slowest slowest; /* with several ranks; set by the caller */
    int64_t ended_epoch, ended_step; /* the epoch that another plan ended early
                                        since the last line, and the first step
                                        that was left out; 0: none.  Set by the
                                        caller */
    int64_t first, first_images;     /* total and images when it was opened */
    struct loss_report last;         /* of the last step that was applied */
};

/* train_journal_init() makes a journal without files, for messages only; it
 * copies the listener. */
void train_journal_init(struct train_journal *journal,
                        const struct train_listener *listener);

/* train_journal_open() opens metrics.jsonl in a run directory and removes lines
 * of steps that will be done again (above state->total) and an incomplete line.
 * run and state must outlive the journal. */
int train_journal_open(struct train_journal *journal, const char *run,
                       const struct train_state *state, struct err *err);
void train_journal_close(struct train_journal *journal);

/* train_journal_begin() starts the progress line; steps: in all. */
void train_journal_begin(struct train_journal *journal, int64_t steps);

/*
 * train_journal_step() writes the outcome of a step as one line by one write,
 * so a reader never sees half of a line.  It reports the 1st, 2nd, 4th ... line
 * that cannot be written by log_message(); the file then still has complete
 * lines only.
 */
void train_journal_step(struct train_journal *journal,
                        const struct batch *batch,
                        const struct train_result *result,
                        const struct train_plan *plan);

/* train_journal_nonfinite() records the ids of a batch that was not applied, as
 * a line of nonfinite.jsonl. */
int train_journal_nonfinite(struct train_journal *journal,
                            const struct batch *batch, const char *reason,
                            struct err *err);

/* train_journal_end() prints how many steps were done since the journal was
 * opened, and where they are saved.
 *   saved  step of the newest checkpoint; <= 0: none */
void train_journal_end(struct train_journal *journal, int64_t saved);

/* train_journal_part() returns the journal as a part of a checkpoint: the lines
 * of a step are on the disk before the step is committed. */
struct train_part train_journal_part(struct train_journal *journal);
