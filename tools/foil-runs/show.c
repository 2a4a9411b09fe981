#include <stdio.h>
#include <stdlib.h>

#include "runs.h"
#include "util/clock.h"
#include "util/mem.h"
#include "util/table.h"

/* A list of texts as a cell, with commas between them. */
static void
put_list(struct table *table, const char *column, const json_t *list)
{
    char *text = mem_text("");
    json_t *item;
    size_t i;

    json_array_foreach(list, i, item)
    {
        mem_append(&text, "%s%s", i ? "," : "", json_string_value(item));
    }
    table_put(table, column, "%s", text);
    free(text);
}

/* A value as a cell. */
static void
put_cell(struct table *table, const char *column, const json_t *value)
{
    if (json_is_string(value))
        table_put(table, column, "%s", json_string_value(value));
    else if (json_is_array(value))
        put_list(table, column, value);
    else if (json_is_integer(value))
        table_put(table, column, "%jd", (intmax_t)json_integer_value(value));
    else if (json_is_real(value))
        table_put(table, column, "%.6g", json_real_value(value));
    else if (json_is_boolean(value))
        table_put(table, column, json_is_true(value) ? "yes" : "no");
}

/* The share of the time spent exchanging with other ranks; the rank that
 * delayed the others most, and by which share of the time. */
static void
put_ranks(struct table *table, const json_t *run, double seconds)
{
    const json_t *exchanged = json_object_get(run, "exchanged");
    const json_t *rank = json_object_get(run, "slowest_rank");

    if (exchanged)
        table_put(table, "exchanged", "%.0f%%",
                  100 * json_number_value(exchanged) / seconds);
    if (rank)
        table_put(table, "slowest rank", "%jd, %.0f%%",
                  (intmax_t)json_integer_value(rank),
                  100 * json_number_value(json_object_get(run, "rank_lag")) /
                      seconds);
}

/* Fills in the columns up to the loss. */
static void
put_run(struct table *table, const json_t *run)
{
    const json_t *loss = json_object_get(run, "loss");
    const json_t *epochs = json_object_get(run, "epochs");
    const double seconds = json_number_value(json_object_get(run, "seconds"));
    char text[64];

    put_cell(table, "run", json_object_get(run, "run"));
    put_cell(table, "state", json_object_get(run, "state"));
    if (epochs)
        table_put(table, "epoch", "%jd/%jd",
                  (intmax_t)json_integer_value(json_object_get(run, "epoch")),
                  (intmax_t)json_integer_value(epochs));
    put_cell(table, "steps", json_object_get(run, "step"));
    if (json_object_get(run, "seconds")) {
        clock_span(seconds, text);
        table_put(table, "time", "%s", text);
        put_ranks(table, run, seconds);
    }
    if (json_is_number(loss))
        table_put(table, "loss", "%.4f", json_number_value(loss));
}

static const json_t *
option_of(const json_t *run, const char *name)
{
    return json_object_get(json_object_get(run, "options"), name);
}

/* Sources of a run's options, as bits: 1 checkpoint, 2 RUN/command, 4
 * RUN/origin.jsonl. */
static size_t
sources_of(const json_t *run)
{
    return (option_of(run, "optim") ? 1 : 0) |
           (option_of(run, "pipeline") ? 2 : 0) |
           (option_of(run, "stages") ? 4 : 0);
}

/* Whether two runs have different values of an option, or one run lacks it
 * although it has all sources (above) of a run that has it. */
static int
differs_in(const json_t *runs, const char *name)
{
    const json_t *first = NULL;
    int have[8] = {0}, lack[8] = {0};
    json_t *run;
    size_t i;

    json_array_foreach(runs, i, run)
    {
        const json_t *value = option_of(run, name);

        if (value && first && !json_equal(value, first))
            return 1;
        (value ? have : lack)[sources_of(run)] = 1;
        first = first ? first : value;
    }
    // have[] and lack[] are indexed by sources; i is a pair of indexes, and the
    // second must have all bits of the first
    for (i = 0; i < 64; i++)
        if (have[i / 8] && lack[i % 8] && !(i / 8 & ~(i % 8)))
            return 1;
    return 0;
}

/* Returns an object with the options to show as keys, in order of the runs. */
static json_t *
choose_options(const json_t *runs, int all)
{
    json_t *chosen = json_object(), *run, *value;
    const char *name;
    size_t i;

    json_array_foreach(runs, i, run)
    {
        json_object_foreach(json_object_get(run, "options"), name, value)
        {
            if (all || differs_in(runs, name))
                json_object_set_new(chosen, name, json_null());
        }
    }
    return chosen;
}

static void
put_options(struct table *table, const json_t *run, json_t *chosen)
{
    const char *name;
    json_t *ignored;

    json_object_foreach(chosen, name, ignored)
    {
        const json_t *value = option_of(run, name);
        const char *text = json_string_value(value);

        if (!value || (text && !*text))
            table_put(table, name, "-");
        else
            put_cell(table, name, value);
    }
}

/* Makes the columns in a fixed order, as not all rows have all: progress, then
 * figures, then options. */
static void
make_columns(struct table *table, const json_t *runs)
{
    static const char *const names[] = {"run",   "state", "epoch",
                                        "steps", "time",  "loss"};
    const char *label;
    json_t *run, *result;
    size_t i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        table_column(table, names[i]);
    json_array_foreach(runs, i, run)
    {
        if (json_object_get(run, "exchanged"))
            table_column(table, "exchanged");
        if (json_object_get(run, "slowest_rank"))
            table_column(table, "slowest rank");
        json_object_foreach(json_object_get(run, "results"), label, result)
        {
            table_column(table, label);
        }
    }
}

void
runs_show(const json_t *runs, int all, int width)
{
    json_t *chosen = choose_options(runs, all), *run, *result;
    struct table table = {0};
    const char *label;
    char again[64];
    double figure;
    size_t i;

    make_columns(&table, runs);
    json_array_foreach(runs, i, run)
    {
        table_row(&table);
        put_run(&table, run);
        json_object_foreach(json_object_get(run, "results"), label, result)
        {
            if (runs_label(result, again, &figure))
                table_put(&table, label, "%.4f", figure);
        }
        put_options(&table, run, chosen);
    }
    json_decref(chosen);
    table_print(&table, 1, width, stdout);
    table_release(&table);
}
