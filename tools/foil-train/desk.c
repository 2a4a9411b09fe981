#include "desk.h"

#include <errno.h>

#include "util/clock.h"

/* Seconds between two calls of `serve`. */
static const double pause = 0.25;

static void *
run_desk(void *self)
{
    struct train_desk *desk = self;

    pthread_mutex_lock(&desk->lock);
    while (!desk->is_over) {
        desk->serve(desk->self);
        clock_cond_wait(&desk->over, &desk->lock, pause);
    }
    pthread_mutex_unlock(&desk->lock);
    return NULL;
}

int
train_desk_open(struct train_desk *desk, void (*serve)(void *self), void *self,
                struct err *err)
{
    int rc;

    *desk = (struct train_desk){.serve = serve, .self = self};
    pthread_mutex_init(&desk->lock, NULL);
    clock_cond_init(&desk->over);
    pthread_mutex_lock(&desk->lock);
    rc = pthread_create(&desk->thread, NULL, run_desk, desk);
    desk->is_open = !rc;
    if (!rc)
        return 0;
    errno = rc;
    return err_sys(err, "cannot start a thread");
}

void
train_desk_leave(struct train_desk *desk)
{
    if (desk->is_open)
        pthread_mutex_unlock(&desk->lock);
}

void
train_desk_back(struct train_desk *desk)
{
    if (desk->is_open)
        pthread_mutex_lock(&desk->lock);
}

void
train_desk_close(struct train_desk *desk)
{
    if (!desk->is_open)
        return;
    desk->is_over = 1;
    pthread_cond_signal(&desk->over);
    pthread_mutex_unlock(&desk->lock);
    pthread_join(desk->thread, NULL);
    pthread_mutex_destroy(&desk->lock);
    pthread_cond_destroy(&desk->over);
    desk->is_open = 0;
}
