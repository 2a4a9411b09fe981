#ifndef DATA_CELLS_H
#define DATA_CELLS_H

#include <stddef.h>

#include "util/err.h"

/*
 * A table in text, record by record.
 *
 * Cells have tabs between them and a record is a line.  In a file .csv there
 * are commas instead, and a cell in quotes may hold commas, line ends and,
 * doubled, quotes (RFC 4180).  A line may end in CR LF; empty ones, a mark of
 * byte order before the first, and where ->comments is set lines that begin
 * with '#', are left out.
 */
struct data_cell {
    char *text; /* a zero behind the last byte */
    size_t len;
};

struct data_cells {
    const char *path;
    char *text; /* the whole table, which is cut into cells */
    size_t len, at;
    int csv, comments;
    size_t line, next_line; /* of the record, and behind it; from 1 */
    size_t quote;           /* line of a cell whose quotes are wrong, or 0 */
    size_t n, room;
    struct data_cell *cell; /* [n] of the record, until the next one */
};

/*
 * data_cells_init() begins with the text of a file of that path: len bytes and
 * a zero, which change and must stay, as the path.  To be given to
 * data_cells_release().
 */
void data_cells_init(struct data_cells *cells, const char *path, char *text,
                     size_t len);
void data_cells_release(struct data_cells *cells);

/*
 * data_cells_next() cuts the next record: 1, 0 at the end, or -1 where a cell
 * has a zero byte, quotes that are not closed, or text behind them, for then
 * nobody knows where it ends.
 */
int data_cells_next(struct data_cells *cells, struct err *err);

/* Sentences about what was noticed, to be said when all is done. */
struct data_notes {
    char **text; /* [n] */
    size_t n, room;
};

/* data_notes_add() adds one that mem_format() made, and releases it later. */
void data_notes_add(struct data_notes *notes, char *text);
void data_notes_release(struct data_notes *notes);

/* What a column of a table of samples holds. */
enum data_column {
    DATA_COLUMN_NAME,
    DATA_COLUMN_LABEL,
    DATA_COLUMN_CAPTION,
    DATA_COLUMNS
};

/*
 * What the user says of the columns, as in "name=id,caption=title": each by
 * what the first line calls it, or all by their numbers, from 1, where there is
 * no such line.  As zeros nothing is said.
 */
struct data_columns {
    char *spec;
    const char *called[DATA_COLUMNS]; /* or NULL */
    size_t number[DATA_COLUMNS];      /* or 0 */
};

int data_columns_parse(struct data_columns *columns, const char *spec,
                       struct err *err);
void data_columns_release(struct data_columns *columns);

/*
 * data_columns_find() tells which cells of a table's first record hold what.
 * Where nothing is said of a column it is known by the words in cells.c, in
 * either case, with '_', '-' or blanks between their parts; of two such cells
 * that of the earlier word counts.
 *   key   a record without this column is no heading
 *   at    in: which cells they are where there is no heading; out: which they
 *         are, SIZE_MAX where there is none
 * Returns 1: it is a heading; 0: it is not; -1: a column that the user named is
 * not in it.
 */
int data_columns_find(const struct data_columns *columns,
                      const struct data_cells *cells, enum data_column key,
                      size_t at[DATA_COLUMNS], struct err *err);

/* data_columns_unused() notes which cells are none of at[], if there are such.
 */
void data_columns_unused(const struct data_cells *cells,
                         const size_t at[DATA_COLUMNS],
                         struct data_notes *notes);

/* data_columns_refuse() is about a first record that is no heading and names
 * nothing that is there: sets the sentence and returns -1. */
int data_columns_refuse(const struct data_cells *cells, const char *what,
                        struct err *err);

#endif
