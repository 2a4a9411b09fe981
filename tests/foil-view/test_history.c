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
    all = history_show(&history, 100);
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
no_peak_is_lost(size_t steps, size_t most)
{
    struct history history = {0};
    const int64_t peak = (int64_t)steps * 3 / 7;
    double highest = 0;
    size_t points;
    int rises = 1;
    json_t *all;

    for (int64_t total = 1; total <= (int64_t)steps; total++)
        add_step(&history, total, peak);
    all = history_show(&history, most);
    points = json_array_size(json_object_get(all, "total"));
    for (size_t i = 0; i < points; i++) {
        highest = fmax(highest, number_at(all, "loss", i));
        rises &= !i || number_at(all, NULL, i) >= number_at(all, NULL, i - 1);
    }
    T(points <= most && rises && highest == 1e3 &&
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

    for (int64_t total = 1; total <= 1000; total++)
        add_step(&history, total, 0);
    all = history_show(&history, 100);
    for (size_t i = 1; i < 100; i++)
        falls &= number_at(all, "loss", i) <= number_at(all, "loss", i - 1);
    T(falls, "a loss that falls at each step falls at each point");
    json_decref(all);
    history_release(&history);
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
    json_t *last;

    for (int64_t total = 1; total <= steps; total++) {
        add_step(&history, total, peak);
        most = history.room > most ? history.room : most;
    }
    loss = history_column(&history, "loss");
    odd = history_column(&history, "odd");
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
    last = history_last(&history);
    T(json_integer_value(json_object_get(last, "total")) == steps &&
          fabs(json_number_value(
                   json_object_get(json_object_get(last, "values"), "loss")) *
                   (double)steps -
               1) < 1e-4,
      "the last step has its values");
    json_decref(last);
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
files_are_read(void)
{
    char folder[] = "/tmp/history-XXXXXX", path[64];
    struct history history = {0};
    FILE *file;

    if (!mkdtemp(folder))
        return;
    history_read(&history, folder);
    T(!history.n, "a run without steps");
    snprintf(path, sizeof path, "%s/metrics.jsonl", folder);
    file = fopen(path, "w");
    if (file) {
        fputs("{\"total\":1,\"loss\":2.5,\"plan\":{\"x\":1}}\nnonsense\n\n"
              "{\"loss\":1}\n{\"total\":2,\"loss\":1.5,\"name\":\"x\"}\n{"
              "\"total\":3",
              file);
        fclose(file);
    }
    history_read(&history, folder);
    T(history.n == 2 && history.columns == 2 &&
          !strcmp(history.column[1].name, "plan.x") &&
          history.column[0].x[1] == 1.5,
      "two steps from complete lines, with a value of a plan");
    file = fopen(path, "a");
    if (file) {
        fputs(",\"loss\":1}\n{\"total\":4,\"loss\":0.5}\n", file);
        fclose(file);
    }
    history_read(&history, folder);
    T(history.n == 4 && history.total[2] == 3 && history.column[0].x[3] == .5,
      "new lines are added");
    file = fopen(path, "w");
    if (file) {
        fputs("{\"total\":1,\"loss\":2.5}\n{\"total\":2,\"loss\":7}\n", file);
        fclose(file);
    }
    history_read(&history, folder);
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
    no_peak_is_lost(1000, 100);
    no_peak_is_lost(1001, 400);
    no_peak_is_lost(200000, 4000);
    falling_column_does_not_rise();
    memory_is_bounded();
    repeated_steps_count_once();
    files_are_read();
    return t_done();
}
