#ifndef UTIL_SPARE_H
#define UTIL_SPARE_H

#include "util/err.h"

/*
 * A spare thread: a second thread of the lowest priority (nice 19), which does
 * pieces of work that nobody waits for, while the thread that hands them to it
 * keeps its own priority and looks after everything else.  A thread that was
 * lowered cannot be raised again without privileges; so the caller does itself
 * the work that it has to wait for, and pieces are small, as beside a busy
 * machine a piece may take a hundred times as long as it computes.
 *
 *     spare_start(spare, piece, data);
 *     while (!spare_wait(spare, 0.01))
 *         work that must not wait, and does not touch data;
 *
 * A piece sees all that its caller did before, and the caller all that the
 * piece did once it is done.  The thread takes no signals.
 */
struct spare;

/* spare_open() returns NULL on error. */
struct spare *spare_open(struct err *err);

/* spare_close() waits for a piece that is being done, then ends the thread;
 * harmless on NULL. */
void spare_close(struct spare *spare);

/* spare_start() lets the thread call piece(data).  One piece at a time:
 * spare_wait() must have returned 1 before the next. */
void spare_start(struct spare *spare, void (*piece)(void *data), void *data);

/* spare_wait() waits for it, up to so many seconds: 1 where it is done, or
 * none was started, else 0. */
int spare_wait(struct spare *spare, double seconds);

#endif
