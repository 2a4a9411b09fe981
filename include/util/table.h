#pragma once

#include <stddef.h>
#include <stdio.h>

/*
 * A table for people to read: named columns, filled row by row.
 *
 *     struct table table = {0};
 *     table_row(&table);
 *     table_put(&table, "run", "run/a");
 *     table_put(&table, "steps", "400");
 *     table_print(&table, 1, terminal_size(1, NULL), stdout);
 *     table_release(&table);
 *
 *     run    steps
 *     run/a    400
 *
 * Columns are in the order of their first use; a column of only numbers is
 * aligned to the right.  Texts are UTF-8, measured in columns of a terminal, a
 * Chinese character as two; an unprintable character is shown as '?'.
 */
struct table_cell {
    size_t row, column;
    char *text;
};

struct table {
    char **column;           /* [columns] names */
    struct table_cell *cell; /* [cells] in the order of table_put() */
    size_t rows, columns, cells;
    size_t column_room, cell_room;
};

/* table_column() adds a column, unless it exists, for another order than that
 * of the first table_put(); returns its index. */
size_t table_column(struct table *table, const char *name);

/* table_row() begins a row. */
void table_row(struct table *table);

/* table_put() fills a cell of the last row, once, with formatted text. */
void table_put(struct table *table, const char *column, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* table_print() prints the table.  Columns that do not fit into `width` columns
 * of a terminal go to a further table below, which repeats the first `keys`
 * columns, and so on; texts wider than that are cut.  Width 0: no limit. */
void table_print(const struct table *table, size_t keys, int width, FILE *out);

/* table_release() frees all; the table is empty then. */
void table_release(struct table *table);
