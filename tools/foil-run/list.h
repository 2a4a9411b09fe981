#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * A list of the stages of a run, a line each, as described in foil-run(1).
 *
 *     # name   copies  restart   command
 *     train    main    never     foil-train -r $RUN
 *     augment  2       killed,3  foil-augment -r $RUN photos/
 *     select   1       killed,3  foil-select -r $RUN photos/
 *
 * Not thread-safe.
 */

/* When an ended stage is restarted; each includes the one before.  If an
 * optional stage ends, the run continues. */
enum list_restart {
    LIST_OPTIONAL,
    LIST_NEVER,
    LIST_KILLED,
    LIST_FAILED,
    LIST_ALWAYS
};

enum {
    LIST_MAX_COPIES = 1000,   /* of one stage */
    LIST_MAX_BYTES = 1 << 20, /* of a list */
    LIST_MAX_NAME = 64
};

struct list_stage {
    char *name;
    int is_main;               /* 1: the run ends with this stage */
    int is_script;             /* 1: a shell; signals go to its whole group */
    int signal;                /* that asks the stage to end */
    int copies;                /* 1 .. LIST_MAX_COPIES */
    enum list_restart restart; /* when */
    long restarts;             /* maximum restarts; -1: no limit */
    char **argv;               /* NULL after the last word */
    int line;                  /* line of the list, from 1 */
};

struct list {
    struct list_stage *stage; /* in the order of the list */
    size_t n;                 /* at least 1 */
};

/*
 * list_read() parses a text; `name` is for errors, such as "mine:3: no restart
 * policy 'often'".  $NAME is taken from the environment.  Exactly one stage
 * must be the main one; a single stage always is.  -1 on error.  A list is
 * never freed (mem_keep()).
 */
int list_read(struct list *list, const char *name, const char *text,
              struct err *err);

/* list_replace() replaces the first word of a stage's command: `text` is
 * STAGE=COMMAND, quoted as in a list.  -1 on error: the list is unchanged. */
int list_replace(struct list *list, const char *text, struct err *err);

/* list_command() returns the command of a stage as in a list, with $RUN for
 * the run directory; list_text() a list of such lines; list_read() of it makes
 * the same list if $RUN is the same. */
char *list_command(const struct list_stage *stage, const char *run);
char *list_text(const struct list *list, const char *run);

/* list_resume() adds --resume to the options of foil's trainer, if it is the
 * main stage. */
void list_resume(struct list *list);

/* list_process_name() returns the name of a copy, counted from 0: the stage's
 * name, with "-1", "-2" ... if there are several. */
char *list_process_name(const struct list_stage *stage, int copy);

/* list_check_commands() returns 0 if the commands of all stages exist, else -1;
 * errors begin with `name`, that of the list. */
int list_check_commands(const struct list *list, const char *name,
                        struct err *err);

/*
 * supervise.c: supervise() starts every process of a list, in order, and
 * restarts them until the main stage has ended, or a process has failed for
 * good; then it ends all others, with `grace` seconds between SIGTERM and
 * SIGKILL.  Reports on stderr.  Logs are LOGS/NAME.log; the main stage inherits
 * our output.
 *
 * At SIGINT, SIGTERM and SIGHUP (unless ignored) it asks the main stage to end
 * and waits for it without limit, then ends the others; a second SIGINT or
 * SIGTERM kills all.
 *
 * Returns the exit code of the run: that of the main stage, or of the stage
 * that failed; 128 + its number after a signal; EXIT_FAILED if a stage could
 * not be started.  No process of a stage is left then, nor after SIGKILL of
 * this process.  Call it once, with no other threads.
 */
int supervise(const struct list *list, const char *logs, double grace);

/* step.c: step_run() runs a command and waits; if its exit code is not 0, ends
 * the process with that.  step_capture() also returns its output, without
 * trailing newlines. */
void step_run(char *const *word);
char *step_capture(char *const *word);

/* step_show() prints a command to stderr as a user would type it, with long
 * lines broken, followed by `end`; step_show_list() each stage of a list. */
void step_show(char *const *word, const char *end);
void step_show_list(const struct list *list);

/* folder.c: locks of the run directory, which one run uses at a time.  Errors
 * end the process with a message. */

/* folder_of_run() returns the default run directory of a file: run/NAME,
 * without the suffix from the last dot on. */
char *folder_of_run(const char *name);

/* folder_make() makes a folder of mode 0700, and its missing parents. */
void folder_make(const char *path);

/* folder_lock() makes a folder and locks it until this process ends. */
void folder_lock(const char *path);

/* folder_lock_run() is folder_lock() for the run directory of a pipeline,
 * unless FOIL_HELD names it: then a parent process holds the lock. */
void folder_lock_run(const char *run);

/* folder_lock_logs() locks the folder of logs, with the number of this process
 * for foil-stop.  The run directory is locked already, so any other holder is
 * an ending stage of a killed foil-run: it waits for that. */
void folder_lock_logs(const char *logs);

/* folder_write_list() writes RUN/list, the list of stages, and notes their
 * commands in RUN/origin.jsonl; prints a message for a changed program. */
void folder_write_list(const char *run, const struct list *list);
