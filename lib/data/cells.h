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

#endif
