#ifndef FOIL_RUN_PROCESS_H
#define FOIL_RUN_PROCESS_H

#include <sys/types.h>

#include "guard.h"
#include "list.h"

/*
 * One process of a stage.  It leads a session of its own, so that Ctrl-C
 * reaches us alone; it gets that signal when we are killed.  fork() and not
 * posix_spawn(), which can set neither of the two.
 */
struct process {
    const struct list_stage *stage;
    char *name;
    char *log;      /* NULL: its output is ours */
    long since;     /* how long the log was when it was started, in bytes */
    pid_t pid;      /* also of its group; 0: it does not run */
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

/* process_start() starts it, its log opened for more.  The guard knows the
 * group before the command runs, and of none when this returns -1: on error, as
 * when there is no such command. */
int process_start(struct process *process, const struct guard *guard,
                  struct err *err);

/*
 * process_ended() returns 1 once the process has ended, with its status as of
 * waitpid(); what is left of its group is killed then, and waited for where we
 * are a PR_SET_CHILD_SUBREAPER; what a script has left has `grace` seconds
 * before. 0 while it runs.
 */
int process_ended(struct process *process, double grace, int *status);

/* process_code() returns the exit code of such a status, as a shell has it. */
int process_code(int status);

/* process_kill() sends the whole group SIGKILL; process_ask() the process
 * itself, or the whole group of a script, the signal that asks its stage to
 * end. */
void process_kill(const struct process *process);
void process_ask(const struct process *process);

/* process_quote() prints the last lines of the log since the last start to
 * stderr. */
void process_quote(const struct process *process);

#endif
