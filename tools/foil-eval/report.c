#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eval.h"
#include "run/results.h"
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

/* Writes a name in JSON as people do: train_accuracy is "train accuracy". */
static void
write_words(const char *name, char words[64])
{
    snprintf(words, 64, "%s", name);
    for (char *at = words; *at; at++)
        if (*at == '_')
            *at = ' ';
}

/* Writes a number or a word; 0 for lists, which are for programs. */
static int
write_figure(const json_t *value, char text[64])
{
    const double x = json_number_value(value);

    if (json_is_integer(value))
        snprintf(text, 64, "%jd", (intmax_t)json_integer_value(value));
    else if (json_is_real(value))
        snprintf(text, 64,
                 x == 0 || (fabs(x) >= 1e-3 && fabs(x) < 1e6) ? "%.4f" : "%.3g",
                 x);
    else if (json_is_string(value))
        snprintf(text, 64, "%s", json_string_value(value));
    else if (json_is_boolean(value))
        snprintf(text, 64, "%s", json_is_true(value) ? "yes" : "no");
    else
        return 0;
    return 1;
}

/* Puts a result into a row, and what it has of parts, such as those of both
 * directions of a retrieval, into rows of their own below. */
static void
put_result(json_t *result, const char *part)
{
    const char *name;
    json_t *value;
    char words[64], text[64];

    table_row(&table);
    if (part)
        table_put(&table, "measure", part);
    json_object_foreach(result, name, value)
    {
        write_words(name, words);
        if (write_figure(value, text))
            table_put(&table, words, text);
    }
    json_object_foreach(result, name, value)
    {
        write_words(name, words);
        if (json_is_object(value))
            put_result(value, words);
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
    rc = run_results_origin(encoder, &run, &step, &err);
    if (rc > 0) {
        rc = run_results_add(
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
    if (columns)
        put_result(result, NULL);
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
