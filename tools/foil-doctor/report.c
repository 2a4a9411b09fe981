#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/set.h"
#include "run/metrics.h"
#include "stage/process.h"
#include "util/file.h"
#include "util/mem.h"
#include "util/opt.h"
#include "util/stop.h"
#include "util/value.h"

#include "report.h"

static char *fault; // the first reason, or NULL

void
refuse_run(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    if (!fault)
        fault = mem_format_list(fmt, ap);
    va_end(ap);
}

void
print_row(const char *name, const char *fmt, ...)
{
    char *text;
    va_list ap;

    va_start(ap, fmt);
    text = mem_format_list(fmt, ap);
    va_end(ap);
    opt_row(stdout, name, text);
    free(text);
}

const char *
refusal(void)
{
    return fault;
}

enum { STEPS = 4 }; // of the trial; the first one is not counted
enum { FEW_IMAGES = 500 };

/* Prints the last line of a file of messages as the reason. */
static void
refuse_by_log(const char *log)
{
    struct err err;
    size_t len;
    char *text = file_read(log, 1 << 20, &len, &err), *line;

    while (text && len && text[len - 1] == '\n')
        text[--len] = 0;
    line = text ? strrchr(text, '\n') : NULL;
    refuse_run("%s", text ? (line ? line + 1 : text) : err.msg);
    free(text);
}

/* Runs a command with its output in a file; returns 0 if it succeeded. */
static int
run_command(char *const *argv, const char *log, int stop)
{
    const int to = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    const struct stage_process_config config = {
        .argv = argv,
        .fd = (const int[]){STAGE_NULL, to, to},
        .n_fd = 3,
        .signal = SIGTERM,
        .grace_s = 10,
    };
    struct stage_process process;
    int rc;

    if (to < 0)
        die("cannot create '%s': %s", log, strerror(errno));
    rc = stage_process_start(&process, &config);
    if (rc)
        die("cannot run '%s': %s", argv[0], strerror(rc));
    rc = stage_process_wait(&process, stop);
    close(to);
    if (stop_requested())
        refuse_run("stopped");
    else if (rc)
        refuse_by_log(log);
    return rc;
}

/* Returns the images in a second between the first and the last step of a run,
 * 0 if it has fewer than two. */
static double
rate_of(const char *run)
{
    struct run_metrics metrics = {0};
    double images[2] = {0}, time[2] = {0};

    for (int steps = 0; run_metrics_next(&metrics, run); steps++) {
        images[steps > 0] = value_find(metrics.value, metrics.n, "images");
        time[steps > 0] = value_find(metrics.value, metrics.n, "time");
    }
    run_lines_release(&metrics.lines);
    return time[1] > time[0] ? (images[1] - images[0]) / (time[1] - time[0])
                             : 0;
}

/* Trains some steps, and prints how long an epoch takes. */
static void
try_run(const struct data_set *set, const char *data, const char *made,
        const char *log, int stop)
{
    char *run = mem_keep_format("%s/run", made);
    char *argv[] = {
        mem_keep_format("foil"),         mem_keep_format("run"),
        mem_keep_format("fast"),         mem_keep_format("%s", data),
        mem_keep_format("-r"),           run,
        mem_keep_format("--steps"),      mem_keep_format("%d", STEPS),
        mem_keep_format("--no-compare"), NULL};
    double rate, seconds;

    if (!run_command(argv, log, stop)) {
        rate = rate_of(run);
        seconds = rate > 0 ? (double)data_size(set) / rate : 0;
        print_row(
            "an epoch",
            "%.3g s by 'foil run fast', %.3g images in a second, measured "
            "in %d steps now; its 100 epochs: %.2g hours",
            seconds, rate, STEPS - 1, seconds * 100 / 3600);
    }
}

static void
check_set(const struct data_set *set, const char *data, const char *made,
          const char *log, int stop)
{
    const size_t n = data_size(set), classes = data_classes(set);
    struct err err;

    print_row("images", "%zu%s", n,
              n < FEW_IMAGES ? "; below about 500 a pretrained encoder is "
                               "better"
                             : "");
    if (classes)
        print_row("labels", "%zu classes, for evaluations", classes);
    else
        print_row("labels", "none: training needs none, evaluation by classes "
                            "does");
    if (data_captions_most(set))
        print_row("captions", "here: 'foil run clip' trains on them");
    if (data_stale(set, &err))
        refuse_run("%s", err.msg);
    else if (n < 2)
        refuse_run("a run needs two images or more");
    else
        try_run(set, data, made, log, stop);
}

void
check_data(char *path, const char *made, int stop)
{
    char *log = mem_keep_format("%s/log", made);
    char *made_index = mem_keep_format("%s/data.foil", made);
    char *argv[] = {mem_keep_format("foil"),
                    mem_keep_format("data"),
                    mem_keep_format("index"),
                    mem_keep_format("-o"),
                    made_index,
                    path,
                    NULL};
    const char *data = path;
    struct err err;
    struct data_set *set = data_open(path, &err);

    if (!set && !file_exists(path))
        refuse_run("%s", err.msg);
    else if (!set && !run_command(argv, log, stop))
        set = data_open(data = made_index, &err);
    if (set)
        check_set(set, data, made, log, stop);
    else
        refuse_run("%s", err.msg);
    data_close(set);
}
