/*
 * A test program that leaves nothing behind.  What it has started has to be
 * gone GRACE seconds after it: what is left is named on stderr and killed.  So
 * is the program itself, with all that it has started, after LIMIT seconds or
 * by Ctrl-C.
 *
 * usage: alone LIMIT GRACE PROGRAM [ARGUMENT ...]
 *
 * Ends with the program's code, 128 + N after signal N, 124 when it did not end
 * in time, 1 when it went well and something was left.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/clock.h"

enum { TOO_LONG = 124 };

/* Up to so many bytes of /proc/PID/NAME, as a text. */
static void
look(int pid, const char *name, char *text, size_t room)
{
    char path[64];
    ssize_t n = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, room - 1);
        close(fd);
    }
    if (n < 0)
        n = 0;
    text[n] = '\0';
    for (ssize_t i = 0; i < n - 1; i++)
        if (!text[i])
            text[i] = ' ';
}

/* Whose child is it?  Its name, in brackets, may hold anything. */
static int
parent_of(int pid)
{
    char text[512];
    const char *at;
    int parent = 0;

    look(pid, "stat", text, sizeof text);
    at = strrchr(text, ')');
    if (at && sscanf(at + 1, " %*c %d", &parent) != 1)
        parent = 0;
    return parent;
}

/* Name each child and kill it; its own children become ours. */
static void
kill_children(void)
{
    DIR *all = opendir("/proc");
    const struct dirent *entry;

    if (!all) {
        perror("/proc");
        exit(1);
    }
    while ((entry = readdir(all))) {
        const int pid = isdigit((unsigned char)*entry->d_name)
                            ? (int)strtol(entry->d_name, NULL, 10)
                            : 0;
        char text[512], where[64];

        if (!pid || parent_of(pid) != getpid())
            continue;
        look(pid, "cmdline", text, sizeof text);
        look(pid, "wchan", where, sizeof where);
        kill(pid, SIGKILL);
        if (*text) // else it has ended meanwhile
            fprintf(stderr, "# left behind: %d %s (%s)\n", pid, text, where);
    }
    closedir(all);
}

/* Wait for the end of any child: 1, or 0 when `until` or a signal comes first,
 * or -1 when there is none.  Keeps the code of `program`. */
static int
reap(const sigset_t *signals, double until, pid_t program, int *code)
{
    for (;;) {
        int status;
        const pid_t pid = waitpid(-1, &status, WNOHANG);
        const double left = until - clock_now();
        const struct timespec most = {
            (time_t)left, (long)(1e9 * (left - (double)(time_t)left))};

        if (pid < 0)
            return -1;
        if (pid == program)
            *code = WIFEXITED(status) ? WEXITSTATUS(status)
                                      : 128 + WTERMSIG(status);
        if (pid)
            return 1;
        if (left <= 0)
            return 0;
        if (sigtimedwait(signals, NULL, &most) != SIGCHLD && errno != EINTR)
            return 0;
    }
}

static int
ignores(int signal)
{
    struct sigaction is;

    return !sigaction(signal, NULL, &is) && is.sa_handler == SIG_IGN;
}

/* Start the program; `signals` wait for us, and not for it.  It ignores none,
 * as a job in the background of a shell would.  Where we ignore SIGHUP, as
 * under nohup, it is in a session of its own, which no terminal hangs up. */
static pid_t
start(char **argv, sigset_t *signals)
{
    const int deaf = ignores(SIGHUP);
    sigset_t before;
    pid_t pid;

    sigemptyset(signals);
    sigaddset(signals, SIGCHLD);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    if (!deaf)
        sigaddset(signals, SIGHUP);
    sigprocmask(SIG_BLOCK, signals, &before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid = fork();
    if (!pid) {
        if (deaf)
            setsid();
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        sigprocmask(SIG_SETMASK, &before, NULL);
        execvp(*argv, argv);
        perror(*argv);
        _exit(127);
    }
    return pid;
}

int
main(int argc, char **argv)
{
    sigset_t signals;
    int code = -1, got = 1, late;
    double until;
    pid_t pid;

    if (argc < 4) {
        fprintf(stderr, "usage: alone LIMIT GRACE PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    pid = start(argv + 3, &signals);
    until = clock_now() + strtod(argv[1], NULL);
    while (code < 0 && got > 0)
        got = reap(&signals, until, pid, &code);
    if (code < 0) {
        fprintf(stderr, "# did not end\n");
        code = TOO_LONG;
        until = 0;
    } else {
        until = clock_now() + strtod(argv[2], NULL);
    }
    while ((got = reap(&signals, until, pid, &late)) > 0)
        continue;
    if (!got && !code)
        code = 1;
    while (got >= 0) {
        kill_children();
        got = reap(&signals, clock_now() + .1, pid, &late);
    }
    return code;
}
