#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "process.h"
#include "util/clock.h"
#include "util/mem.h"

enum { QUOTED = 5, QUOTED_BYTES = 4096, PAUSE_MS = 20 };

static int
is_program(const char *path)
{
    struct stat st;

    return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

static int
on_path(const char *name)
{
    const char *at = getenv("PATH");
    int found = 0;

    if (!at)
        at = "/usr/bin:/bin";
    for (size_t n; !found; at += n + 1) {
        char *path;

        n = strcspn(at, ":");
        path = mem_format("%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
        found = is_program(path);
        free(path);
        if (!at[n])
            break;
    }
    return found;
}

int
process_findable(const struct list_stage *stage, const char *list,
                 struct err *err)
{
    const char *name = stage->argv[0];

    if (strchr(name, '/') ? is_program(name) : on_path(name))
        return 0;
    return err_set(err, "%s:%d: no command '%s' for '%s'", list, stage->line,
                   name, stage->name);
}

/* Become the command; what went wrong is written to `report`. */
_Noreturn static void
become_command(const struct list_stage *stage, int in, int out, int report,
               pid_t parent)
{
    sigset_t none;

    sigemptyset(&none);
    if (!prctl(PR_SET_PDEATHSIG, stage->is_script ? 0 : stage->signal) &&
        getppid() == parent && dup2(in, STDIN_FILENO) == STDIN_FILENO &&
        (out < 0 || (dup2(out, STDOUT_FILENO) == STDOUT_FILENO &&
                     dup2(out, STDERR_FILENO) == STDERR_FILENO)) &&
        signal(SIGPIPE, SIG_DFL) != SIG_ERR &&
        !sigprocmask(SIG_SETMASK, &none, NULL))
        execvp(stage->argv[0], stage->argv);
    if (write(report, &errno, sizeof errno) < 0)
        _exit(126);
    _exit(127);
}

/* Start the command and wait until it is one: 0, or errno.  It is the child
 * that tells the guard: we may be killed at any time, as soon as it is there.
 */
static int
spawn_process(struct process *process, const struct guard *guard, int in,
              int out)
{
    const pid_t parent = getpid();
    int report[2], why = 0;

    if (pipe(report))
        return errno;
    process->pid = fork();
    if (!process->pid) {
        if (fcntl(report[1], F_SETFD, FD_CLOEXEC) || close(report[0]))
            _exit(126);
        setsid();
        guard_watch(guard, getpid(), process->stage->is_script);
        become_command(process->stage, in, out, report[1], parent);
    }
    if (process->pid < 0)
        why = errno;
    close(report[1]);
    while (process->pid > 0 && read(report[0], &why, sizeof why) < 0 &&
           errno == EINTR)
        continue;
    close(report[0]);
    if (why && process->pid > 0) {
        waitpid(process->pid, NULL, 0);
        guard_forget(guard, process->pid);
    }
    if (why)
        process->pid = 0;
    return why;
}

int
process_start(struct process *process, const struct guard *guard,
              struct err *err)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), out = -1, why = 0;
    struct stat st;

    process->due = 0;
    process->started = clock_now();
    if (in < 0)
        return err_sys(err, "cannot open '/dev/null'");
    if (process->log) {
        out =
            open(process->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (out < 0 || fstat(out, &st))
            why = err_sys(err, "cannot write '%s'", process->log);
        else
            process->since = st.st_size;
    }
    if (!why) {
        errno = spawn_process(process, guard, in, out);
        if (errno)
            why = err_sys(err, "cannot start '%s' for '%s'",
                          process->stage->argv[0], process->name);
    }
    close(in);
    if (out >= 0)
        close(out);
    return why;
}

/* Waits for all that is left of a group; returns the status of its leader. What
 * a script has left is asked to end, and killed after `grace` seconds. */
static int
end_group(const struct process *process, double grace)
{
    const int is_script = process->stage->is_script;
    const double until = clock_now() + grace;
    int one, status = 0;
    pid_t pid;

    kill(-process->pid, is_script ? SIGTERM : SIGKILL);
    while ((pid = waitpid(-process->pid, &one, is_script ? WNOHANG : 0)) >= 0 ||
           errno == EINTR) {
        if (pid == process->pid)
            status = one;
        if (!pid && clock_now() > until)
            kill(-process->pid, SIGKILL);
        if (!pid)
            poll(NULL, 0, PAUSE_MS);
    }
    return status;
}

int
process_ended(struct process *process, double grace, int *status)
{
    siginfo_t info = {0};

    if (waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
        !info.si_pid)
        return 0;
    // its number is that of the group as long as it is not waited for
    *status = end_group(process, grace);
    process->pid = 0;
    return 1;
}

int
process_code(int status)
{
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void
process_kill(const struct process *process)
{
    if (process->pid)
        kill(-process->pid, SIGKILL);
}

void
process_ask(const struct process *process)
{
    if (process->pid)
        kill(process->stage->is_script ? -process->pid : process->pid,
             process->stage->signal);
}

/* Returns where the last QUOTED lines of a text begin. */
static size_t
last_lines(const char *text, size_t n)
{
    int lines = 0;

    for (size_t i = n; i > 0; i--)
        if (text[i - 1] == '\n' && i < n && ++lines == QUOTED)
            return i;
    return 0;
}

void
process_quote(const struct process *process)
{
    FILE *file = process->log ? fopen(process->log, "rb") : NULL;
    char text[QUOTED_BYTES];
    size_t n, from;
    long size;

    if (!file)
        return;
    if (!fseek(file, 0, SEEK_END) && (size = ftell(file)) > process->since) {
        if (size - process->since > QUOTED_BYTES)
            fseek(file, -QUOTED_BYTES, SEEK_END);
        else
            fseek(file, process->since, SEEK_SET);
        n = fread(text, 1, sizeof text, file);
        from = last_lines(text, n);
        fwrite(text + from, 1, n - from, stderr);
        if (n && text[n - 1] != '\n')
            fputc('\n', stderr);
    }
    fclose(file);
}
