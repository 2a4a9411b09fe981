#ifndef FOIL_RUN_SUPERVISE_H
#define FOIL_RUN_SUPERVISE_H

#include "list.h"

/*
 * supervise() starts every process of a list, in order, and restarts them
 * until the main stage has ended, or a process has failed for good; then it
 * ends all others, with `grace` seconds between SIGTERM and SIGKILL.  Reports
 * on stderr.  Logs are LOGS/NAME.log; the main stage inherits our output.
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

#endif
