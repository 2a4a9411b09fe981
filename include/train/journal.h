#ifndef TRAIN_JOURNAL_H
#define TRAIN_JOURNAL_H

#include <stdint.h>

#include "train/learner.h"
#include "train/part.h"
#include "train/shards.h"
#include "util/err.h"
#include "util/progress.h"

/*
 * The records of a run: metrics.jsonl, a line for each step; the ids of batches
 * that were not finite, in nonfinite.jsonl; a line of progress on a terminal;
 * and sentences for people.  A listener takes numbers and sentences as they
 * come, to publish or to print them.
 *
 * Not for two threads at once.
 */
struct train_listener {
    void *self; /* first argument of each */

    /* A sentence, without an end of line; on a line of its own. */
    void (*say)(void *self, const char *sentence);

    /* The numbers of a line, in its order, once the line is written; those of
     * a plan have names "plan.NAME".  NULL: not wanted. */
    void (*line)(void *self, const struct values *values);
};

/* The selector's figures of the plan of an epoch. */
struct train_plan {
    const char *strategy;
    struct values values;
};

struct train_journal {
    struct train_listener listener;
    const char *run;
    const struct train_state *state;
    int file;               /* metrics.jsonl, or -1 */
    struct tally unwritten; /* lines that could not be written */
    struct progress progress;
    double started, waited;       /* clock_now() when it was opened; seconds for
                                     batches since the last line, to which the
                                     caller adds */
    const double *exchanging;     /* seconds with other ranks so far; or NULL:
                                     there are none.  Set by the caller */
    double exchanged;             /* *exchanging at the last line */
    struct train_slowest slowest; /* of several ranks; set by the caller */
    int64_t ended_epoch, ended_step; /* the epoch that another plan has ended
                                        since the last line, before which step;
                                        0: none.  Set by the caller */
    int64_t first, first_images;     /* total and images when it was opened */
    struct loss_report last;         /* of the last step that was applied */
};

/* train_journal_init() makes a journal without files, which can only say
 * sentences; the listener is copied. */
void train_journal_init(struct train_journal *journal,
                        const struct train_listener *listener);

/*
 * train_journal_open() opens metrics.jsonl in a run directory and cuts off the
 * lines of steps that will be done again, those above state->total, and any
 * line that is not whole.  Run and state must stay.
 */
int train_journal_open(struct train_journal *journal, const char *run,
                       const struct train_state *state, struct err *err);
void train_journal_close(struct train_journal *journal);

/* train_journal_begin() shows progress from here on; steps: in all. */
void train_journal_begin(struct train_journal *journal, int64_t steps);

/*
 * train_journal_step() writes the outcome of a step: one line, one write, so
 * that a reader never sees half of one.  The first line that cannot be written
 * is reported by log_message(), and the 2nd, 4th ...; the file keeps whole
 * lines. plan  of the epoch, for its first step; else NULL
 */
void train_journal_step(struct train_journal *journal,
                        const struct batch *batch,
                        const struct train_result *result,
                        const struct train_plan *plan);

/* train_journal_refused() writes down the ids of a batch whose step was not
 * applied: a line in nonfinite.jsonl. */
int train_journal_refused(struct train_journal *journal,
                          const struct batch *batch, const char *reason,
                          struct err *err);

/* train_journal_say() clears the line of progress and says a sentence. */
void train_journal_say(struct train_journal *journal, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* train_journal_end() says how many steps were done since it was opened.
 *   saved  1: and where their checkpoint is */
void train_journal_end(struct train_journal *journal, int saved);

/* train_journal_part() returns it as a part of a checkpoint: the lines of a
 * step are on the disk before the step is committed. */
struct train_part train_journal_part(struct train_journal *journal);

#endif
