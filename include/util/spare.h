#pragma once

#include "util/err.h"

/*
 * A spare thread: a second thread of the lowest priority (nice 19) for pieces
 * of work without deadline, while the calling thread keeps its priority for
 * everything else.  A lowered thread cannot be raised again without privileges;
 * so the caller does urgent work itself.  Keep pieces small: on a busy machine
 * a piece may take a hundred times as long as it computes.
 *
 *     spare_start(spare, piece, data);
 *     while (!spare_wait(spare, 0.01)) urgent work that does not touch data;
 *
 * A piece sees all earlier writes of its caller, and the caller sees the writes
 * of the piece once it is done.  The thread blocks all signals.
 */
struct spare;

/* spare_open() returns NULL on error.  spare_close() waits for a piece in
 * progress, then ends the thread; NULL is allowed. */
struct spare *spare_open(struct err *err);
void spare_close(struct spare *spare);

/* spare_start() makes the thread call piece(data).  One piece at a time:
 * spare_wait() must have returned 1 before the next. */
void spare_start(struct spare *spare, void (*piece)(void *data), void *data);

/* spare_wait() waits up to so many seconds: 1 if the piece is done or there was
 * none, else 0. */
int spare_wait(struct spare *spare, double seconds);
