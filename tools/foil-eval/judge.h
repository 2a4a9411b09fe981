#ifndef FOIL_EVAL_JUDGE_H
#define FOIL_EVAL_JUDGE_H

#include "util/digest.h"

/*
 * Evaluates checkpoints of a run: runs foil-embed on TRAIN and TEST, and
 * foil-eval on the features, which adds the results to the run; then points
 * `best` to the best existing checkpoint.  Measures knn and probe if both data
 * sets have labels, and retrieval if TEST has captions and the run a text
 * encoder.  A user's program may add other results.
 */
#define JUDGE_MEASURES "knn|probe|captions|command"

struct stage_program;

struct judge {
    const char *run, *train, *test; /* paths; train may be NULL, and
                                       test where there is a command */
    const char *k_list;             /* for knn */
    int by; /* index in JUDGE_MEASURES for `best`; -1: the first available */
    const char *line; /* of the command; or NULL */
    double limit;     /* seconds of the command for a checkpoint */
    long threads;
    int stop; /* descriptor */

    int labels, captions;          /* 1: the data sets have them */
    char digest[2][DIGEST_HEX];    /* of train, test */
    char *bin;                     /* folder of foil's tools */
    struct stage_program *program; /* or NULL */
    int lock;                      /* descriptor */
};

/*
 * judge_run_tool() runs a tool of foil with words up to NULL until it ends: 1
 * if it succeeded, 0 if it failed, -1 at a signal, which is passed on to the
 * tool.
 */
int judge_run_tool(const struct judge *judge, const char *tool,
                   const char *const *words);

/*
 * judge_command.c: judge_ask() sends a checkpoint to the program and adds its
 * answer to the results of the run, as the measure "command"; returns as
 * judge_run_tool().  judge_start() starts the program, or ends the process.
 */
void judge_start(struct judge *judge);
int judge_ask(const struct judge *judge, const char *checkpoint, long step);

#endif
