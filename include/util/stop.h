#ifndef UTIL_STOP_H
#define UTIL_STOP_H

#include <pthread.h>

#include "util/err.h"

/*
 * Signals that end a tool: SIGINT, SIGTERM, SIGUSR1, and SIGHUP unless it is
 * ignored when the tool starts (nohup).  The first one asks the tool to end, a
 * second one, of any of them, kills it.  SIGUSR1 is what mpirun passes on to
 * its processes, where it kills them at a SIGTERM, and what a batch system can
 * send some time before its own.
 *
 * stop_fd() is for a tool that has something to bring to its end: it returns a
 * descriptor that becomes readable when the first one arrives.  Poll it beside
 * the sockets; a flag would be lost between test and wait.  SIGPIPE is ignored:
 * a closed stdout shows when it is written to.
 *
 * stop_calls(), below, is for a tool whose work is lost anyway: at the first
 * signal a thread of its own calls `call`.  SIGPIPE stays as it is.
 *
 * Call one of the two, once, before other threads are started: a thread of its
 * own takes the signals, the caller's and those that it starts from here on
 * block them, and no handler ever runs in the midst of a computation.  Both
 * return -1 on error.
 */
int stop_fd(struct err *err);

/* stop_at_first(), before stop_fd(): `call` is called, by the thread that takes
 * the signals, at once at the first one. */
void stop_at_first(void (*call)(void));

/* stop_while_busy(), before stop_fd(): `call` is called by that thread half a
 * second after the first signal, if the process still runs and no second signal
 * came. */
void stop_while_busy(void (*call)(void));

/* See above: 0, or -1 on error. */
int stop_calls(void (*call)(void), struct err *err);

/* stop_thread() is pthread_create() of a thread that takes no signals at all:
 * they go to the threads that wait for them.  0, or the number of the error. */
int stop_thread(pthread_t *thread, void *(*work)(void *), void *arg);

/* stop_unblock() lets a child process take these signals again, before it
 * becomes another program. */
void stop_unblock(void);

/* stop_asked() returns 1 once the first signal has come; never blocks. */
int stop_asked(void);

#endif
