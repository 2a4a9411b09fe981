#ifndef FOIL_RUN_HOLD_H
#define FOIL_RUN_HOLD_H

/*
 * Locks of the run directory, which one run uses at a time.  Errors end the
 * process with a sentence.
 */

/* hold_name() returns the default run directory of a file: run/NAME, without
 * the suffix from the last dot on. */
char *hold_name(const char *name);

/* hold_make() makes a folder of mode 0700, and its missing parents. */
void hold_make(const char *path);

/* hold_folder() makes a folder and locks it until this process ends. */
void hold_folder(const char *path);

/* hold_run() is hold_folder() for the run directory of a pipeline, unless
 * FOIL_HELD names it: then a parent process holds the lock. */
void hold_run(const char *run);

/* hold_logs() locks the folder of logs, with the number of this process for
 * foil-stop.  The run directory is locked already, so any other holder is an
 * ending stage of a killed foil-run: it waits for that. */
void hold_logs(const char *logs);

/* hold_list() writes RUN/list, the list of stages, and notes their commands in
 * RUN/origin.jsonl; prints a message for a changed program. */
struct list;
void hold_list(const char *run, const struct list *list);

#endif
