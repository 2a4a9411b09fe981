#ifndef DATA_COLUMNS_H
#define DATA_COLUMNS_H

#include <stddef.h>

#include "util/err.h"

#include "cells.h"

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
 * Where nothing is said of a column it is known by the words in columns.c, in
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

/* data_columns_others() names the cells that are none of at[], or all where at
 * is NULL, as "a, b, c"; to be given to free(). */
char *data_columns_others(const struct data_cells *cells,
                          const size_t at[DATA_COLUMNS]);

/* data_columns_refuse() is about a first record that is no heading and names
 * nothing that is there: sets the sentence and returns -1. */
int data_columns_refuse(const struct data_cells *cells, const char *what,
                        struct err *err);

#endif
