#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opt_help.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"

static const char *tool_name = "foil";
static const char *source_file; // of options that are being read, or NULL
static int source_line;

void
opt_set_source(const char *file, int line)
{
    source_file = file;
    source_line = line;
}

/* Returns the sequence that clears a line of progress, perhaps of another
 * process, or the ^C that a terminal echoes. */
static const char *
wipe_sequence(void)
{
    return isatty(STDERR_FILENO) ? "\r\033[K" : "";
}

static void
print_message(const char *fmt, va_list ap)
{
    char *text = mem_format_list(fmt, ap);

    // it may quote names and texts from outside
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '?';
    fflush(stdout);
    fprintf(stderr, "%s%s: ", wipe_sequence(), tool_name);
    if (source_file)
        fprintf(stderr, "'%s', line %d: ", source_file, source_line);
    fprintf(stderr, "%s\n", text);
    free(text);
}

void
die(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_message(fmt, ap);
    va_end(ap);
    exit(EXIT_FAILED);
}

void
or_die(int rc, const struct err *err)
{
    if (rc)
        die("%s", err->msg);
}

void
opt_misuse(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_message(fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s: '%s --help' lists the options\n", tool_name,
            tool_name);
    exit(EXIT_USAGE);
}

void
log_message(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    print_message(fmt, ap);
    va_end(ap);
}

void
log_line(void *tool, const char *line)
{
    (void)tool;
    log_message("%s", line);
}

void
log_stopped(void)
{
    if (stop_requested() && isatty(STDERR_FILENO))
        log_message("stopped");
}

void
set_tool_name(const char *name)
{
    tool_name = name;
}

/* Ends the process while other threads run, maybe within stdio: it touches no
 * stream and runs no exit handler. */
static void
end_now(void)
{
    char line[128];
    int n = snprintf(line, sizeof line, "%s%s: stopped: no file is written\n",
                     wipe_sequence(), tool_name);
    ssize_t wrote;

    if (file_drafts_abandon())
        return;
    wrote = write(STDERR_FILENO, line, (size_t)n);
    (void)wrote; // stderr may be closed
    _exit(EXIT_FAILED);
}

void
end_when_stopped(void)
{
    struct err err;

    or_die(stop_with_callback(end_now, &err), &err);
}

void
export_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1))
        die("cannot set %s: %s", name, strerror(errno));
}

void
close_stdout(void)
{
    if (fflush(stdout) || ferror(stdout) || fclose(stdout))
        die("cannot write to standard output: %s", strerror(errno));
}
