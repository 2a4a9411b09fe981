#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "cells.h"
#include "kind.h"

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

/* Takes the quotes off the cell that begins at `from`, in place, and returns
 * where it ends in the text; its length goes to *len. */
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

/* Cuts the cell at c->at; 1 where another one follows in its record. */
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

/* Goes behind the comments at c->at. */
static void
pass_comments(struct data_cells *c)
{
    while (c->comments && c->at < c->len && c->text[c->at] == '#') {
        while (c->at < c->len && c->text[c->at] != '\n')
            c->at++;
        c->at += c->at < c->len;
        c->next_line++;
    }
}

/* Is the record what it seems to be? */
static int
check_record(const struct data_cells *c, struct err *err)
{
    if (c->quote)
        return err_set(
            err,
            "line %zu of '%s' has quotes that are not closed, or text "
            "behind them: within quotes a quote is doubled",
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
        pass_comments(c);
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
