#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "list.h"
#include "stage/process.h"
#include "util/mem.h"
#include "util/opt.h"
#include "words.h"

enum { WIDTH = 76 }; // columns of a shown command

/* Ends the process if a child failed, which has printed why. */
static void
check_child(pid_t pid)
{
    int status, code;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            die("cannot wait: %s", strerror(errno));
    code = stage_process_code(status);
    if (code)
        exit(code);
}

/* Starts a command with its output to a descriptor.  It stays in the process
 * group of the script, and ends with it. */
static pid_t
start_command(char *const *word, int out)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (!pid) {
        if (dup2(out, STDOUT_FILENO) >= 0)
            execvp(word[0], word);
        log_message("cannot run '%s': %s", word[0], strerror(errno));
        _exit(127);
    }
    if (pid < 0)
        die("cannot start a process: %s", strerror(errno));
    return pid;
}

void
step_run(char *const *word)
{
    check_child(start_command(word, STDOUT_FILENO));
}

char *
step_capture(char *const *word)
{
    char *text = NULL;
    size_t n = 0, room = 0;
    ssize_t got;
    int ends[2];
    pid_t pid;

    if (pipe(ends) || fcntl(ends[0], F_SETFD, FD_CLOEXEC) ||
        fcntl(ends[1], F_SETFD, FD_CLOEXEC))
        die("cannot make a pipe: %s", strerror(errno));
    pid = start_command(word, ends[1]);
    close(ends[1]);
    do {
        mem_grow(&text, &room, n + 4096, 1);
        got = read(ends[0], text + n, 4095);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0 || (got < 0 && errno == EINTR));
    close(ends[0]);
    check_child(pid);
    while (n && text[n - 1] == '\n')
        n--;
    text[n] = 0;
    return mem_keep(text);
}

void
step_show(char *const *word, const char *end)
{
    int column = 3;

    fprintf(stderr, "  $");
    for (; *word; word++) {
        const char *text = word_list_text(word, 1);
        const int length = (int)strlen(text);

        if (column + length > WIDTH) {
            fprintf(stderr, " \\\n     ");
            column = 5;
        }
        fprintf(stderr, " %s", text);
        column += 1 + length;
    }
    fprintf(stderr, "%s\n", end);
}

void
step_show_list(const struct list *list)
{
    for (size_t i = 0; i < list->n; i++) {
        const struct list_stage *stage = &list->stage[i];

        if (stage->restart == LIST_OPTIONAL)
            continue;
        step_show(stage->argv,
                  stage->copies > 1
                      ? mem_keep_format(" & # %d copies", stage->copies)
                  : i + 1 < list->n && stage[1].restart != LIST_OPTIONAL ? " &"
                                                                         : "");
    }
}
