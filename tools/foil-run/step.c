#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hold.h"
#include "pipeline.h"
#include "process.h"
#include "supervise.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"

static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_SIGNALS = sizeof signals / sizeof *signals };

static volatile sig_atomic_t asked; // by this signal; 0: we were not
static volatile sig_atomic_t child; // which supervises a step; 0: none does

/* --------------------------------------------------------------- signals */

/* Hands a signal on to the child, in a session of its own. */
static void
hand_on(int signal)
{
    const int before = errno;

    asked = signal;
    if (child)
        kill((pid_t)child, signal == SIGHUP ? SIGHUP : SIGTERM);
    errno = before;
}

void
step_watch(void)
{
    struct sigaction before, action = {.sa_handler = hand_on};

    for (size_t i = 0; i < N_SIGNALS; i++)
        if (sigaction(signals[i], NULL, &before) ||
            ((before.sa_handler != SIG_IGN || signals[i] != SIGHUP) &&
             sigaction(signals[i], &action, NULL)))
            die("cannot watch for signals: %s", strerror(errno));
}

static int
code_of_signal(int signal)
{
    return signal == SIGINT ? 130 : 143;
}

/* The run was asked to stop, and did. */
_Noreturn static void
end_stopped(const struct pipeline *p, int code)
{
    char *run = keep("%s", var(p, "RUN"));

    if (run_has(p, "command"))
        say("stopped; 'foil run --resume -r %s' goes on",
            word_list_text(&run, 1));
    else
        say("stopped");
    exit(code);
}

/* Waits for a child; returns its exit code. */
static int
wait_child(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("cannot wait: %s", strerror(errno));
    return process_code(status);
}

/* ------------------------------------------------------------------ steps */

/* What the child does: it looks after the list, and ends with us. */
_Noreturn static void
look_after_list(const struct pipeline *p, const struct list *list,
                const char *logs, pid_t parent)
{
    int to;

    if (p->held >= 0)
        close(p->held); // ours alone
    setsid();
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != parent)
        _exit(EXIT_FAILED);
    if (p->to) {
        to = open(p->to,
                  O_WRONLY | O_CREAT | (p->to_append ? O_APPEND : O_TRUNC),
                  0644);
        if (to < 0 || dup2(to, STDOUT_FILENO) < 0)
            die("cannot write '%s': %s", p->to, strerror(errno));
        close(to);
    }
    if (logs)
        hold_logs(logs);
    _exit(supervise(list, logs, strtod(var(p, "grace"), NULL)));
}

/* Returns the exit code of a list that is run to its end. */
static int
supervise_list(struct pipeline *p, const struct list *list, const char *logs)
{
    const pid_t parent = getpid();
    sigset_t all, before;
    int code;
    pid_t pid;

    fflush(NULL);
    sigemptyset(&all);
    for (size_t i = 0; i < N_SIGNALS; i++)
        sigaddset(&all, signals[i]);
    sigprocmask(SIG_BLOCK, &all, &before);
    if (asked)
        exit(code_of_signal(asked));
    pid = fork();
    if (!pid)
        look_after_list(p, list, logs, parent);
    if (pid < 0)
        die("cannot start a process: %s", strerror(errno));
    child = pid;
    sigprocmask(SIG_SETMASK, &before, NULL);
    code = wait_child(pid);
    child = 0;
    return code;
}

/* Goes on behind a step that ended well. */
static void
check_end(const struct pipeline *p, int code)
{
    if (asked)
        end_stopped(p, code_of_signal(asked));
    if (code == 143)
        end_stopped(p, code); // by foil-stop(1)
    if (code)
        exit(code);
}

/* ----------------------------------------------------------- the last one */

static char *const *last_words;
static pid_t last_owner; // our children end in other ways

static void
run_last(void)
{
    pid_t pid;

    if (getpid() != last_owner)
        return;
    for (size_t i = 0; i < N_SIGNALS; i++)
        signal(signals[i], SIG_IGN);
    pid = fork();
    if (!pid) {
        execvp(last_words[0], last_words);
        _exit(127);
    }
    if (pid > 0)
        wait_child(pid);
}

void
step_finally(char *const *word)
{
    last_words = word;
    last_owner = getpid();
    if (atexit(run_last))
        die("memory is short");
}

/* --------------------------------------------------------- what is shown */

/* Prints a command as it would be typed, broken where it is long. */
static void
show_words(char *const *word, size_t n, const char *end)
{
    int column = 3;

    fprintf(stderr, "  $");
    for (size_t i = 0; i < n; i++) {
        const char *text = word_list_text(word + i, 1);
        const int length = (int)strlen(text);

        if (column + length > 76) {
            fprintf(stderr, " \\\n     ");
            column = 5;
        }
        fprintf(stderr, " %s", text);
        column += 1 + length;
    }
    fprintf(stderr, "%s\n", end);
}

static void
show_list(const struct list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct list_stage *stage = &list->stage[i];
        const char *end = stage->copies > 1
                              ? keep(" & # %d of these", stage->copies)
                          : i + 1 < list->n ? " &"
                                            : "";
        size_t n = 0;

        while (stage->argv[n])
            n++;
        show_words(stage->argv, n, end);
    }
}

void
step_list(struct pipeline *p, const char *text)
{
    struct list list;
    struct err err;

    if (list_read(&list, "stages", text, &err))
        die("%s", err.msg);
    if (*var(p, "shows"))
        show_list(&list);
    check_end(p, supervise_list(p, &list, run_path(p, "log")));
}

void
step_run(struct pipeline *p, const struct word_list *word)
{
    char *slash = strrchr(word->word[0], '/');
    struct list_stage stage = {.name = slash ? slash + 1 : word->word[0],
                               .is_main = 1,
                               .signal = SIGTERM,
                               .copies = 1,
                               .restart = LIST_NEVER,
                               .argv = word->word};
    const struct list list = {&stage, 1};
    struct err err;

    if (process_findable(&stage, p->name, &err))
        die("%s", err.msg);
    if (*var(p, "shows"))
        show_words(word->word, word->n, "");
    check_end(p, supervise_list(p, &list, NULL));
}

char *
step_capture(char *const *word)
{
    char *text = NULL, *kept;
    size_t n = 0, room = 0;
    ssize_t got;
    int ends[2], code;
    pid_t pid;

    if (pipe(ends) || fcntl(ends[0], F_SETFD, FD_CLOEXEC) ||
        fcntl(ends[1], F_SETFD, FD_CLOEXEC))
        die("cannot make a pipe: %s", strerror(errno));
    fflush(NULL);
    pid = fork();
    if (!pid) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0)
            execvp(word[0], word);
        die("cannot run '%s': %s", word[0], strerror(errno));
    }
    close(ends[1]);
    do {
        mem_grow(&text, &room, n + 4096, 1);
        got = read(ends[0], text + n, 4095);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    close(ends[0]);
    code = wait_child(pid);
    while (n && text[n - 1] == '\n')
        n--;
    text[n] = 0;
    if (asked)
        exit(code_of_signal(asked));
    if (code)
        exit(code); // which has said why
    kept = keep("%s", text);
    free(text);
    return kept;
}

void
hold_run(struct pipeline *p)
{
    const char *run = var(p, "RUN");

    if (!file_exists(run) || (p->holds && !strcmp(p->holds, run)))
        return;
    if (p->held >= 0)
        close(p->held);
    p->held = hold_folder(run);
    p->holds = run;
}
