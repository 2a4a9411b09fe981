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
#include "util/err.h"
#include "util/mem.h"

enum { PAUSE_MS = 20 };

/*
 * The guard.  It reads a line for each running group, "MARK TARGET SIGNAL
 * TICKS".  When the parent ends, it sends the signal to TARGET, a process
 * number or "-" and a group number, and kills the group when the target has
 * ended or after TICKS tenths of a second.  TARGET is "-" before the command
 * runs.  A line with MARK alone: the group has ended; the guard kills the
 * processes that left it.  "." alone: all groups have ended.
 *
 * kill_marked searches again because a process may start another between the
 * search and its own end; the limit is for processes blocked on a disk, which
 * end late.
 */
static char guard_script[] =
    "trap '' HUP INT TERM\n"
    "echo foil-guard >/proc/$$/comm\n"
    "kill_marked() {\n"
    "    for i in $(seq 20); do\n"
    "        at=$(grep -lsz \"^FOIL_GROUP=$1\\$\" /proc/[0-9]*/environ)\n"
    "        [ \"$at\" ] || break\n"
    "        kill -s KILL $(echo \"$at\" | tr -dc '0-9\\n')\n"
    "    done\n"
    "}\n"
    "end_group() {\n"
    "    [ \"$2\" = - ] && sleep 1\n"
    "    kill -s \"$3\" -- \"$2\"\n"
    "    i=0\n"
    "    while [ $((i += 1)) -le \"$4\" ] && kill -s 0 -- \"$2\"; do\n"
    "        sleep 0.1\n"
    "    done\n"
    "    kill -s KILL -- \"-${2#-}\"\n"
    "    kill_marked \"$1\"\n"
    "}\n"
    "groups=\n"
    "while read -r mark rest; do\n"
    "    [ \"$mark\" = . ] && exit\n"
    "    groups=$(echo \"$groups\" | grep -v \"^$mark \")\n"
    "    [ \"$rest\" ] || kill_marked \"$mark\"\n"
    "    [ \"$rest\" ] && groups=\"$groups\n$mark $rest\"\n"
    "done\n"
    "echo \"$groups\" | {\n"
    "    while read -r mark target signal ticks; do\n"
    "        [ \"$mark\" ] && end_group $mark $target $signal $ticks &\n"
    "    done\n"
    "    wait\n"
    "}\n";

static struct {
    pthread_mutex_t lock; // protects the fields below
    pid_t pid;
    int fd; // its standard input
    struct stage_process *first;
} guard = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* Returns a copy of the environment with this FOIL_GROUP entry, or none; to be
 * freed. */
static char **
make_environment(char *group)
{
    size_t n = 0, m = 0;
    char **all;

    while (environ && environ[n])
        n++;
    all = mem_array(n + 2, sizeof *all);
    if (group)
        all[m++] = group;
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "FOIL_GROUP=", 11) != 0)
            all[m++] = environ[i];
    return all;
}

/* Starts a program in its own session: 0, or an errno value.  Without a group
 * it inherits no other descriptors. */
static int
spawn_words(pid_t *pid, char *const *argv,
            const struct stage_process_config *config, char *group)
{
    const short flags =
        POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    char **environment = make_environment(group);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, pipes;
    int rc = 0;

    sigemptyset(&none);
    sigemptyset(&pipes);
    sigaddset(&pipes, SIGPIPE);
    REQUIRE(!posix_spawn_file_actions_init(&files) &&
            !posix_spawnattr_init(&attr) &&
            !posix_spawnattr_setsigmask(&attr, &none) &&
            !posix_spawnattr_setsigdefault(&attr, &pipes) &&
            !posix_spawnattr_setflags(&attr, flags));
    for (int i = 0; i < (int)config->n_fd && !rc; i++)
        if (config->fd[i] == STAGE_NULL)
            rc = posix_spawn_file_actions_addopen(&files, i, "/dev/null",
                                                  O_RDWR, 0);
        else if (config->fd[i] >= 0)
            rc = posix_spawn_file_actions_adddup2(&files, config->fd[i], i);
    if (!rc && !group)
        rc =
            posix_spawn_file_actions_addclosefrom_np(&files, (int)config->n_fd);
    if (!rc)
        rc = posix_spawnp(pid, argv[0], &files, &attr, argv, environment);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return rc;
}

/* A script without "#!" runs by a shell, as with execvp(). */
static int
spawn_command(pid_t *pid, const struct stage_process_config *config,
              const char *mark)
{
    static char sh[] = "sh", option[] = "-c", line[] = "exec \"$0\" \"$@\"";
    char *group = mem_format("FOIL_GROUP=%s", mark), **words;
    int rc = spawn_words(pid, config->argv, config, group);
    size_t n = 0;

    if (rc == ENOEXEC) {
        while (config->argv[n])
            n++;
        words = mem_array(n + 4, sizeof *words);
        words[0] = sh;
        words[1] = option;
        words[2] = line;
        memcpy(words + 3, config->argv, n * sizeof *words);
        rc = spawn_words(pid, words, config, group);
        free(words);
    }
    free(group);
    return rc;
}

/* Sends a line, short enough for one write, to the guard.  An error is ignored,
 * such as that the guard was killed. */
static void
write_guard(const char *line)
{
    while (send(guard.fd, line, strlen(line), MSG_NOSIGNAL) < 0 &&
           errno == EINTR)
        continue;
}

static void
send_process(const struct stage_process *p)
{
    char line[128], target[24] = "-";

    if (p->pid)
        snprintf(
            target, sizeof target, "%jd",
            (intmax_t)(p->ask == STAGE_TERMINATE_LEADER ? p->pid : -p->pid));
    snprintf(line, sizeof line, "%s %s %d %.0f\n", p->mark, target,
             p->ask == STAGE_TERMINATE_INPUT ? 0 : p->signal,
             ceil(10 * p->grace_s));
    write_guard(line);
}

/* The guard inherits only its input: no terminal, other descriptors or mark. */
static int
open_guard(void)
{
    static char sh[] = "sh", option[] = "-c";
    char *argv[] = {sh, option, guard_script, NULL};
    int ends[2], fd[] = {-1, STAGE_NULL, STAGE_NULL}, rc;
    const struct stage_process_config config = {.fd = fd, .n_fd = 3};

    guard.pid = 0;
    guard.fd = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
        return errno;
    fd[0] = ends[0];
    rc = spawn_words(&guard.pid, argv, &config, NULL);
    close(ends[0]);
    if (rc)
        close(ends[1]);
    else
        guard.fd = ends[1];
    return rc;
}

/* Sends the mark to the guard before the process exists. */
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
        send_process(p);
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
    send_process(p);
    pthread_mutex_unlock(&guard.lock);
    return 0;
}

/* WNOWAIT keeps the process number, which is also the group's, in use. */
int
stage_process_ended(struct stage_process *p)
{
    siginfo_t info = {0};

    if (!p->pid)
        return 1;
    pthread_mutex_lock(&guard.lock); // start another guard if it was killed
    if (guard.pid && waitpid(guard.pid, NULL, WNOHANG)) {
        close(guard.fd);
        if (!open_guard())
            for (const struct stage_process *q = guard.first; q; q = q->next)
                send_process(q);
    }
    pthread_mutex_unlock(&guard.lock);
    return waitid(P_PID, (id_t)p->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
           info.si_pid;
}

void
stage_process_terminate(const struct stage_process *p)
{
    if (p->pid)
        kill(p->ask == STAGE_TERMINATE_LEADER ? p->pid : -p->pid, p->signal);
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
            stage_process_terminate(p);
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
