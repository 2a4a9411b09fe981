#include <poll.h>
#include <signal.h>

#include "child.h"
#include "t.h"
#include "util/stop.h"

static void
two_signals(const void *arg)
{
    const int sig = *(const int *)arg;
    struct err err;
    struct pollfd p = {.events = POLLIN};

    p.fd = stop_fd(&err);
    if (poll(&p, 1, 0) || stop_requested())
        puts("too early");
    kill(getpid(), sig);
    if (poll(&p, 1, 60000) != 1 || !stop_requested() || !stop_requested())
        puts("not noticed");
    puts("alive");
    fflush(stdout);
    kill(getpid(), sig);
    sleep(60);
    puts("still alive");
}

/* The effect of a handler's frame on the heap, see lib/util/stop.c. */
static void
no_handler_runs_here(const void *arg)
{
    struct err err;
    sigset_t blocked;

    (void)arg;
    if (stop_fd(&err) < 0 || pthread_sigmask(SIG_BLOCK, NULL, &blocked))
        exit(3);
    exit(sigismember(&blocked, SIGINT) && sigismember(&blocked, SIGTERM) ? 0
                                                                         : 4);
}

/* As under nohup. */
static void
ignored_hangup(const void *arg)
{
    struct err err;

    (void)arg;
    signal(SIGHUP, SIG_IGN);
    if (stop_fd(&err) < 0)
        exit(3);
    kill(getpid(), SIGHUP);
    sleep(1);
    exit(stop_requested() ? 4 : 0);
}

static void
end(void)
{
    _exit(5);
}

static void
call(const void *arg)
{
    struct err err;

    if (stop_with_callback(end, &err))
        exit(3);
    kill(getpid(), *(const int *)arg);
    for (;;)
        ; // it computes without polling
}

static void
write_to_nobody(const void *arg)
{
    struct err err;
    int fd[2];

    (void)arg;
    if (stop_fd(&err) < 0 || pipe(fd))
        exit(3);
    close(fd[0]);
    exit(write(fd[1], "x", 1) == -1 ? 0 : 4);
}

int
main(void)
{
    static int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct child c;

    T(!stop_requested(), "before any signal");
    for (int i = 0; i < 3; i++) {
        c = child_run(two_signals, &signals[i]);
        T(!strcmp(c.out, "alive\n"), "the first signal only asks");
        T(c.signal == signals[i], "the second one kills");
    }
    for (int i = 0; i < 3; i++) {
        c = child_run(call, &signals[i]);
        T(c.code == 5, "the first signal runs the callback");
    }
    c = child_run(ignored_hangup, NULL);
    T(c.code == 0, "an ignored SIGHUP stays ignored");
    c = child_run(no_handler_runs_here, NULL);
    T(c.code == 0, "the caller's thread receives no signal");
    c = child_run(write_to_nobody, NULL);
    T(c.code == 0, "a closed pipe is an error, not a signal");
    return t_done();
}
