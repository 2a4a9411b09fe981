#ifndef FOIL_RUN_SUPERVISE_H
#define FOIL_RUN_SUPERVISE_H

#include "list.h"

/*
 * supervise() starts every process of a list, in its order, and looks after
 * them until the main stage has ended, or one has failed for good; then it ends
 * all others, with `grace` seconds between SIGTERM and SIGKILL.  What happens
 * is said on stderr.  Logs are LOGS/NAME.log; the main stage has our output.
 *
 * SIGINT, SIGTERM and SIGHUP (unless that is ignored) ask the main stage to end
 * and wait for it, however long that takes, before the others are ended; a
 * second SIGINT or SIGTERM kills all.
 *
 * Returns the exit code of the run: that of the main stage, or of the stage
 * that failed; 128 + its number after a signal; EXIT_FAILED where a stage could
 * not be started.  Nothing that was started is left then, nor when we are
 * killed by SIGKILL.  Once in a process, with no other threads.
 */
int supervise(const struct list *list, const char *logs, double grace);

#endif
