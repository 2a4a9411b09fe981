#include "history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_number.h"
#include "util/mem.h"

json_t *
history_show_values(const struct value *value, size_t n)
{
    json_t *values = json_object();

    for (size_t i = 0; i < n; i++)
        json_object_set_new(values, value[i].name,
                            json_number_or_null(value[i].value));
    return values;
}

int
history_read(struct history *history, const char *run, json_t *steps)
{
    struct run_metrics *step = &history->step;
    int cut = 0;

    while (run_metrics_next(step, run))
        if (step->n) {
            if (history_add(history, step->value, step->n) && steps)
                json_array_append_new(
                    steps,
                    json_pack("{s:I s:o}", "total",
                              (json_int_t)history_total(history), "values",
                              history_show_values(step->value, step->n)));
        } else {
            history->n = 0;
            history->bucket = history->filled = 0;
            cut = 1;
        }
    return cut;
}

/* Returns the column of a name, which it adds if it is new. */
static struct history_column *
require_column(struct history *history, const char *name)
{
    struct history_column *column;

    for (size_t i = 0; i < history->columns; i++)
        if (!strcmp(history->column[i].name, name))
            return &history->column[i];
    mem_grow(&history->column, &history->column_room, history->columns + 1,
             sizeof *history->column);
    column = &history->column[history->columns++];
    snprintf(column->name, sizeof column->name, "%s", name);
    column->x = mem_array(HISTORY_MOST, sizeof *column->x);
    for (size_t i = 0; i < history->n; i++)
        column->x[i] = NAN;
    return column;
}

int64_t
history_total(const struct history *history)
{
    return history->n ? history->total[history->n - 1] : 0;
}

/* Finds the minimum and the maximum of x[first .. end - 1], in the order of
 * their places.  NaN is skipped, unless all are NaN. */
static void
find_bounds(const double *x, size_t first, size_t end, double bound[2])
{
    size_t least = first, most = first;

    for (size_t i = first; i < end; i++) {
        if (x[i] < x[least] || isnan(x[least]))
            least = i;
        if (x[i] > x[most] || isnan(x[most]))
            most = i;
    }
    bound[0] = x[least < most ? least : most];
    bound[1] = x[least < most ? most : least];
}

/* Halves the rows: four become two. */
static void
thin_rows(struct history *history)
{
    const size_t n = history->n / 4;

    for (size_t i = 0; i < n; i++) {
        history->total[2 * i] = history->total[4 * i];
        history->total[2 * i + 1] = history->total[4 * i + 3];
    }
    for (size_t k = 0; k < history->columns; k++) {
        double *x = history->column[k].x, bound[2];

        for (size_t i = 0; i < n; i++) {
            find_bounds(x, 4 * i, 4 * i + 4, bound);
            memcpy(x + 2 * i, bound, sizeof bound);
        }
    }
    history->n = 2 * n;
    history->bucket = history->bucket ? 2 * history->bucket : 4;
    history->filled = history->bucket;
}

/* Adds the last step as a row, or as the two rows of a new bucket. */
static void
add_rows(struct history *history, int64_t total)
{
    const size_t end = history->n + (history->bucket ? 2 : 1);

    history->filled = 1;
    for (; history->n < end; history->n++) {
        history->total[history->n] = total;
        for (size_t k = 0; k < history->columns; k++)
            history->column[k].x[history->n] = history->column[k].last;
    }
}

static void
fill_bucket(struct history *history, int64_t total)
{
    const size_t at = history->n - 2;

    history->filled++;
    history->total[at + 1] = total;
    for (size_t k = 0; k < history->columns; k++) {
        double *x = history->column[k].x + at;
        const double three[] = {x[0], x[1], history->column[k].last};

        find_bounds(three, 0, 3, x);
    }
}

int
history_add(struct history *history, const struct value *value, size_t n)
{
    const double steps = value_find(value, n, "total");
    const int64_t total = steps >= 1 ? (int64_t)steps : 0;

    if (!total)
        return 0;
    while (history->n && history->total[history->n - 1] >= total) {
        history->n -= history->bucket ? 2 : 1;
        history->filled = history->bucket;
    }
    for (size_t i = 0; i < history->columns; i++)
        history->column[i].last = NAN;
    for (size_t i = 0; i < n; i++)
        if (strcmp(value[i].name, "total"))
            require_column(history, value[i].name)->last = value[i].value;
    if (history->n == HISTORY_MOST && history->filled >= history->bucket)
        thin_rows(history);
    if (history->filled < history->bucket)
        fill_bucket(history, total);
    else
        add_rows(history, total);
    return 1;
}

json_t *
history_json(const struct history *history)
{
    json_t *columns = json_object(), *total = json_array();

    for (size_t i = 0; i < history->n; i++)
        json_array_append_new(total, json_integer(history->total[i]));
    for (size_t k = 0; k < history->columns; k++) {
        const struct history_column *column = &history->column[k];
        json_t *list = json_array();

        for (size_t i = 0; i < history->n; i++)
            json_array_append_new(list, json_number_or_null(column->x[i]));
        json_object_set_new(columns, column->name, list);
    }
    return json_pack("{s:o s:o}", "total", total, "columns", columns);
}

void
history_release(struct history *history)
{
    run_lines_release(&history->step.lines);
    for (size_t i = 0; i < history->columns; i++)
        free(history->column[i].x);
    free(history->column);
    *history = (struct history){0};
}
