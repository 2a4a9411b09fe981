#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "util/stop.h"

static int pipe_fd[2] = {-1, -1};

static void
on_signal(int sig)
{
    int saved = errno;
    ssize_t n = write(pipe_fd[1], "", 1);

    (void)sig;
    (void)n;
    errno = saved;
}

int
stop_fd(struct err *err)
{
    struct sigaction sa = {.sa_handler = on_signal,
                           .sa_flags = (int)SA_RESETHAND};

    if (pipe(pipe_fd) || fcntl(pipe_fd[0], F_SETFD, FD_CLOEXEC) ||
        fcntl(pipe_fd[1], F_SETFD, FD_CLOEXEC) ||
        fcntl(pipe_fd[1], F_SETFL, O_NONBLOCK) ||
        sigaction(SIGINT, &sa, NULL) || sigaction(SIGTERM, &sa, NULL) ||
        signal(SIGPIPE, SIG_IGN) == SIG_ERR)
        return err_sys(err, "cannot watch for signals");
    return pipe_fd[0];
}

int
stop_asked(void)
{
    struct pollfd p = {.fd = pipe_fd[0], .events = POLLIN};

    return pipe_fd[0] >= 0 && poll(&p, 1, 0) > 0;
}
