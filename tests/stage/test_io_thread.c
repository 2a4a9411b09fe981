#include "stage/io_thread.h"

#include <poll.h>

#include "t.h"
#include "util/clock.h"

/* What both threads change. */
struct shared {
    int calls, inside, overlaps;
};

static void
serve(void *self)
{
    struct shared *s = self;

    s->overlaps += s->inside;
    s->calls++;
}

/* Computes without the lock until serve() was called `calls` times in all. */
static int
computes_until(struct stage_io *io, struct shared *s, int calls)
{
    const double until = clock_now() + 60;
    int seen = 0;

    while (seen < calls && clock_now() < until) {
        stage_io_unlock(io);
        poll(NULL, 0, 10);
        stage_io_lock(io);
        seen = s->calls;
    }
    return seen >= calls;
}

static void
the_thread_serves_while_main_computes(void)
{
    struct shared s = {0};
    struct stage_io io = {.is_open = 0};
    struct err err = {""};

    T(!stage_io_open(&io, serve, &s, &err), "a thread %s", err.msg);
    T(computes_until(&io, &s, 2), "it serves while the main thread computes");
    s.inside = 1;
    poll(NULL, 0, 600);
    s.inside = 0;
    T(computes_until(&io, &s, s.calls + 1), "it serves again after a pause");
    T(!s.overlaps, "it does not serve while the main thread has the lock");
    stage_io_close(&io);
    s.calls = 0;
    poll(NULL, 0, 600);
    T(!s.calls, "it does not serve after the end");
}

static void
without_a_thread_nothing_happens(void)
{
    struct stage_io io = {.is_open = 0};

    stage_io_unlock(&io);
    stage_io_lock(&io);
    stage_io_close(&io);
    T(1, "all functions are harmless without a thread");
}

int
main(void)
{
    the_thread_serves_while_main_computes();
    without_a_thread_nothing_happens();
    return t_done();
}
