#pragma once

/*
 * For functions that print or end the process: run one in a child and look at
 * what it left.
 *
 *     static void dies(const void *arg) { die("no %s", (const char *)arg); }
 *
 *     struct child c = child_run(dies, "luck");
 *     T(c.code == 1 && !strcmp(c.err, "foil: no luck\n"), "says why");
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct child {
    int code;   /* exit code; -1 when a signal ended it */
    int signal; /* that signal, or 0 */
    char out[4096], err[4096];
};

static inline void
child_slurp(FILE *file, char *text, size_t room)
{
    rewind(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
}

/* child_run() calls run(arg) in a child; returning from it is exit code 0. */
static inline struct child
child_run(void (*run)(const void *), const void *arg)
{
    struct child c = {.code = -1};
    FILE *out = tmpfile(), *err = tmpfile();
    int status;
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        run(arg);
        exit(0);
    }
    waitpid(pid, &status, 0);
    if (WIFEXITED(status))
        c.code = WEXITSTATUS(status);
    else
        c.signal = WTERMSIG(status);
    child_slurp(out, c.out, sizeof c.out);
    child_slurp(err, c.err, sizeof c.err);
    return c;
}

/* child_folder() makes a folder of our own under TMPDIR. */
static inline void
child_folder(char path[256])
{
    const char *top = getenv("TMPDIR");

    snprintf(path, 256, "%s/foil-test-XXXXXX", top ? top : "/tmp");
    if (!mkdtemp(path)) {
        perror(path);
        exit(1);
    }
}

/* child_scratch() makes one and enters it. */
static inline void
child_scratch(char path[256])
{
    child_folder(path);
    if (chdir(path)) {
        perror(path);
        exit(1);
    }
}
