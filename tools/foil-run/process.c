#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "process.h"
#include "util/clock.h"
#include "util/mem.h"

enum { QUOTED = 5, QUOTED_BYTES = 4096 };

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

int
process_start(struct process *process, double grace_s, struct err *err)
{
    const struct list_stage *stage = process->stage;
    int fd[] = {STAGE_NULL, STAGE_OURS, STAGE_OURS};
    const struct stage_process_config config = {
        .argv = stage->argv,
        .fd = fd,
        .n_fd = 3,
        .ask = stage->is_script ? STAGE_ASK_GROUP : STAGE_ASK_LEADER,
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
