#ifndef FOIL_RUN_PROCESS_H
#define FOIL_RUN_PROCESS_H

#include "list.h"
#include "stage/process.h"

/* One process of a stage, with its log. */
struct process {
    const struct list_stage *stage;
    char *name;
    char *log;  /* NULL: its output is ours */
    long since; /* how long the log was when it was started, in bytes */
    struct stage_process run;
    long restarts;  /* how often it may still be started again; -1: no bound */
    double started; /* when it was, as of clock_now() */
    double pause;   /* seconds before it is started again */
    double due;     /* when that is, as of clock_now(); 0: it is not */
};

/*
 * process_findable() says whether the command of a stage can be started, with
 * `list` as the name of the list in errors.
 */
int process_findable(const struct list_stage *stage, const char *list,
                     struct err *err);

/* process_start() starts it, its log opened for more.  -1 on error, as when
 * there is no such command.
 *   grace_s  seconds that it has to end when we are killed */
int process_start(struct process *process, double grace_s, struct err *err);

/* process_quote() prints the last lines of the log since the last start to
 * stderr. */
void process_quote(const struct process *process);

#endif
