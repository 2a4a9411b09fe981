#ifndef WIRE_TABLE_H
#define WIRE_TABLE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Tables of bytes that the trainer stores for a negatives service: rows x width
 * each, initially zero.  `weights` lists the rows of a table that a step
 * changes, `state.put` returns consecutive rows.
 */
enum {
    WIRE_TABLES_MAX = 16,
    WIRE_TABLE_NAME = 60,           /* bytes of a table's name, with the zero */
    WIRE_SAMPLER_NAME = 64,         /* bytes of the sampler's, likewise */
    WIRE_WIDTH_MAX = 16 << 20,      /* bytes of a row */
    WIRE_PIECE_MAX = WIRE_WIDTH_MAX /* bytes of rows in a state.put */
};

struct wire_table {
    char name[WIRE_TABLE_NAME];
    size_t rows, width; /* of the table */
    size_t n;           /* rows that are sent; 0: none */
    const int64_t *at;  /* [n] their indices, each < rows; NULL in state.put */
    const uint8_t *row; /* [n,width] their bytes */
};

#endif
