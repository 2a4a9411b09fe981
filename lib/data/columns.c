#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/series.h"

#include "columns.h"
#include "sidecar.h"

enum { WORDS = 16, NAMED = 12 }; // words of a column; columns that are named

/* What columns are called by others, the surest first: in small letters, and
 * without what may stand between their parts. */
static const struct {
    const char *option, *word[WORDS];
} known[DATA_COLUMNS] = {
    [DATA_COLUMN_NAME] = {"name",
                          {"path", "filepath", "file", "filename", "imagepath",
                           "imgpath", "imagefile", "image", "img", "imagename",
                           "name", "key", "imageid", "id"}},
    [DATA_COLUMN_LABEL] = {"label",
                           {"label", "labels", "class", "classname", "classes",
                            "category", "target", "labelname", "classid",
                            "categoryname", "categoryid", "categories"}},
    [DATA_COLUMN_CAPTION] = {"caption",
                             {"caption", "captions", "text", "title",
                              "description", "sentence", "comment", "prompt",
                              "alttext"}},
};

/* Which column an option is about; DATA_COLUMNS where none. */
static enum data_column
find_option(const char *text, size_t len)
{
    enum data_column c = DATA_COLUMN_NAME;

    while (c < DATA_COLUMNS && (strlen(known[c].option) != len ||
                                memcmp(known[c].option, text, len)))
        c++;
    return c;
}

/* The number of a column, or 0 where the text is none. */
static size_t
parse_column_number(const char *text)
{
    char *end;
    const unsigned long n = strtoul(text, &end, 10);

    return isdigit((unsigned char)*text) && !*end && n < SIZE_MAX ? n : 0;
}

static int
read_part(struct data_columns *columns, char *part, struct err *err)
{
    char *equals = strchr(part, '=');
    enum data_column c;

    if (!equals || !equals[1])
        return err_set(err, "'%s': want WHAT=COLUMN", part);
    c = find_option(part, (size_t)(equals - part));
    if (c == DATA_COLUMNS)
        return err_set(err, "'%s': want name, label or caption before the '='",
                       part);
    if (columns->called[c])
        return err_set(err, "two columns are to be the %s", known[c].option);
    columns->called[c] = equals + 1;
    columns->number[c] = parse_column_number(equals + 1);
    return 0;
}

int
data_columns_parse(struct data_columns *columns, const char *spec,
                   struct err *err)
{
    size_t called = 0, numbers = 0;
    char *rest;
    int rc = 0;

    *columns = (struct data_columns){.spec = mem_text(spec)};
    rest = columns->spec;
    for (char *part; !rc && (part = strtok_r(rest, ",", &rest));)
        rc = read_part(columns, part, err);
    for (size_t c = 0; c < DATA_COLUMNS; c++) {
        called += columns->called[c] != NULL;
        numbers += columns->number[c] != 0;
    }
    if (!rc && !called)
        rc = err_set(err, "no column is named");
    if (!rc && numbers && numbers < called)
        rc =
            err_set(err, "'%s': want either names of columns or numbers", spec);
    if (!rc && numbers && !columns->number[DATA_COLUMN_NAME])
        rc = err_set(err, "'%s': want name=N, too", spec);
    if (rc)
        data_columns_release(columns);
    return rc;
}

void
data_columns_release(struct data_columns *columns)
{
    free(columns->spec);
    *columns = (struct data_columns){0};
}

/* Whether a cell is a word, whatever its letters and what parts it. */
static int
is_word(const struct data_cell *cell, const char *word)
{
    for (size_t i = 0; i < cell->len; i++) {
        const char c = cell->text[i];

        if (c == '_' || c == '-' || c == ' ')
            continue;
        if (!*word || tolower((unsigned char)c) != *word++)
            return 0;
    }
    return !*word;
}

static size_t
find_known(const struct data_cells *cells, enum data_column column)
{
    for (size_t k = 0; k < WORDS && known[column].word[k]; k++)
        for (size_t i = 0; i < cells->n; i++)
            if (is_word(&cells->cell[i], known[column].word[k]))
                return i;
    return SIZE_MAX;
}

static size_t
find_called(const struct data_cells *cells, const char *called)
{
    for (size_t i = 0; i < cells->n; i++)
        if (!strcmp(cells->cell[i].text, called))
            return i;
    return SIZE_MAX;
}

int
data_columns_find(const struct data_columns *columns,
                  const struct data_cells *cells, enum data_column key,
                  size_t at[DATA_COLUMNS], struct err *err)
{
    size_t found[DATA_COLUMNS];
    int said = 0;

    for (size_t c = 0; c < DATA_COLUMNS && columns->number[0]; c++)
        at[c] = columns->number[c] ? columns->number[c] - 1 : SIZE_MAX;
    if (columns->number[0])
        return 0;
    for (enum data_column c = DATA_COLUMN_NAME; c < DATA_COLUMNS; c++) {
        const char *called = columns->called[c];

        said |= called != NULL;
        found[c] = called ? find_called(cells, called) : find_known(cells, c);
        if (called && found[c] == SIZE_MAX) {
            char *all = data_columns_others(cells, NULL);

            err_set(err, "no column of '%s' is called '%s': it has %s",
                    cells->path, called, all);
            free(all);
            return -1;
        }
    }
    if (found[key] == SIZE_MAX && said)
        return err_set(err,
                       "'%s': say with --columns %s=... which column it is",
                       cells->path, known[key].option);
    if (found[key] == SIZE_MAX)
        return 0;
    memcpy(at, found, sizeof found);
    return 1;
}

char *
data_columns_others(const struct data_cells *cells,
                    const size_t at[DATA_COLUMNS])
{
    struct series all = {.most = NAMED};

    for (size_t i = 0; i < cells->n; i++) {
        char *name;
        size_t c = 0;

        while (at && c < DATA_COLUMNS && at[c] != i)
            c++;
        if (at && c < DATA_COLUMNS)
            continue;
        name = mem_text(cells->cell[i].text);
        name[data_sidecar_tidy(name, strlen(name))] = 0;
        series_put(&all, name);
        free(name);
    }
    return series_end(&all);
}

int
data_columns_refuse(const struct data_cells *cells, const char *what,
                    struct err *err)
{
    char *all = data_columns_others(cells, NULL);

    err_set(err,
            "line %zu of '%s' names no %s, and no columns that are known: %s; "
            "say what they hold, as in --columns name=A,label=B,caption=C, or "
            "by numbers where no line names them",
            cells->line, cells->path, what, all);
    free(all);
    return -1;
}
