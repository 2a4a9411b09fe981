#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include "t.h"
#include "util/spare.h"

/* Observations of a piece. */
struct seen {
    int number, priority, interrupts;
    pthread_t thread;
};

static void
look(void *data)
{
    struct seen *seen = data;
    sigset_t mask;

    seen->number *= 2;
    seen->priority = getpriority(PRIO_PROCESS, 0); // of the thread, on Linux
    seen->thread = pthread_self();
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    seen->interrupts = !sigismember(&mask, SIGINT);
}

/* Waits for the caller. */
static void
stay(void *data)
{
    pthread_mutex_t *gate = data;

    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
}

static void
pieces_are_done(struct spare *spare)
{
    struct seen seen = {.number = 1};

    for (int i = 0; i < 10; i++) {
        spare_start(spare, look, &seen);
        while (!spare_wait(spare, 1))
            ;
        T(seen.number == 2 << i, "piece %d is done once", i);
    }
    T(!pthread_equal(seen.thread, pthread_self()), "by another thread");
    T(seen.priority == 19, "of the lowest priority: %d", seen.priority);
    T(getpriority(PRIO_PROCESS, 0) < 19, "the caller's priority is unchanged");
    T(!seen.interrupts, "the other thread blocks all signals");
}

static void
a_wait_is_as_long_as_said(struct spare *spare)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

    T(spare_wait(spare, 0), "without a piece there is no wait");
    pthread_mutex_lock(&gate);
    spare_start(spare, stay, &gate);
    T(!spare_wait(spare, 0) && !spare_wait(spare, 0.01),
      "an unfinished piece returns 0");
    pthread_mutex_unlock(&gate);
    while (!spare_wait(spare, 1))
        ;
    T(spare_wait(spare, 0), "once done, it stays done");
}

int
main(void)
{
    struct seen seen = {.number = 1};
    struct err err;
    struct spare *spare = spare_open(&err);

    T(spare != NULL, "a spare thread");
    pieces_are_done(spare);
    a_wait_is_as_long_as_said(spare);
    spare_start(spare, look, &seen);
    spare_close(spare);
    T(seen.number == 2, "the last piece is done before it ends");
    spare_close(NULL);
    return t_done();
}
