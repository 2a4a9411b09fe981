#include <libgen.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/file.h"
#include "util/mem.h"
#include "util/plot.h"
#include "util/stop.h"

/* Runs gnuplot in the folder of the script; its messages go to stderr. */
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

const char *
plot_hue(size_t i)
{
    static const char *const hues[PLOT_HUES] = {"0072b2", "d55e00", "009e73",
                                                "cc79a7", "e69f00"};

    return hues[i % PLOT_HUES];
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

FILE *
plot_open(struct plot *plot)
{
    plot->out = open_memstream(&plot->text, &plot->len);
    REQUIRE(plot->out);
    return plot->out;
}

int
plot_draw(struct plot *plot, const char *picture, struct err *err)
{
    const size_t n = strlen(picture);
    const int is_png = n > 4 && !strcmp(picture + n - 4, ".png");
    char *script = mem_format("%.*s.gp", (int)(is_png ? n - 4 : n), picture);
    char *copy = mem_text(picture), *whole;
    int status, rc;
    pid_t child;

    fclose(plot->out);
    whole = mem_format("# gnuplot draws '%s' of this.\n"
                       "set output \"%s\"\n%s",
                       picture, basename(copy), plot->text);
    rc = file_write(script, whole, strlen(whole), err);
    child = rc ? -1 : fork();
    if (!child)
        become_gnuplot(script);
    if (!rc && (child < 0 || waitpid(child, &status, 0) < 0 || status))
        rc = err_set(err,
                     "gnuplot, Debian's package gnuplot-nox, is missing or "
                     "failed: '%s' is its script for '%s'",
                     script, picture);
    mem_free(whole, plot->text, copy, script);
    return rc;
}
