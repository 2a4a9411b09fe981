#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/limits.h"
#include "util/mem.h"
#include "util/spare.h"
#include "util/stop.h"

/* The lock guards all fields except the thread.  `changed` is signalled when a
 * piece was added or is done, and on quit. */
struct spare {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void (*piece)(void *data); /* NULL: none */
    void *data;
    int quit;
};

static void *
run_spare_thread(void *arg)
{
    struct spare *s = arg;

    priority_lower(PRIORITY_IDLE);
    pthread_mutex_lock(&s->lock);
    while (s->piece || !s->quit) {
        if (!s->piece) {
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        pthread_mutex_unlock(&s->lock);
        s->piece(s->data); // unchanged until it is done
        pthread_mutex_lock(&s->lock);
        s->piece = NULL;
        pthread_cond_signal(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

static void
release_spare(struct spare *s)
{
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct spare *
spare_open(struct err *err)
{
    struct spare *s = mem_array(1, sizeof *s);

    pthread_mutex_init(&s->lock, NULL);
    clock_cond_init(&s->changed);
    errno = stop_create_thread(&s->thread, run_spare_thread, s);
    if (!errno)
        return s;
    err_sys(err, "cannot start a thread");
    release_spare(s);
    return NULL;
}

void
spare_close(struct spare *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->quit = 1;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    release_spare(s);
}

void
spare_start(struct spare *s, void (*piece)(void *data), void *data)
{
    pthread_mutex_lock(&s->lock);
    REQUIRE(!s->piece);
    s->piece = piece;
    s->data = data;
    pthread_cond_signal(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

int
spare_wait(struct spare *s, double seconds)
{
    const double until = clock_now() + seconds;
    int done;

    pthread_mutex_lock(&s->lock);
    while (s->piece &&
           clock_cond_wait(&s->changed, &s->lock, until - clock_now()))
        ;
    done = !s->piece;
    pthread_mutex_unlock(&s->lock);
    return done;
}
