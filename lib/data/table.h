#ifndef DATA_TABLE_H
#define DATA_TABLE_H

#include "data/index.h"

#include "columns.h"
#include "layout.h"
#include "notes.h"

/*
 * data_table_read() gives the samples of an index in the making the captions of
 * a table, as data_index_table() says.
 */
int data_table_read(struct layout_parts *parts, const char *path,
                    const struct data_columns *columns,
                    struct data_index_captions *captions,
                    struct data_notes *notes, struct data_index_rows *rows,
                    struct err *err);

#endif
