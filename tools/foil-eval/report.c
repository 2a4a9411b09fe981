#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval.h"
#include "train/results.h"
#include "util/opt.h"
#include "util/table.h"
#include "util/terminal.h"

struct common given;

static int columns; // of the terminal; 0: JSON is wanted
static int record_it;
static struct table table;

void
print_begin(void)
{
    columns = given.json ? 0 : terminal_size(STDOUT_FILENO, NULL);
    record_it = !given.no_record;
}

/* Puts the numbers and words of a result into the row; those of an object
 * within it by both names. */
static void
put_all(const char *lead, json_t *result)
{
    const char *name;
    json_t *value;

    json_object_foreach(result, name, value)
    {
        char path[64], text[64];
        const double x = json_number_value(value);

        snprintf(path, sizeof path, "%s%s%s", lead, *lead ? "." : "", name);
        if (json_is_object(value))
            put_all(path, value);
        if (json_is_integer(value))
            snprintf(text, sizeof text, "%jd",
                     (intmax_t)json_integer_value(value));
        else if (json_is_real(value))
            snprintf(text, sizeof text,
                     x == 0 || (fabs(x) >= 1e-3 && fabs(x) < 1e6) ? "%.4f"
                                                                  : "%.3g",
                     x);
        else if (json_is_string(value))
            snprintf(text, sizeof text, "%s", json_string_value(value));
        else if (json_is_boolean(value))
            snprintf(text, sizeof text, "%s",
                     json_is_true(value) ? "yes" : "no");
        else
            continue; // lists are for programs
        table_put(&table, path, text);
    }
}

/*
 * Finds the encoder that a line is about: 1 with it in *found, 0 where there is
 * none, -1 where there are several.  It is wherever "encoder" is said.
 */
static int
find_encoder(const json_t *line, const json_t **found)
{
    const json_t *own = json_object_get(line, "encoder"), *item;
    const char *name;
    int rc = *found != NULL;
    size_t i;

    if (own) {
        if (*found && !json_equal(json_object_get(own, "manifest"),
                                  json_object_get(*found, "manifest")))
            return -1;
        *found = own;
        return 1;
    }
    json_object_foreach((json_t *)line, name, item)
    {
        if (rc >= 0)
            rc = find_encoder(item, found);
    }
    json_array_foreach(line, i, item)
    {
        if (rc >= 0)
            rc = find_encoder(item, found);
    }
    return rc;
}

/* What cannot be recorded is said, and no more: the result stands. */
static void
record_line(const json_t *line)
{
    const json_t *encoder = NULL;
    struct err err = {""};
    char *run;
    long step;
    int rc;

    if (find_encoder(line, &encoder) <= 0)
        return;
    rc = train_results_origin(encoder, &run, &step, &err);
    if (rc > 0) {
        rc = train_results_add(
            run, step, json_string_value(json_object_get(encoder, "manifest")),
            line, &err);
        free(run);
    }
    if (rc < 0)
        say("the result is not recorded: %s", err.msg);
}

void
print(json_t *result, json_t *protocol)
{
    REQUIRE(result && protocol);
    if (columns) {
        table_row(&table);
        put_all("", result);
    }
    json_object_update(result, protocol);
    json_object_set_new(result, "version", json_string(FOIL_VERSION));
    json_decref(protocol);
    if (record_it)
        record_line(result);
    if (columns)
        json_decref(result);
    else
        json_print(result);
}

void
print_end(void)
{
    table_print(&table, table.columns > 0, columns, stdout);
    table_release(&table);
}

void
plot(struct plot *script, const char *picture)
{
    struct err err;

    if (plot_draw(script, picture, &err))
        die("%s", err.msg);
}
