#include <poll.h>
#include <signal.h>

#include "child.h"
#include "t.h"
#include "util/stop.h"

static void
two_signals(const void *arg)
{
    struct err err;
    struct pollfd p = {.events = POLLIN};

    p.fd = stop_fd(&err);
    if (poll(&p, 1, 0) || stop_asked())
        puts("too early");
    raise(*(const int *)arg);
    if (poll(&p, 1, 0) != 1 || !stop_asked() || !stop_asked())
        puts("not noticed");
    puts("alive");
    fflush(stdout);
    raise(*(const int *)arg);
    puts("still alive");
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
    static int signals[] = {SIGINT, SIGTERM};
    struct child c;

    T(!stop_asked(), "nobody asked");
    for (int i = 0; i < 2; i++) {
        c = child_run(two_signals, &signals[i]);
        T(!strcmp(c.out, "alive\n"), "the first signal only asks");
        T(c.signal == signals[i], "the second one kills");
    }
    c = child_run(write_to_nobody, NULL);
    T(c.code == 0, "a closed pipe is an error, not a signal");
    return t_done();
}
