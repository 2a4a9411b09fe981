#pragma once

#include <pthread.h>

#include "util/err.h"

/*
 * Signals that end a tool: SIGINT, SIGTERM, SIGUSR1, and SIGHUP unless it is
 * ignored when the tool starts (nohup).  The first signal asks the tool to end;
 * a second one, of any kind, kills it. mpirun forwards SIGUSR1 to its
 * processes, but kills them on SIGTERM; a batch system can send SIGUSR1 some
 * time before it ends a job.
 *
 * stop_fd() is for a tool that has something to finish: it returns a descriptor
 * that becomes readable when the first signal arrives.  Poll it with the
 * sockets; a signal between the test of a flag and the wait would be missed.
 * SIGPIPE is ignored: writing to a closed stdout fails instead.
 *
 * stop_with_callback(), below, is for a tool that loses its work anyway: at the
 * first signal a separate thread calls `call`.  SIGPIPE is unchanged.
 *
 * Call one of the two, once, before starting other threads: a separate thread
 * receives the signals; the calling thread and threads that it starts later
 * block them, so that no handler interrupts a computation.  Both return -1 on
 * error.
 */
int stop_fd(struct err *err);

/* stop_set_callbacks(), before stop_fd(): the thread of signals calls `first`
 * at once at the first signal, and `busy` half a second later, unless the
 * process has ended or a second signal came. */
void stop_set_callbacks(void (*first)(void), void (*busy)(void));

int stop_with_callback(void (*call)(void), struct err *err);

/* stop_create_thread() is pthread_create() for a thread that blocks all
 * signals. 0, or the number of the error. */
int stop_create_thread(pthread_t *thread, void *(*work)(void *), void *arg);

/* stop_unblock() unblocks all signals in a child process, before exec. */
void stop_unblock(void);

/* stop_requested() returns 1 once the first signal has come; never blocks. */
int stop_requested(void);
