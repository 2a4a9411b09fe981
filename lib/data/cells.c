#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "captions.h"

void
data_cells_init(struct data_cells *cells, const char *path, char *text,
                size_t len)
{
    static const char mark[] = "\xef\xbb\xbf";

    *cells = (struct data_cells){.path = path,
                                 .text = text,
                                 .len = len,
                                 .csv = data_kind_ends(path, ".csv"),
                                 .next_line = 1};
    if (len >= 3 && !memcmp(text, mark, 3))
        cells->at = 3;
}

void
data_cells_release(struct data_cells *cells)
{
    free(cells->cell);
    *cells = (struct data_cells){0};
}

/* Removes the quotes of the cell that begins at `from`, in place, and returns
 * the offset of its end in the text; its length goes to *len. */
static size_t
unquote_cell(struct data_cells *c, size_t from, size_t *len)
{
    const size_t line = c->next_line;
    char *to = c->text + from;
    size_t at = from + 1;
    int closed = 0;

    for (; at < c->len && !closed; at++) {
        closed = c->text[at] == '"' && c->text[at + 1] != '"';
        if (closed)
            continue;
        at += c->text[at] == '"';
        c->next_line += c->text[at] == '\n';
        *to++ = c->text[at];
    }
    while (at < c->len && (c->text[at] == ' ' || c->text[at] == '\r'))
        at++;
    if (!closed || (at < c->len && c->text[at] != ',' && c->text[at] != '\n'))
        c->quote = line;
    *len = (size_t)(to - (c->text + from));
    return at;
}

/* Cuts the cell at c->at; returns 1 if another one follows in its record. */
static int
cut_cell(struct data_cells *c)
{
    const char between = c->csv ? ',' : '\t';
    const size_t from = c->at;
    size_t end = from, len;
    char last;

    if (c->csv && c->text[from] == '"') {
        end = unquote_cell(c, from, &len);
    } else {
        while (end < c->len && c->text[end] != between && c->text[end] != '\n')
            end++;
        len = end - from;
    }
    last = end < c->len ? c->text[end] : '\n';
    if (last == '\n' && len && c->text[from + len - 1] == '\r')
        len--;
    c->next_line += last == '\n';
    c->text[from + len] = 0;
    mem_grow(&c->cell, &c->room, c->n + 1, sizeof *c->cell);
    c->cell[c->n++] = (struct data_cell){c->text + from, len};
    c->at = end + (end < c->len);
    return last == between;
}

/* Skips the comments at c->at. */
static void
skip_comments(struct data_cells *c)
{
    while (c->comments && c->at < c->len && c->text[c->at] == '#') {
        while (c->at < c->len && c->text[c->at] != '\n')
            c->at++;
        c->at += c->at < c->len;
        c->next_line++;
    }
}

/* Checks quotes and zero bytes of the record. */
static int
check_record(const struct data_cells *c, struct err *err)
{
    if (c->quote)
        return err_set(
            err,
            "line %zu of '%s' has quotes that are not closed, or text "
            "after them: within quotes a quote is doubled",
            c->quote, c->path);
    for (size_t i = 0; i < c->n; i++)
        if (strlen(c->cell[i].text) < c->cell[i].len)
            return err_set(err, "line %zu of '%s' has a zero byte", c->line,
                           c->path);
    return 0;
}

int
data_cells_next(struct data_cells *c, struct err *err)
{
    do {
        skip_comments(c);
        if (c->at >= c->len)
            return 0;
        c->n = 0;
        c->line = c->next_line;
        while (cut_cell(c) && !c->quote)
            ;
        if (check_record(c, err))
            return -1;
    } while (c->n == 1 && !c->cell->len);
    return 1;
}

struct data_cell
data_cells_get(const struct data_cells *cells, size_t at)
{
    return at < cells->n ? cells->cell[at] : (struct data_cell){NULL, 0};
}

enum { WORDS = 16, NAMED = 12 }; // words of a column; columns in a message

/* Usual names of columns, the most certain first: in lower case, without
 * separators. */
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

static int
read_part(struct data_columns *columns, char *part, struct err *err)
{
    char *equals = strchr(part, '='), *end;
    enum data_column c = DATA_COLUMN_NAME;
    unsigned long n;

    if (!equals || !equals[1])
        return err_set(err, "'%s': want WHAT=COLUMN", part);
    *equals = 0;
    while (c < DATA_COLUMNS && strcmp(known[c].option, part))
        c++;
    *equals = '=';
    if (c == DATA_COLUMNS)
        return err_set(err, "'%s': want name, label or caption before the '='",
                       part);
    if (columns->called[c])
        return err_set(err, "two columns are to be the %s", known[c].option);
    columns->called[c] = equals + 1;
    n = strtoul(equals + 1, &end, 10);
    if (isdigit((unsigned char)equals[1]) && !*end && n < SIZE_MAX)
        columns->number[c] = n;
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

/* Returns 1 if a cell is a word, without regard to case and separators. */
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

/* Returns the cell that the user named, or that has a usual name; SIZE_MAX if
 * there is none. */
static size_t
find_cell(const struct data_cells *cells, enum data_column column,
          const char *called)
{
    for (size_t i = 0; called && i < cells->n; i++)
        if (!strcmp(cells->cell[i].text, called))
            return i;
    for (size_t k = 0; !called && k < WORDS && known[column].word[k]; k++)
        for (size_t i = 0; i < cells->n; i++)
            if (is_word(&cells->cell[i], known[column].word[k]))
                return i;
    return SIZE_MAX;
}

/* Lists the cells that are not in at[], or all if at is NULL, as "a, b, c"; the
 * caller frees it. */
static char *
name_others(const struct data_cells *cells, const size_t at[DATA_COLUMNS])
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
        name[data_captions_tidy(name, strlen(name))] = 0;
        series_put(&all, name);
        free(name);
    }
    return series_end(&all);
}

/* Finds the columns by the first record: 1 if it is a heading, 0, or -1. */
static int
find_columns(struct data_rows *rows, struct err *err)
{
    const struct data_columns *columns = rows->columns;
    const struct data_cells *cells = &rows->cells;
    size_t found[DATA_COLUMNS];
    int user_named = 0;

    for (size_t c = 0; c < DATA_COLUMNS && columns->number[0]; c++)
        rows->at[c] = columns->number[c] ? columns->number[c] - 1 : SIZE_MAX;
    if (columns->number[0])
        return 0;
    for (enum data_column c = DATA_COLUMN_NAME; c < DATA_COLUMNS; c++) {
        const char *called = columns->called[c];

        user_named |= called != NULL;
        found[c] = find_cell(cells, c, called);
        if (called && found[c] == SIZE_MAX) {
            char *all = name_others(cells, NULL);

            err_set(err, "no column of '%s' is called '%s': it has %s",
                    cells->path, called, all);
            free(all);
            return -1;
        }
    }
    if (found[rows->key] == SIZE_MAX && user_named)
        return err_set(err, "'%s': name the column with --columns %s=...",
                       cells->path, known[rows->key].option);
    if (found[rows->key] == SIZE_MAX)
        return 0;
    if (found[DATA_COLUMN_NAME] == SIZE_MAX)
        found[DATA_COLUMN_NAME] = found[rows->key] == 0;
    for (size_t c = 0; c < DATA_COLUMNS; c++)
        rows->at[c] = rows->at[c] == SIZE_MAX ? SIZE_MAX : found[c];
    return 1;
}

/* Reads the first record: 1 if it is a heading, 0, or -1. */
static int
read_heading(struct data_rows *rows, struct err *err)
{
    const struct data_cells *cells = &rows->cells;
    int heading = find_columns(rows, err);
    char *names;

    if (heading < 0 ||
        (!heading && (rows->columns->spec || rows->names(rows->of, cells))))
        return heading;
    names = name_others(cells, heading ? rows->at : NULL);
    if (heading && *names)
        data_notes_add(rows->notes,
                       mem_format("columns of '%s' that are not used: %s",
                                  cells->path, names));
    if (!heading)
        heading = err_set(
            err,
            "line %zu of '%s' names no %s, and no columns that are known: %s; "
            "describe them, as in --columns name=A,label=B,caption=C, or by "
            "numbers if no line names them",
            cells->line, cells->path, rows->what, names);
    free(names);
    return heading;
}

int
data_rows_next(struct data_rows *rows, struct err *err)
{
    int got, heading;

    do {
        got = data_cells_next(&rows->cells, err);
        heading = got > 0 && !rows->begun++ ? read_heading(rows, err) : 0;
    } while (heading > 0);
    return heading ? heading : got;
}

void
data_notes_add(struct data_notes *notes, char *text)
{
    mem_grow(&notes->text, &notes->room, notes->n + 1, sizeof *notes->text);
    notes->text[notes->n++] = text;
}

void
data_notes_release(struct data_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->text[i]);
    free(notes->text);
    *notes = (struct data_notes){0};
}
