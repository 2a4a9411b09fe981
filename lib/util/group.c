#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "group.h"

/*
 * Kills all processes with the group's mark, $1, in their environment, whatever
 * their session and parent.  One that starts another between the search and its
 * end is found by the next search; the number of these is limited, as a process
 * that waits for a disk is killed late.
 */
#define KILL_MARKED                                                          \
    "i=0; while [ $((i += 1)) -le 20 ] && "                                  \
    "set -- \"$1\" $(grep -lsz \"^FOIL_GROUP=$1\\$\" /proc/[0-9]*/environ) " \
    "&& "                                                                    \
    "[ $# -gt 1 ]; do for at in \"$@\"; do at=${at%/environ}; "              \
    "case $at in /proc/*) kill -s KILL \"${at#/proc/}\";; esac; done; "      \
    "set -- \"$1\"; done 2>/dev/null; "

/* The program may end by itself in the second after ours: its input has ended,
 * too. */
static char keeper[] =
    "trap '' HUP INT TERM; read line; sleep 1; " KILL_MARKED "kill -s KILL 0";
static char marked[] = KILL_MARKED;
static char program[] = "FOIL_MEMORY=/proc/self/fd/3 FOIL_GROUP=$1; "
                        "export FOIL_MEMORY FOIL_GROUP; exec sh -c \"$2\"";

/* Starts a shell in the group `leader`, 0 for one of its own; 0, or errno.
 *   mark, line  the script's $1 and $2
 *   fd          [n] what it has as descriptors 0 to n - 1 */
static int
spawn_shell(pid_t *pid, pid_t leader, char *script, char *mark, char *line,
            const int *fd, int n)
{
    char name[] = "sh", option[] = "-c";
    char *argv[] = {name, option, script, name, mark, line, NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, pipes;
    int rc;

    sigemptyset(&none);
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    rc = posix_spawn_file_actions_init(&files);
    if (rc)
        return rc;
    rc = posix_spawnattr_init(&attr);
    for (int i = 0; i < n && !rc; i++)
        rc = posix_spawn_file_actions_adddup2(&files, fd[i], i);
    if (!rc)
        rc = posix_spawnattr_setpgroup(&attr, leader);
    if (!rc)
        rc = posix_spawnattr_setsigmask(&attr, &none);
    if (!rc)
        rc = posix_spawnattr_setsigdefault(&attr, &pipes);
    if (!rc)
        rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP |
                                                 POSIX_SPAWN_SETSIGMASK |
                                                 POSIX_SPAWN_SETSIGDEF);
    if (!rc)
        rc = posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

static int
start_keeper(struct group *group)
{
    int end[2], none, fd[3], rc = 0;

    if (pipe2(end, O_CLOEXEC))
        return errno;
    none = open("/dev/null", O_RDWR | O_CLOEXEC);
    fd[0] = fcntl(end[0], F_DUPFD_CLOEXEC, 4);
    fd[1] = fd[2] = none < 0 ? -1 : fcntl(none, F_DUPFD_CLOEXEC, 4);
    if (fd[0] < 0 || fd[1] < 0)
        rc = errno;
    else
        rc = spawn_shell(&group->keeper, 0, keeper, group->mark, NULL, fd, 3);
    for (int i = 0; i < 2; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    if (none >= 0)
        close(none);
    close(end[0]);
    group->keep = end[1];
    if (rc) {
        close(end[1]);
        group->keeper = 0;
    }
    return rc;
}

int
group_start(struct group *group, char *line, const int fd[4], struct err *err)
{
    struct timespec now;
    int rc;

    *group = (struct group){.keep = -1};
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(group->mark, sizeof group->mark, "%jd.%jd.%09ld",
             (intmax_t)getpid(), (intmax_t)now.tv_sec, now.tv_nsec);
    rc = start_keeper(group);
    if (!rc) {
        rc = spawn_shell(&group->pid, group->keeper, program, group->mark, line,
                         fd, 4);
        if (rc) {
            group->pid = 0;
            group_end(group);
        }
    }
    errno = rc;
    return rc ? err_sys(err, "cannot start '%.200s'", line) : 0;
}

int
group_ended(struct group *group)
{
    if (group->pid && waitpid(group->pid, &group->status, WNOHANG))
        group->pid = 0;
    return !group->pid;
}

void
group_ask(const struct group *group)
{
    if (group->keeper)
        kill(-group->keeper, SIGTERM);
}

static void
wait_for_process(pid_t pid, int *status)
{
    while (pid && waitpid(pid, status, 0) < 0 && errno == EINTR)
        continue;
}

void
group_end(struct group *group)
{
    pid_t shell = 0;

    if (!group->keeper)
        return;
    kill(-group->keeper, SIGKILL);
    wait_for_process(group->pid, &group->status);
    wait_for_process(group->keeper, NULL);
    if (!spawn_shell(&shell, 0, marked, group->mark, NULL, NULL, 0))
        wait_for_process(shell, NULL);
    close(group->keep);
    group->pid = group->keeper = 0;
}
