#ifndef FOIL_EVAL_JUDGE_H
#define FOIL_EVAL_JUDGE_H

#include "util/digest.h"

/*
 * Judges checkpoints of a run: embeds TRAIN and TEST by foil-embed, has
 * foil-eval measure the features, which adds the results to the run, and points
 * `best` to the best checkpoint that there is.  Where both have labels it
 * measures knn and probe, where TEST has captions and the run an encoder of
 * texts, retrieval.  A program of the user's adds what it likes.
 */
#define JUDGE_MEASURES "knn|probe|captions|command"

struct stage_program;

struct judge {
    const char *run, *train, *test; /* paths; train may be NULL, and
                                       test where there is a command */
    const char *k_list;             /* for knn */
    int by;                         /* the index of JUDGE_MEASURES: best by it;
                                       -1: the first that there is */
    const char *line;               /* of the command; or NULL */
    double limit;                   /* seconds that it has for a checkpoint */
    long threads;
    int stop; /* descriptor */

    int labels, captions;          /* what the data have */
    char digest[2][DIGEST_HEX];    /* of train, test */
    char *bin;                     /* folder of our tools */
    struct stage_program *program; /* or NULL */
    int lock;                      /* descriptor */
};

/*
 * judge_run_tool() runs one of our tools with words up to NULL to its end: 1
 * when it did its work, 0 when it failed, -1 when we were asked to stop, which
 * it then was, too.
 */
int judge_run_tool(const struct judge *judge, const char *tool,
                   const char *const *words);

/*
 * judge_command.c: judge_ask() asks the program about a checkpoint and adds its
 * answer to the results of the run, as the measure "command": as
 * judge_run_tool().  judge_start() starts it, or the process ends.
 */
void judge_start(struct judge *judge);
int judge_ask(const struct judge *judge, const char *checkpoint, long step);

#endif
