#pragma once

#include <pthread.h>

#include "util/err.h"

/*
 * A thread that serves the sockets of a stage while its main thread computes,
 * which may take seconds or minutes.  It calls serve() four times a second, so
 * that it answers the hellos and requests of peers and reads their messages.
 *
 *     stage_io_open(&io, serve, self, &err); // the main thread has the lock
 *     ...                                    // and uses the sockets
 *     stage_io_unlock(&io);
 *     compute for seconds or minutes
 *     stage_io_lock(&io);
 *     ...
 *     stage_io_close(&io);
 *
 * One lock guards the sockets and all else that serve() uses.  The main thread
 * holds it, except between stage_io_unlock() and stage_io_lock().
 *
 * stage_io_lock() may wait until a call of serve() ends, some milliseconds.
 * Without a thread, before stage_io_open() and after stage_io_close(), both
 * functions do nothing.  All of them are for the main thread.
 */
struct stage_io {
    void (*serve)(void *self);
    void *self;
    int is_open, is_over;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
};

/* stage_io_open() starts the thread: 0, or -1 with a message.
 * stage_io_close() ends it, with the lock held. */
int stage_io_open(struct stage_io *io, void (*serve)(void *self), void *self,
                  struct err *err);
void stage_io_unlock(struct stage_io *io);
void stage_io_lock(struct stage_io *io);
void stage_io_close(struct stage_io *io);
