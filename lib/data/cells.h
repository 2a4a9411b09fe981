#pragma once

#include <stddef.h>

#include "util/err.h"

/*
 * A table in text, record by record.
 *
 * Tabs separate cells and a record is a line.  In a .csv file commas separate
 * cells, and a quoted cell may contain commas, line ends and doubled quotes
 * (RFC 4180).  A line may end in CR LF. Empty lines, a byte order mark at the
 * start, and lines that begin with '#', if ->comments is set, are skipped.
 */
struct data_cell {
    char *text; /* followed by a zero */
    size_t len;
};

struct data_cells {
    const char *path;
    char *text; /* the whole table; cells are cut in it */
    size_t len, at;
    int csv, comments;
    size_t line, next_line; /* of the record, and of the next one; from 1 */
    size_t quote;           /* line of a cell with wrong quotes, or 0 */
    size_t n, room;
    struct data_cell *cell; /* [n] of the record, until the next one */
};

/* data_cells_init() begins with the text of a file: len bytes and a zero, which
 * the cells modify.  Text and path must stay valid until
 * data_cells_release(). */
void data_cells_init(struct data_cells *cells, const char *path, char *text,
                     size_t len);
void data_cells_release(struct data_cells *cells);

/* data_cells_next() cuts the next record: 1, 0 at the end, or -1 if a cell has
 * a zero byte, quotes that are not closed, or text after them: its end is then
 * unknown. */
int data_cells_next(struct data_cells *cells, struct err *err);

/* data_cells_get() returns cell `at` of the record; its text is NULL if there
 * is none. */
struct data_cell data_cells_get(const struct data_cells *cells, size_t at);

/* Messages to print at the end. */
struct data_notes {
    char **text; /* [n] */
    size_t n, room;
};

/* data_notes_add() adds a message from mem_format() and takes ownership. */
void data_notes_add(struct data_notes *notes, char *text);
void data_notes_release(struct data_notes *notes);

/* What a column of a table of samples holds. */
enum data_column {
    DATA_COLUMN_NAME,
    DATA_COLUMN_LABEL,
    DATA_COLUMN_CAPTION,
    DATA_COLUMNS
};

/* The user's description of the columns, as in "name=id,caption=title": each by
 * its name in the first line, or all by their numbers, from 1, if there is no
 * such line.  Zeros describe nothing. */
struct data_columns {
    char *spec;
    const char *called[DATA_COLUMNS]; /* or NULL */
    size_t number[DATA_COLUMNS];      /* or 0 */
};

int data_columns_parse(struct data_columns *columns, const char *spec,
                       struct err *err);
void data_columns_release(struct data_columns *columns);

/*
 * A table of samples, row by row.  Initialise the members up to at[], where the
 * columns are that a table without a heading has, and ->cells by
 * data_cells_init().
 *
 * A heading is a first record with the column ->key.  A column that the user
 * did not describe is found by the words in cells.c, in either case, with '_',
 * '-' or blanks between their parts; of two such cells the one with the earlier
 * word counts.  A heading without names has them in its first other cell; a
 * column that is SIZE_MAX in at[] stays so.
 */
struct data_rows {
    const struct data_columns *columns; /* as the user described them */
    struct data_notes *notes;           /* for a note about unused cells */
    enum data_column key;
    const char *what; /* what a row names, "file" */
    int (*names)(void *of, const struct data_cells *cells); /* 1: it does */
    void *of;
    size_t at[DATA_COLUMNS]; /* the cell of each column; SIZE_MAX: none */

    int begun;
    struct data_cells cells; /* of the row */
};

/* data_rows_next() reads the next row: 1, 0 at the end, or -1: as
 * data_cells_next(), a heading without a column that the user named, or a first
 * record that is no heading and names nothing. */
int data_rows_next(struct data_rows *rows, struct err *err);
