#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"
#include "util/clock.h"
#include "util/mem.h"

enum { PAUSE_MS = 20 };

/* The groups that it watches. */
struct groups {
    struct guard_group *group;
    size_t n, room;
};

static void
drop_group(struct groups *groups, pid_t pid)
{
    for (size_t i = 0; i < groups->n; i++)
        if (groups->group[i].pid == pid)
            groups->group[i--] = groups->group[--groups->n];
}

/* Reads what is to be watched and forgotten until the other end is closed. */
static void
read_groups(int fd, struct groups *groups)
{
    struct guard_group group;
    ssize_t n;

    while ((n = read(fd, &group, sizeof group)) > 0 || (n && errno == EINTR)) {
        if (n != sizeof group)
            continue; // none is torn: they are shorter than PIPE_BUF
        if (group.pid < 0) {
            drop_group(groups, -group.pid);
        } else {
            mem_grow(&groups->group, &groups->room, groups->n + 1,
                     sizeof group);
            groups->group[groups->n++] = group;
        }
    }
}

/* Kills what is left of each group when its leader is gone, or in time. */
static void
end_groups(struct groups *groups, double grace)
{
    const double until = clock_now() + grace;

    for (size_t i = 0; i < groups->n; i++)
        if (groups->group[i].is_script)
            kill(-groups->group[i].pid, SIGTERM);
    while (groups->n) {
        for (size_t i = 0; i < groups->n; i++) {
            const struct guard_group group = groups->group[i];
            const pid_t all = group.is_script ? -group.pid : group.pid;

            if (kill(all, 0) && errno == ESRCH)
                kill(-group.pid, SIGKILL);
            else if (clock_now() < until || !kill(-group.pid, SIGKILL))
                continue;
            drop_group(groups, group.pid);
            i--;
        }
        poll(NULL, 0, PAUSE_MS);
    }
}

/* It has nothing of ours but the pipe: no terminal, no descriptor. */
_Noreturn static void
stand_guard(int fd, double grace)
{
    struct groups groups = {0};
    const long most = sysconf(_SC_OPEN_MAX);

    setsid();
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    for (int i = 0; i < (most < 256 ? most : 256); i++)
        if (i != fd)
            close(i);
    read_groups(fd, &groups);
    end_groups(&groups, grace);
    _exit(0);
}

int
guard_open(struct guard *guard, double grace, struct err *err)
{
    int fd[2];

    if (pipe(fd) || fcntl(fd[1], F_SETFD, FD_CLOEXEC))
        return err_sys(err, "cannot make a pipe");
    guard->pid = fork();
    if (guard->pid < 0)
        return err_sys(err, "cannot start a process");
    if (!guard->pid)
        stand_guard(fd[0], grace);
    close(fd[0]);
    guard->pipe = fd[1];
    return 0;
}

static void
write_group(const struct guard *guard, struct guard_group group)
{
    ssize_t n;

    do
        n = write(guard->pipe, &group, sizeof group);
    while (n < 0 && errno == EINTR);
}

void
guard_watch(const struct guard *guard, pid_t group, int is_script)
{
    write_group(guard, (struct guard_group){group, is_script});
}

void
guard_forget(const struct guard *guard, pid_t group)
{
    write_group(guard, (struct guard_group){-group, 0});
}

void
guard_close(struct guard *guard)
{
    close(guard->pipe);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}
