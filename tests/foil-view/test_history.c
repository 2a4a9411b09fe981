#include "foil-view/history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "t.h"

/* A step with a loss that falls, and a peak at one step. */
static void
add_step(struct history *history, int64_t total, int64_t peak)
{
    const struct value value[] = {
        {"total", (double)total, 1},
        {"loss", total == peak ? 1e3 : 1 / (double)total, 0},
        {"odd", total % 2 ? (double)total : NAN, 0},
    };

    history_add(history, value, 3);
}

static double
number_at(const json_t *all, const char *column, size_t i)
{
    const json_t *list =
        column ? json_object_get(json_object_get(all, "columns"), column)
               : json_object_get(all, "total");

    return json_number_value(json_array_get(list, i));
}

static void
few_steps_are_all_shown(void)
{
    struct history history = {0};
    json_t *all;

    for (int64_t total = 1; total <= 5; total++)
        add_step(&history, total, 0);
    all = history_json(&history);
    T(json_array_size(json_object_get(all, "total")) == 5 &&
          number_at(all, NULL, 4) == 5 && number_at(all, "loss", 3) == .25,
      "five steps are five points");
    T(json_is_null(json_array_get(
          json_object_get(json_object_get(all, "columns"), "odd"), 1)),
      "a missing value is null");
    json_decref(all);
    history_release(&history);
}

static void
no_peak_is_lost(size_t steps)
{
    struct history history = {0};
    const int64_t peak = (int64_t)steps * 3 / 7;
    double highest = 0;
    size_t points;
    int rises = 1;
    json_t *all;

    for (int64_t total = 1; total <= (int64_t)steps; total++)
        add_step(&history, total, peak);
    all = history_json(&history);
    points = json_array_size(json_object_get(all, "total"));
    for (size_t i = 0; i < points; i++) {
        highest = fmax(highest, number_at(all, "loss", i));
        rises &= !i || number_at(all, NULL, i) >= number_at(all, NULL, i - 1);
    }
    T(points <= HISTORY_MOST && rises && highest == 1e3 &&
          number_at(all, NULL, points - 1) == (double)steps,
      "%zu steps are %zu points, with the peak of one step", steps, points);
    json_decref(all);
    history_release(&history);
}

static void
falling_column_does_not_rise(void)
{
    struct history history = {0};
    int falls = 1;
    json_t *all;

    for (int64_t total = 1; total <= 10000; total++)
        add_step(&history, total, 0);
    all = history_json(&history);
    for (size_t i = 1; i < history.n; i++)
        falls &= number_at(all, "loss", i) <= number_at(all, "loss", i - 1);
    T(falls, "a loss that falls at each step falls at each point");
    json_decref(all);
    history_release(&history);
}

static const double *
column_of(const struct history *history, const char *name)
{
    size_t i = 0;

    while (i < history->columns && strcmp(history->column[i].name, name))
        i++;
    return i < history->columns ? history->column[i].x : NULL;
}

static void
memory_is_bounded(void)
{
    const int64_t steps = 1000000, peak = 70007;
    struct history history = {0};
    const double *loss, *odd;
    double highest = 0;
    int rises = 1, known = 1;
    size_t most = 0;

    for (int64_t total = 1; total <= steps; total++) {
        add_step(&history, total, peak);
        most = history.n > most ? history.n : most;
    }
    loss = column_of(&history, "loss");
    odd = column_of(&history, "odd");
    for (size_t i = 0; i < history.n; i++) {
        highest = fmax(highest, loss[i]);
        known &= odd[i] >= (double)history.total[i] - (double)history.bucket;
        rises &= !i || history.total[i] >= history.total[i - 1];
    }
    T(history.n > HISTORY_MOST / 4 && history.n <= HISTORY_MOST &&
          most <= 2 * HISTORY_MOST,
      "%jd steps are %zu rows", (intmax_t)steps, history.n);
    T(rises && known && highest == 1e3 && history.total[0] == 1 &&
          history.total[history.n - 1] == steps,
      "from the first step to the last, with the peak");
    add_step(&history, 500000, 0);
    T(history.total[history.n - 1] == 500000 &&
          history.total[history.n - 3] < 500000 &&
          history.total[history.n - 3] >= 500000 - 2 * history.bucket,
      "a repeated step 500,000 drops the later ones");
    history_release(&history);
}

/* A resumed run repeats steps. */
static void
repeated_steps_count_once(void)
{
    struct history history = {0};

    for (int64_t total = 1; total <= 10; total++)
        add_step(&history, total, 0);
    add_step(&history, 7, 7);
    T(history.n == 7 && history.total[6] == 7 && history.column[0].x[6] == 1e3,
      "step 7 again: seven steps, with the newer values");
    T(!history_add(&history, NULL, 0) && history.n == 7, "no total: no step");
    history_release(&history);
}

static void
put_lines(const char *path, const char *mode, const char *text)
{
    FILE *file = fopen(path, mode);

    if (file) {
        fputs(text, file);
        fclose(file);
    }
}

static void
files_are_read(void)
{
    char folder[] = "/tmp/history-XXXXXX", path[64];
    struct history history = {0};
    json_t *steps = json_array(), *last;

    if (!mkdtemp(folder))
        return;
    history_read(&history, folder, NULL);
    T(!history.n, "a run without steps");
    snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    put_lines(path, "w",
              "{\"total\":1,\"loss\":2.5,\"plan\":{\"x\":1}}\nnonsense\n\n"
              "{\"loss\":1}\n{\"total\":2,\"loss\":1.5,\"name\":\"x\"}\n{"
              "\"total\":3");
    history_read(&history, folder, NULL);
    T(history.n == 2 && history.columns == 2 &&
          !strcmp(history.column[1].name, "plan.x") &&
          history.column[0].x[1] == 1.5,
      "two steps from complete lines, with a value of a plan");
    put_lines(path, "a", ",\"loss\":1}\n{\"total\":4,\"loss\":0.5}\n");
    history_read(&history, folder, steps);
    T(history.n == 4 && history.total[2] == 3 && history.column[0].x[3] == .5,
      "new lines are added");
    last = json_array_get(steps, 1);
    T(json_array_size(steps) == 2 &&
          json_integer_value(json_object_get(last, "total")) == 4 &&
          json_number_value(
              json_object_get(json_object_get(last, "values"), "loss")) == .5,
      "new lines are returned");
    json_decref(steps);
    put_lines(path, "w",
              "{\"total\":1,\"loss\":2.5}\n{\"total\":2,\"loss\":7}\n");
    history_read(&history, folder, NULL);
    T(history.n == 2 && history.column[0].x[1] == 7,
      "a file that was cut is read again");
    unlink(path);
    rmdir(folder);
    history_release(&history);
}

int
main(void)
{
    few_steps_are_all_shown();
    no_peak_is_lost(4000);
    no_peak_is_lost(4001);
    no_peak_is_lost(200000);
    falling_column_does_not_rise();
    memory_is_bounded();
    repeated_steps_count_once();
    files_are_read();
    return t_done();
}
