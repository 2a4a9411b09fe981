#include "history.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "util/mem.h"

struct past {
    size_t n, room;
    struct line {
        double time;
        json_t *object;
    } * line;
};

static void
add_line(struct past *past, double time, json_t *object)
{
    json_object_set_new(object, "time", json_integer((json_int_t)time));
    mem_grow(&past->line, &past->room, past->n + 1, sizeof *past->line);
    past->line[past->n++] = (struct line){time, object};
}

static void
add_epochs(struct past *past, const struct history *history)
{
    const double *epoch = history_column(history, "epoch");
    const double *time = history_column(history, "time");

    for (size_t i = 1; epoch && time && i < history->n; i++)
        if (epoch[i] > epoch[i - 1] && isfinite(time[i - 1]))
            add_line(past, time[i - 1],
                     json_pack("{s:s s:I s:i}", "what", "epoch", "epoch",
                               (json_int_t)epoch[i], "step", 0));
}

static void
add_checkpoints(struct past *past, const char *run)
{
    DIR *folder = opendir(run);
    struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char *path = mem_format("%s/%s", run, entry->d_name);
        struct stat file;

        if (!strncmp(entry->d_name, "step-", 5) && !stat(path, &file))
            add_line(
                past,
                (double)file.st_mtim.tv_sec +
                    1e-9 * (double)file.st_mtim.tv_nsec,
                json_pack("{s:s s:s}", "what", "checkpoint", "path", path));
        free(path);
    }
    if (folder)
        closedir(folder);
}

/* At the time of the last step, or of the last line if that is later. */
static void
add_stop(struct past *past, const struct history *history, int64_t steps)
{
    const double *time = history_column(history, "time");
    const int done = steps > 0 && history_total(history) >= steps;
    const double line = past->n ? past->line[past->n - 1].time : 0;

    if (history->n && time && isfinite(time[history->n - 1]))
        add_line(past, fmax(time[history->n - 1], line),
                 json_pack("{s:s s:s}", "what", "stop", "reason",
                           done ? "done" : "no trainer runs"));
}

static int
compare_lines(const void *one, const void *other)
{
    const struct line *a = one, *b = other;

    return (a->time > b->time) - (a->time < b->time);
}

json_t *
run_log_read(const char *run, const struct history *history, int living,
             int64_t steps, size_t most)
{
    struct past past = {0};
    json_t *log = json_array();

    add_epochs(&past, history);
    add_checkpoints(&past, run);
    if (past.n)
        qsort(past.line, past.n, sizeof *past.line, compare_lines);
    if (!living) // last, even if a file has a later time
        add_stop(&past, history, steps);
    for (size_t i = 0; i < past.n; i++)
        if (past.n - i <= most)
            json_array_append_new(log, past.line[i].object);
        else
            json_decref(past.line[i].object);
    free(past.line);
    return log;
}
