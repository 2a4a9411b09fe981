#ifndef UTIL_STOP_H
#define UTIL_STOP_H

#include "util/err.h"

/*
 * stop_fd() returns a descriptor that becomes readable when the first SIGINT or
 * SIGTERM arrives.  A second one, of either kind, kills.  Poll it beside the
 * sockets; a flag would be lost between test and wait.
 *
 * Call it before other threads are started: a thread of its own takes the
 * signals, the caller's and those that it starts from here on block them, and
 * no handler ever runs in the midst of a computation.  SIGPIPE is ignored: a
 * closed stdout shows when it is written to.  Returns -1 on error.
 */
int stop_fd(struct err *err);

/* stop_asked() returns 1 once the first signal has come; never blocks. */
int stop_asked(void);

#endif
