#ifndef UTIL_TABLE_H
#define UTIL_TABLE_H

#include <stddef.h>
#include <stdio.h>

/*
 * A table for people: named columns, put together row by row.
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
 * Columns stand in the order in which they were first put; one of numbers alone
 * is aligned to the right.  Texts are UTF-8 and as wide as a terminal shows
 * them, a Chinese character two columns; a character that cannot be printed is
 * shown as '?'.
 */
struct table_cell {
    size_t row, column;
    char *text;
};

struct table {
    char **column;           /* [columns] names */
    struct table_cell *cell; /* [cells] in the order in which they were put */
    size_t rows, columns, cells;
    size_t column_room, cell_room;
};

/* table_column() makes a column, if there is none of that name: for another
 * order than that of the first table_put(). */
void table_column(struct table *table, const char *name);

/* table_row() begins a row. */
void table_row(struct table *table);

/* table_put() fills a cell of the row that was begun last, once. */
void table_put(struct table *table, const char *column, const char *text);

/*
 * table_print() prints the table.  Columns for which `width` (in columns of a
 * terminal) has no room go to a further table below, with the first `keys`
 * columns again, and so on; texts wider than that are cut.  Width 0: no limit.
 */
void table_print(const struct table *table, size_t keys, int width, FILE *out);

/* table_release() frees all; the table is empty then. */
void table_release(struct table *table);

#endif
