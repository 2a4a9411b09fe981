#ifndef UTIL_STOP_H
#define UTIL_STOP_H

#include "util/err.h"

/*
 * stop_fd() catches SIGINT and SIGTERM from here on and returns a descriptor
 * that becomes readable when the first one arrives.  A second one kills.
 * Poll it beside the sockets; a flag would be lost between test and wait.
 * SIGPIPE is ignored: a closed stdout shows when it is written to.
 * Returns -1 on error.
 */
int stop_fd(struct err *err);

/* stop_asked() returns 1 once the first signal has come; never blocks. */
int stop_asked(void);

#endif
