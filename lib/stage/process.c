#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "stage/process.h"
#include "util/clock.h"
#include "util/mem.h"

enum { PAUSE_MS = 20 };

static const double tick_s = 0.1;  // of the guard
static const double unknown_s = 1; // what a group without a number yet has

/*
 * The guard.  Its input has a line for each group that runs,
 *
 *     MARK:TARGET:SIGNAL:TICKS
 *
 * where TARGET is what kill(1) sends the signal to when we end, the number of
 * the command or "-" and that of its group, "-" alone before it has one.  MARK
 * alone: the group has ended, and only processes that have left it are to be
 * killed.  A point: all have ended.
 *
 * One that starts another process between the search of kill_marked and its end
 * is found by the next search; the number of these is limited, as a process
 * that waits for a disk is killed late.
 */
static char guard_script[] =
    "trap '' HUP INT TERM\n"
    "echo foil-guard >/proc/$$/comm\n"
    "kill_marked() {\n"
    "    i=20\n"
    "    while [ $((i -= 1)) -gt 0 ] &&\n"
    "        found=$(grep -lsz \"^FOIL_GROUP=$1\\$\" /proc/[0-9]*/environ |\n"
    "            tr -dc '0-9\\n') && [ \"$found\" ]; do\n"
    "        kill -s KILL $found\n"
    "    done\n"
    "}\n"
    "drop() {\n"
    "    kept=\n"
    "    for one in $groups; do\n"
    "        case $one in \"$1\":*) ;; *) kept=\"$kept $one\" ;; esac\n"
    "    done\n"
    "    groups=$kept\n"
    "}\n"
    "split() {\n"
    "    IFS=:\n"
    "    set -- $1\n"
    "    unset IFS\n"
    "    mark=$1 target=$2 signal=$3 ticks=$4\n"
    "}\n"
    "groups=\n"
    "while read -r line; do\n"
    "    [ \"$line\" = . ] && exit\n"
    "    drop \"${line%%:*}\"\n"
    "    case $line in\n"
    "    *:*) groups=\"$groups $line\" ;;\n"
    "    *) kill_marked \"$line\" ;;\n"
    "    esac\n"
    "done\n"
    "for group in $groups; do\n"
    "    split \"$group\"\n"
    "    [ \"$target\" = - ] || kill -s \"$signal\" -- \"$target\"\n"
    "done\n"
    "tick=0\n"
    "while [ \"$groups\" ]; do\n"
    "    for group in $groups; do\n"
    "        split \"$group\"\n"
    "        [ \"$tick\" -lt \"$ticks\" ] && {\n"
    "            [ \"$target\" = - ] || kill -s 0 -- \"$target\"\n"
    "        } && continue\n"
    "        [ \"$target\" = - ] || kill -s KILL -- \"-${target#-}\"\n"
    "        kill_marked \"$mark\"\n"
    "        drop \"$mark\"\n"
    "    done\n"
    "    sleep 0.1\n"
    "    tick=$((tick + 1))\n"
    "done\n";

static struct {
    pthread_mutex_t lock; // of all this
    pid_t pid;
    int fd; // of its input
    struct stage_process *first;
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* ------------------------------------------------------------------- start */

/* Whether an entry of the environment has the name that `other` begins with. */
static int
same_name(const char *entry, const char *other)
{
    const size_t n = other ? strcspn(other, "=") + 1 : 0;

    return n && !strncmp(entry, other, n);
}

/* Our environment without FOIL_GROUP, with up to two entries that take the
 * place of others; the array is to be freed. */
static char **
make_environment(char *group, char *variable)
{
    size_t n = 0, m = 0;
    char **all;

    while (environ && environ[n])
        n++;
    all = mem_array(n + 3, sizeof *all);
    if (group)
        all[m++] = group;
    if (variable)
        all[m++] = variable;
    for (size_t i = 0; i < n; i++)
        if (!same_name(environ[i], "FOIL_GROUP=") &&
            !same_name(environ[i], variable))
            all[m++] = environ[i];
    return all;
}

static int
set_files(posix_spawn_file_actions_t *files, const int *fd, size_t n)
{
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++)
        if (fd[i] == STAGE_NULL)
            rc = posix_spawn_file_actions_addopen(files, (int)i, "/dev/null",
                                                  O_RDWR, 0);
        else if (fd[i] >= 0)
            rc = posix_spawn_file_actions_adddup2(files, fd[i], (int)i);
    return rc;
}

/*
 * Starts a program in a session of its own: 0, or the number of the error.
 *   all  1: it inherits all descriptors that have no FD_CLOEXEC; 0: only fd
 */
static int
spawn_words(pid_t *pid, char *const *argv, char *const *environment,
            const int *fd, size_t n, int all)
{
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
    if (!rc)
        rc = set_files(&files, fd, n);
    if (!rc && !all)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, (int)n);
    if (!rc)
        rc = posix_spawnattr_setsigmask(&attr, &none);
    if (!rc)
        rc = posix_spawnattr_setsigdefault(&attr, &pipes);
    if (!rc)
        rc = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID |
                                                 POSIX_SPAWN_SETSIGMASK |
                                                 POSIX_SPAWN_SETSIGDEF);
    if (!rc)
        rc = posix_spawnp(pid, argv[0], &files, &attr, argv, environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return rc;
}

/* As execvp() does, has a shell run a script without "#!". */
static int
spawn_script(pid_t *pid, char *const *argv, char *const *environment,
             const struct stage_process_config *config)
{
    static char sh[] = "sh", option[] = "-c", line[] = "exec \"$0\" \"$@\"";
    size_t n = 0;
    char **words;
    int rc;

    while (argv[n])
        n++;
    words = mem_array(n + 4, sizeof *words);
    words[0] = sh;
    words[1] = option;
    words[2] = line;
    memcpy(words + 3, argv, n * sizeof *words);
    rc = spawn_words(pid, words, environment, config->fd, config->n_fd, 1);
    free(words);
    return rc;
}

static int
spawn_command(pid_t *pid, const struct stage_process_config *config,
              const char *mark)
{
    char *group = mem_format("FOIL_GROUP=%s", mark);
    char **environment = make_environment(group, config->variable);
    int rc = spawn_words(pid, config->argv, environment, config->fd,
                         config->n_fd, 1);

    if (rc == ENOEXEC)
        rc = spawn_script(pid, config->argv, environment, config);
    free(environment);
    free(group);
    return rc;
}

/* --------------------------------------------------------------- the guard */

/* A guard that was killed does not read it. */
static void
write_guard(const char *line)
{
    size_t n = strlen(line);

    while (n) {
        const ssize_t sent = send(guard.fd, line, n, MSG_NOSIGNAL);

        if (sent < 0 && errno != EINTR)
            return;
        line += sent > 0 ? sent : 0;
        n -= sent > 0 ? (size_t)sent : 0;
    }
}

static void
watch_process(const struct stage_process *p)
{
    const double grace_s = p->pid ? p->grace_s : unknown_s;
    char line[128], target[24] = "";

    if (p->pid)
        snprintf(target, sizeof target, "%jd", (intmax_t)p->pid);
    snprintf(line, sizeof line, "%s:%s%s:%d:%.0f\n", p->mark,
             p->pid && p->ask == STAGE_ASK_LEADER ? "" : "-", target,
             p->ask == STAGE_ASK_INPUT ? 0 : p->signal, ceil(grace_s / tick_s));
    write_guard(line);
}

/* It has nothing of ours but its input: no terminal, no descriptor, no mark. */
static int
open_guard(void)
{
    static char sh[] = "sh", option[] = "-c", name[] = "foil-guard";
    char *argv[] = {sh, option, guard_script, name, NULL};
    char **environment = make_environment(NULL, NULL);
    int ends[2], fd[] = {-1, STAGE_NULL, STAGE_NULL}, rc;

    rc = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) ? errno : 0;
    if (!rc) {
        fd[0] = ends[0];
        rc = spawn_words(&guard.pid, argv, environment, fd, 3, 0);
        close(ends[0]);
        if (rc)
            close(ends[1]);
    }
    guard.fd = rc ? -1 : ends[1];
    if (rc)
        guard.pid = 0;
    free(environment);
    return rc;
}

/* Starts another where it was killed. */
static void
keep_guard(void)
{
    pthread_mutex_lock(&guard.lock);
    if (guard.pid && waitpid(guard.pid, NULL, WNOHANG)) {
        close(guard.fd);
        if (!open_guard())
            for (const struct stage_process *p = guard.first; p; p = p->next)
                watch_process(p);
    }
    pthread_mutex_unlock(&guard.lock);
}

/* Has the guard know the mark before there is a process. */
static int
add_process(struct stage_process *p)
{
    struct timespec now;
    int rc = 0;

    pthread_mutex_lock(&guard.lock);
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(p->mark, sizeof p->mark, "%jd.%jd.%09ld", (intmax_t)getpid(),
             (intmax_t)now.tv_sec, now.tv_nsec);
    if (!guard.pid)
        rc = open_guard();
    if (!rc) {
        p->next = guard.first;
        guard.first = p;
        watch_process(p);
    }
    pthread_mutex_unlock(&guard.lock);
    return rc;
}

static void
drop_process(struct stage_process *p)
{
    struct stage_process **at = &guard.first;
    char line[sizeof p->mark + 2];

    pthread_mutex_lock(&guard.lock);
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    p->pid = 0;
    snprintf(line, sizeof line, "%s\n", p->mark);
    write_guard(line);
    if (!guard.first && guard.pid) {
        write_guard(".\n");
        close(guard.fd);
        while (waitpid(guard.pid, NULL, 0) < 0 && errno == EINTR)
            continue;
        guard.pid = 0;
        guard.fd = -1;
    }
    pthread_mutex_unlock(&guard.lock);
}

/* -------------------------------------------------------------- a process */

int
stage_process_start(struct stage_process *p,
                    const struct stage_process_config *config)
{
    pid_t pid;
    int rc;

    *p = (struct stage_process){.ask = config->ask,
                                .signal = config->signal,
                                .grace_s = config->grace_s};
    rc = add_process(p);
    if (rc)
        return rc;
    rc = spawn_command(&pid, config, p->mark);
    if (rc) {
        drop_process(p);
        return rc;
    }
    pthread_mutex_lock(&guard.lock);
    p->pid = pid;
    watch_process(p);
    pthread_mutex_unlock(&guard.lock);
    return 0;
}

/* It is not waited for yet: its number stays that of the group. */
int
stage_process_ended(struct stage_process *p)
{
    siginfo_t info = {0};

    if (!p->pid)
        return 1;
    keep_guard();
    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
           info.si_pid;
}

void
stage_process_ask(const struct stage_process *p)
{
    if (p->pid)
        kill(p->ask == STAGE_ASK_LEADER ? p->pid : -p->pid, p->signal);
}

void
stage_process_kill(const struct stage_process *p)
{
    if (p->pid)
        kill(-p->pid, SIGKILL);
}

void
stage_process_end(struct stage_process *p, double grace_s)
{
    const double until = clock_now() + grace_s;
    const int options = grace_s > 0 ? WNOHANG : 0;
    int status;
    pid_t pid;

    if (!p->pid)
        return;
    kill(-p->pid, grace_s > 0 ? p->signal : SIGKILL);
    while ((pid = waitpid(-p->pid, &status, options)) >= 0 || errno == EINTR) {
        if (pid == p->pid)
            p->status = status;
        if (!pid && clock_now() > until)
            kill(-p->pid, SIGKILL);
        if (!pid)
            poll(NULL, 0, PAUSE_MS);
    }
    drop_process(p);
}

int
stage_process_wait(struct stage_process *p, int stop)
{
    struct pollfd wait = {.fd = stop, .events = POLLIN};

    while (!stage_process_ended(p))
        if (poll(&wait, 1, PAUSE_MS) > 0) {
            stage_process_ask(p);
            wait.fd = -1;
        }
    stage_process_end(p, 0);
    return p->status;
}

int
stage_process_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
