#ifndef FOIL_RUN_HOLD_H
#define FOIL_RUN_HOLD_H

/*
 * The run directory, for one run at a time.  What cannot be done ends the
 * process with a sentence.
 */

/* hold_name() returns the run directory of a file by that name, run/NAME
 * without what stands behind its last dot. */
char *hold_name(const char *name);

/* hold_make() makes a folder of mode 0700, and those above it. */
void hold_make(const char *path);

/* hold_folder() keeps others out of a folder as long as the descriptor that it
 * returns is open. */
int hold_folder(const char *path);

/* hold_run() makes the run directory of a pipeline and keeps others out of it
 * until this process ends, unless FOIL_HELD names it: the process that started
 * this one keeps others out then. */
void hold_run(const char *run);

/* hold_logs() says in the folder of the logs who has them, and is to be asked
 * to end.  The run directory is ours, so that it waits for one who has them
 * still: its foil-run was killed, and its stages are ending. */
void hold_logs(const char *logs);

#endif
