#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "run/metrics.h"
#include "util/json.h"
#include "util/mem.h"

/* Metrics, and a key of batches.jsonl, that older versions wrote by another
 * name. */
static const struct {
    const char *old, *now;
} renamed[] = {
    {"own_class", "same_class_weight"},
    {"own_shown", "same_class_share"},
    {"slowest", "slowest_rank"},
    {"behind", "rank_lag"},
    {"known", "bank_filled"},
    {"alone", "without_service"},
    {"gradient", "grad_norm"},
    {"rate", "lr"},
    {"weight", "row_weight"},
    {"tau_floor", "tau_at_min"},
    {"making", "view_options"},
    {"plan.known", "plan.with_features"},
    {"plan.together", "plan.same_group_pairs"},
    {"plan.random_together", "plan.random_same_group_pairs"},
};
enum { RENAMED = sizeof renamed / sizeof *renamed };

const char *
run_metrics_old_name(const char *name)
{
    for (size_t i = 0; i < RENAMED; i++)
        if (!strcmp(renamed[i].now, name))
            return renamed[i].old;
    return NULL;
}

/* Updates the names in a line that an older version wrote: its applied steps
 * have `gradient`, and no `lr`; other lines have no numbers of a user's
 * program, which may have any name. */
static void
update_names(const json_t *line, struct value *values, size_t n)
{
    const int is_old =
        !json_object_get(line, "lr") &&
        (json_object_get(line, "gradient") || json_object_get(line, "refused"));

    for (size_t k = 0; is_old && k < n; k++)
        for (size_t i = 0; i < RENAMED; i++)
            if (!strcmp(values[k].name, renamed[i].old)) {
                snprintf(values[k].name, VALUE_NAME, "%s", renamed[i].now);
                break;
            }
}

/* Adds the numbers of an object, under the name `of` unless that is "". */
static void
add_numbers(json_t *object, const char *of, struct value *values, size_t *n)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        struct value *to = values + *n;

        if (json_is_object(value) && !*of)
            add_numbers(value, name, values, n);
        else if (json_is_number(value) && *n < WIRE_METRICS_MAX &&
                 snprintf(to->name, sizeof to->name, "%s%s%s", of,
                          *of ? "." : "", name) < (int)sizeof to->name) {
            to->value = json_number_value(value);
            ++*n;
        }
    }
}

int
run_metrics_next(struct run_metrics *metrics, const char *run)
{
    const char *line;

    metrics->n = 0;
    while (run_lines_next(&metrics->lines, run, RUN_METRICS, &line)) {
        json_t *object = line ? json_loads(line, 0, NULL) : NULL;

        add_numbers(object, "", metrics->value, &metrics->n);
        update_names(object, metrics->value, metrics->n);
        json_decref(object);
        if (!line || metrics->n)
            return 1;
    }
    return 0;
}

enum { LINE_MAX_BYTES = 1 << 15 }; // many times the longest line

/* Reads the step of the last line before `end`, 0 if it has none, and where
 * the line begins; for an overlong line `start` is within it. */
static int
read_last_line(int file, off_t end, off_t *start, int64_t *step)
{
    char text[LINE_MAX_BYTES];
    const size_t n = end < LINE_MAX_BYTES ? (size_t)end : LINE_MAX_BYTES;
    size_t at = n - 1;
    json_t *object = NULL;

    if (pread(file, text, n, end - (off_t)n) != (ssize_t)n)
        return -1;
    while (at && text[at - 1] != '\n')
        at--;
    if (text[n - 1] == '\n')
        object = json_loadb(text + at, n - at, 0, NULL);
    *step = json_integer_value(json_object_get(object, "total"));
    json_decref(object);
    *start = end - (off_t)(n - at);
    return 0;
}

/* Truncates the lines after step `total`.  Reads from the end, as the file of
 * a long run may exceed memory. */
static int
cut_lines(int file, int64_t total)
{
    const off_t size = lseek(file, 0, SEEK_END);
    off_t end = size, start = 0;

    while (end > 0) {
        int64_t step;

        if (read_last_line(file, end, &start, &step))
            return -1;
        if (step >= 1 && step <= total)
            break;
        end = start;
    }
    return size < 0 || (end < size && ftruncate(file, end)) ? -1 : 0;
}

int
run_metrics_append(const char *run, int64_t total, struct err *err)
{
    const char *path = mem_temp("%s/%s", run, RUN_METRICS);
    int file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (file < 0) {
        err_sys(err, "cannot open '%s'", path);
    } else if (cut_lines(file, total)) {
        err_sys(err, "cannot cut '%s'", path);
        close(file);
        file = -1;
    }
    return file;
}
