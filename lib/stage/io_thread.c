#include "stage/io_thread.h"

#include <errno.h>

#include "util/clock.h"

/* Seconds between two calls of serve(). */
static const double serve_every_s = 0.25;

static void *
run_thread(void *self)
{
    struct stage_io *io = self;

    pthread_mutex_lock(&io->lock);
    while (!io->is_over) {
        io->serve(io->self);
        clock_cond_wait(&io->over, &io->lock, serve_every_s);
    }
    pthread_mutex_unlock(&io->lock);
    return NULL;
}

int
stage_io_open(struct stage_io *io, void (*serve)(void *self), void *self,
              struct err *err)
{
    int rc;

    *io = (struct stage_io){.serve = serve, .self = self};
    pthread_mutex_init(&io->lock, NULL);
    clock_cond_init(&io->over);
    pthread_mutex_lock(&io->lock);
    rc = pthread_create(&io->thread, NULL, run_thread, io);
    io->is_open = !rc;
    if (!rc)
        return 0;
    errno = rc;
    return err_sys(err, "cannot start a thread");
}

void
stage_io_unlock(struct stage_io *io)
{
    if (io->is_open)
        pthread_mutex_unlock(&io->lock);
}

void
stage_io_lock(struct stage_io *io)
{
    if (io->is_open)
        pthread_mutex_lock(&io->lock);
}

void
stage_io_close(struct stage_io *io)
{
    if (!io->is_open)
        return;
    io->is_over = 1;
    pthread_cond_signal(&io->over);
    pthread_mutex_unlock(&io->lock);
    pthread_join(io->thread, NULL);
    pthread_mutex_destroy(&io->lock);
    pthread_cond_destroy(&io->over);
    io->is_open = 0;
}
