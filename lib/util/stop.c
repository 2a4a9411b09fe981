#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "util/stop.h"

static int pipe_fd[2] = {-1, -1};
static void (*on_first_signal)(void);
static void (*if_still_running)(void);

/* A separate thread receives the signals, and no thread runs a handler:
 * oneDNN's matrix products use the stack pointer for memory on the heap, and a
 * handler's frame would be written there (its issue 4845, fixed in 3.11). */
static void *
watch_signals(void *signals)
{
    const struct timespec soon = {.tv_nsec = 500000000};
    int sig;
    ssize_t n;

    sigwait(signals, &sig);
    n = write(pipe_fd[1], "", 1);
    (void)n;
    if (on_first_signal)
        on_first_signal();
    if (!if_still_running || (sig = sigtimedwait(signals, NULL, &soon)) < 0) {
        if (if_still_running)
            if_still_running();
        sigwait(signals, &sig);
    }
    signal(sig, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, signals, NULL);
    raise(sig);
    return NULL;
}

static int
start_watching(struct err *err)
{
    static sigset_t signals;
    struct sigaction hangup;
    pthread_t thread;
    int rc;

    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1); // mpirun and Slurm forward it
    if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
        sigaddset(&signals, SIGHUP);
    if (pipe(pipe_fd) || fcntl(pipe_fd[0], F_SETFD, FD_CLOEXEC) ||
        fcntl(pipe_fd[1], F_SETFD, FD_CLOEXEC))
        return err_sys(err, "cannot watch for signals");
    rc = pthread_sigmask(SIG_BLOCK, &signals, NULL);
    if (!rc)
        rc = pthread_create(&thread, NULL, watch_signals, &signals);
    if (rc) {
        errno = rc;
        return err_sys(err, "cannot watch for signals");
    }
    pthread_detach(thread);
    return 0;
}

void
stop_set_callbacks(void (*first)(void), void (*busy)(void))
{
    on_first_signal = first;
    if_still_running = busy;
}

int
stop_fd(struct err *err)
{
    if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        return err_sys(err, "cannot watch for signals");
    return start_watching(err) ? -1 : pipe_fd[0];
}

int
stop_with_callback(void (*call)(void), struct err *err)
{
    on_first_signal = call;
    return start_watching(err);
}

int
stop_create_thread(pthread_t *thread, void *(*work)(void *), void *arg)
{
    sigset_t all, before;
    int rc;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, NULL, work, arg);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

void
stop_unblock(void)
{
    sigset_t none;

    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

int
stop_requested(void)
{
    struct pollfd p = {.fd = pipe_fd[0], .events = POLLIN};

    return pipe_fd[0] >= 0 && poll(&p, 1, 0) > 0;
}
