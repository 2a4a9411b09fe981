#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "eval.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

/* PATH with .gp instead of .png */
static char *
script_of(const char *picture)
{
    size_t n = strlen(picture);

    if (n > 4 && !strcmp(picture + n - 4, ".png"))
        n -= 4;
    return mem_format("%.*s.gp", (int)n, picture);
}

/* In the folder of the script; what gnuplot has to say goes to stderr. */
_Noreturn static void
become_gnuplot(char *script)
{
    char *folder = mem_text(script);

    stop_unblock();
    if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0 || chdir(dirname(folder)))
        _exit(126);
    execlp("gnuplot", "gnuplot", basename(script), (char *)NULL);
    _exit(127);
}

void
plot_text(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++)
        if (strchr("\"\\`", *text))
            fprintf(out, "\\%c", *text);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, out);
    putc('"', out);
}

void
plot(const char *picture, const char *text)
{
    char *script = script_of(picture), *copy = mem_text(picture);
    char *whole = mem_format("# gnuplot draws '%s' of this.\n"
                             "set output \"%s\"\n%s",
                             picture, basename(copy), text);
    struct err err;
    pid_t child;
    int status;

    if (file_write(script, whole, strlen(whole), &err))
        die("%s", err.msg);
    child = fork();
    if (!child)
        become_gnuplot(script);
    if (child < 0 || waitpid(child, &status, 0) < 0 || status)
        die("gnuplot does not run here, or failed: '%s' is its script for '%s'",
            script, picture);
    free(whole);
    free(copy);
    free(script);
}
