#ifndef WIRE_TABLES_H
#define WIRE_TABLES_H

#include "pack.h"
#include "util/weights.h"

/*
 * Tables in a message, for lib/wire/encode.c and decode.c: a list
 * [[name, rows, width] ...] in the header, and for each table with rows in this
 * message the tensors NAME.row, u1 [k,width], and NAME.at, i8 [k], when rows
 * have indices.
 *
 * wire_tables_get() returns an array to be freed by free(), or NULL when there
 * is none or it is invalid.
 */
void wire_tables_put(struct wire_writer *w, const char *key, size_t n,
                     const struct table_rows *table);
struct table_rows *wire_tables_get(struct wire_reader *r, const char *key,
                                   int placed, size_t *n);

#endif
