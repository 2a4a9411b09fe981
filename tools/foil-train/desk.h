#ifndef FOIL_TRAIN_DESK_H
#define FOIL_TRAIN_DESK_H

#include <pthread.h>

#include "util/err.h"

/*
 * The thread that is at the sockets.  It is the trainer's own, but while it
 * computes a step or writes a checkpoint, which takes seconds or minutes: then
 * another thread calls `serve` some four times a second, so that an augmenter
 * that joins is greeted, a follower hears how the run stands, and what has come
 * is read.  The two take turns by a lock, and never are at the sockets, at the
 * journal or at what `serve` looks at, both.
 *
 * train_desk_open() starts that thread; the caller has the sockets then.
 * train_desk_leave() leaves them to it, train_desk_back() takes them back: it
 * may wait for the end of a call of `serve`, some milliseconds.  Both do
 * nothing where there is no thread.  train_desk_close() ends it.
 */
struct train_desk {
    void (*serve)(void *self);
    void *self;
    int is_open, is_over;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t over;
};

int train_desk_open(struct train_desk *desk, void (*serve)(void *self),
                    void *self, struct err *err);
void train_desk_leave(struct train_desk *desk);
void train_desk_back(struct train_desk *desk);
void train_desk_close(struct train_desk *desk);

#endif
