#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "list.h"
#include "stage/process.h"
#include "util/clock.h"
#include "util/lock.h"
#include "util/mem.h"
#include "util/opt.h"

/* Seconds before a restart: 0, then first_pause, doubled up to
 * longest_pause. */
static const double first_pause = 0.1, longest_pause = 30;

/* Seconds between the second signal to a script and SIGKILL. */
static const double script_pause = 2;

enum { QUOTED = 5, QUOTED_BYTES = 4096 }; // lines and bytes of a log

/* One process of a stage, with its log. */
struct process {
    const struct list_stage *stage;
    char *name;
    char *log;  // NULL: inherits our output
    long since; // bytes of the log when it was started
    struct stage_process run;
    long restarts;  // restarts left; -1: no limit
    double started; // as of clock_now()
    double pause;   // seconds before the next restart
    double due;     // time of the restart, as of clock_now(); 0: none
};

struct run {
    struct process *process;
    size_t n, main;
    double grace;
    int signals;     /* a signalfd */
    int stop_signal; /* the signal that asked this process to end; 0: none */
    int ending;      /* 1: all were asked to end */
    double until;    /* when the rest is killed; 0: already done */
    int code;
};

/* Describes how a process ended; to be freed. */
static char *
describe_end(int status)
{
    return WIFSIGNALED(status)
               ? mem_format("was killed by signal %d", WTERMSIG(status))
               : mem_format("ended with exit code %d", WEXITSTATUS(status));
}

static void
end_all(struct run *run, int code)
{
    run->ending = 1;
    run->until = clock_now() + run->grace;
    run->code = code;
    for (size_t i = 0; i < run->n; i++) {
        run->process[i].due = 0;
        stage_process_terminate(&run->process[i].run);
    }
}

/* Kills all; a script first gets a second signal, so its own stages can end. */
static void
kill_all(struct run *run)
{
    const int is_script = run->process[run->main].stage->is_script;

    if (is_script && !(run->ending && run->until > 0)) {
        stage_process_terminate(&run->process[run->main].run);
        run->ending = 1;
        run->until = clock_now() + script_pause;
        return;
    }
    run->ending = 1;
    run->until = 0;
    for (size_t i = 0; i < run->n; i++) {
        run->process[i].due = 0;
        stage_process_kill(&run->process[i].run);
    }
}

/* Starts a process; opens its log for appending. */
static int
open_process(struct process *process, double grace_s, struct err *err)
{
    const struct list_stage *stage = process->stage;
    int fd[] = {STAGE_NULL, STAGE_INHERIT, STAGE_INHERIT};
    const struct stage_process_config config = {
        .argv = stage->argv,
        .fd = fd,
        .n_fd = 3,
        .ask =
            stage->is_script ? STAGE_TERMINATE_GROUP : STAGE_TERMINATE_LEADER,
        .signal = stage->signal,
        .grace_s = grace_s};
    struct stat st;

    process->due = 0;
    process->started = clock_now();
    if (process->log) {
        fd[1] = fd[2] =
            open(process->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        if (fd[1] < 0 || fstat(fd[1], &st))
            return err_sys(err, "cannot write '%s'", process->log);
        process->since = st.st_size;
    }
    errno = stage_process_start(&process->run, &config);
    if (errno)
        err_sys(err, "cannot start '%s' for '%s'", stage->argv[0],
                process->name);
    if (fd[1] >= 0)
        close(fd[1]);
    return process->run.pid ? 0 : -1;
}

static void
start_process(struct run *run, struct process *process)
{
    struct err err;

    if (open_process(process, run->grace, &err)) {
        log_message("%s", err.msg);
        end_all(run, EXIT_FAILED);
    }
}

static int
schedule_restart(struct process *process, int status)
{
    const enum list_restart least = WIFSIGNALED(status)   ? LIST_KILLED
                                    : WEXITSTATUS(status) ? LIST_FAILED
                                                          : LIST_ALWAYS;
    char *how;

    if (process->stage->restart < least || !process->restarts)
        return 0;
    if (clock_now() - process->started > longest_pause)
        process->pause = 0;
    how = describe_end(status);
    if (process->pause > 0)
        log_message("%s %s; restarting it in %g s", process->name, how,
                    process->pause);
    else
        log_message("%s %s; restarting it", process->name, how);
    free(how);
    process->restarts -= process->restarts > 0;
    process->due = clock_now() + process->pause;
    process->pause = process->pause > 0 ? 2 * process->pause : first_pause;
    if (process->pause > longest_pause)
        process->pause = longest_pause;
    return 1;
}

/* Whether a process runs, or will be restarted: another one of the stage of
 * `copy`, or any if that is NULL. */
static int
runs_any(const struct run *run, const struct process *copy)
{
    for (size_t i = 0; i < run->n; i++) {
        const struct process *other = &run->process[i];

        if ((other->run.pid || other->due > 0) &&
            (!copy || (other != copy && other->stage == copy->stage)))
            return 1;
    }
    return 0;
}

/* Returns the start of the last QUOTED lines of a text. */
static size_t
last_lines(const char *text, size_t n)
{
    int lines = 0;

    for (size_t i = n; i > 0; i--)
        if (text[i - 1] == '\n' && i < n && ++lines == QUOTED)
            return i;
    return 0;
}

/* Prints the last lines of its log since the last start. */
static void
quote_log(const struct process *process)
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

static void
report_failure(struct run *run, const struct process *process, int status)
{
    char *how = describe_end(status);

    if (process->stage->is_script) {
        // its commands have printed why
        if (WIFSIGNALED(status))
            log_message("the shell %s", how);
        end_all(run, stage_process_code(status));
    } else if (runs_any(run, process)) {
        log_message("%s %s; its other copies continue", process->name, how);
    } else {
        const int goes_on = process->stage->restart == LIST_OPTIONAL;

        quote_log(process);
        log_message("%s %s%s%s%s%s", process->name, how,
                    goes_on ? "; the run continues without it" : "",
                    process->log ? "; its log is '" : "",
                    process->log ? process->log : "", process->log ? "'" : "");
        if (!goes_on)
            end_all(run, stage_process_code(status));
    }
    free(how);
}

static void
on_end(struct run *run, struct process *process, int status)
{
    if (run->ending)
        return;
    if (run->stop_signal) {
        if (process->stage->is_main)
            end_all(run, 128 + run->stop_signal);
    } else if (!schedule_restart(process, status)) {
        if (stage_process_code(status))
            report_failure(run, process, status);
        else if (process->stage->is_main)
            end_all(run, EXIT_OK);
    }
}

static void
on_signal(struct run *run, int signal)
{
    const struct process *process = &run->process[run->main];

    if (run->stop_signal && signal == SIGHUP)
        return; // a closing terminal sends several
    lock_note_stopping();
    run->code = 128 + signal;
    if (run->stop_signal || run->ending) {
        if (!process->stage->is_script)
            log_message("killing all stages");
        kill_all(run);
    } else if (process->run.pid) {
        if (!process->stage->is_script)
            log_message(
                "ending %s, then the other stages; a second signal kills all",
                process->name);
        stage_process_terminate(&process->run);
        for (size_t i = 0; i < run->n; i++)
            run->process[i].due = 0;
    } else {
        end_all(run, run->code);
    }
    run->stop_signal = signal;
}

static int
watch_signals(struct run *run, struct err *err)
{
    struct sigaction hangup;
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (!sigaction(SIGHUP, NULL, &hangup) && hangup.sa_handler != SIG_IGN)
        sigaddset(&signals, SIGHUP);
    // orphans of a stage become children of this process, which waits for them
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) ||
        signal(SIGPIPE, SIG_IGN) == SIG_ERR ||
        signal(SIGCHLD, SIG_DFL) == SIG_ERR ||
        sigprocmask(SIG_BLOCK, &signals, NULL))
        return err_sys(err, "cannot watch for signals");
    run->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signals < 0 ? err_sys(err, "cannot watch for signals") : 0;
}

/* Returns the milliseconds until the next restart or kill, or -1. */
static int
pause_of(const struct run *run)
{
    double next = run->ending ? run->until : 0;

    for (size_t i = 0; i < run->n; i++) {
        const double due = run->process[i].due;

        if (due > 0 && (next <= 0 || due < next))
            next = due;
    }
    if (next <= 0)
        return -1;
    next -= clock_now();
    return next > 0 ? (int)(next * 1000) + 1 : 0;
}

/* Checks the main stage first: others may fail because it has ended. */
static void
check_processes(struct run *run)
{
    for (size_t i = 0; i < run->n; i++) {
        struct process *process = &run->process[(run->main + i) % run->n];
        struct stage_process *one = &process->run;

        if (one->pid && stage_process_ended(one)) {
            stage_process_end(one, process->stage->is_script ? run->grace : 0);
            on_end(run, process, one->status);
        }
        if (process->due > 0 && process->due <= clock_now())
            start_process(run, process);
    }
    if (run->ending && run->until > 0 && run->until <= clock_now())
        kill_all(run);
}

static void
add_stage(struct run *run, const struct list_stage *stage, const char *logs)
{
    for (int i = 0; i < stage->copies; i++) {
        struct process *process = &run->process[run->n];

        process->stage = stage;
        process->name = list_process_name(stage, i);
        process->restarts = stage->restarts;
        if (stage->is_main)
            run->main = run->n;
        else
            process->log = mem_keep_format("%s/%s.log", logs, process->name);
        run->n++;
    }
}

int
supervise(const struct list *list, const char *logs, double grace)
{
    struct run run = {.grace = grace};
    struct signalfd_siginfo info;
    size_t room = 0;
    struct err err;

    for (size_t i = 0; i < list->n; i++)
        room += (size_t)list->stage[i].copies;
    run.process = mem_keep(mem_array(room, sizeof *run.process));
    for (size_t i = 0; i < list->n; i++)
        add_stage(&run, &list->stage[i], logs);
    or_die(watch_signals(&run, &err), &err);
    for (size_t i = 0; i < run.n && !run.ending; i++)
        start_process(&run, &run.process[i]);
    for (check_processes(&run); runs_any(&run, NULL); check_processes(&run)) {
        poll(&(struct pollfd){run.signals, POLLIN, 0}, 1, pause_of(&run));
        while (read(run.signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo != SIGCHLD)
                on_signal(&run, (int)info.ssi_signo);
    }
    close(run.signals);
    return run.code;
}
