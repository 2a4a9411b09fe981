#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"
#include "util/weights.h"

/*
 * The state of a sampler, stored so that the sampler can load it after a
 * restart: named tables of bytes.  Only the sampler knows their meaning.
 *
 * A table has `rows` of `width` bytes and starts as zeros.  Each step of the
 * sampler lists the rows that it changed, with their new bytes.
 */

/* Default limit on the bytes of all tables together; --max-state of foil-train
 * and foil-negatives sets another. */
#define SAMPLE_STORE_MOST ((size_t)8 << 30)

struct sample_table {
    char name[TABLE_NAME_MAX];
    size_t rows, width, room; /* room: bytes */
    uint8_t *bytes;           /* [rows,width] */
};

struct sample_store {
    char sampler[SAMPLER_NAME_MAX]; /* name and version of the sampler */
    size_t most; /* bytes of all tables; 0: SAMPLE_STORE_MOST */
    size_t n;    /* 0: no tables yet */
    struct sample_table table[TABLES_MAX];
};

/* sample_store_init() makes a store without tables, with most = 0;
 * sample_store_release() frees the tables and leaves ->most. */
void sample_store_init(struct sample_store *store);
void sample_store_release(struct sample_store *store);

/*
 * sample_store_check() returns -1 for tables that a store cannot hold: a name
 * that is empty, too long or a duplicate, more than TABLES_MAX tables or ->most
 * bytes.  If the store already has tables, names and widths must be the same
 * and rows must not be fewer.  n = 0 is valid.
 *   rows [n] an entry for each table, always in the same order
 */
int sample_store_check(const struct sample_store *store, size_t n,
                       const struct table_rows *rows, struct err *err);

/* sample_store_write() writes rows that sample_store_check() accepted.  The
 * first call makes the tables and stores the sampler's name. */
void sample_store_write(struct sample_store *store, const char *sampler,
                        size_t n, const struct table_rows *rows);

/* sample_store_find() returns the table of that name, or NULL. */
const struct sample_table *sample_store_find(const struct sample_store *store,
                                             const char *name);

/*
 * A piece of a store: at most TABLE_PIECE_MAX bytes, or one row.  Pieces go
 * through the tables in order, and through the rows of each.
 *
 * sample_store_next() moves to the next piece and returns 1 unless it is the
 * last; start with a piece of zeros.  A store without tables is one piece
 * without rows.
 *
 * sample_store_piece() lists all tables, with the rows of one piece.
 */
struct sample_piece {
    size_t table, from, n; /* rows from .. from + n of that table */
    int begun;
};
int sample_store_next(const struct sample_store *store,
                      struct sample_piece *piece);
void sample_store_piece(const struct sample_store *store,
                        const struct sample_piece *piece,
                        struct table_rows rows[TABLES_MAX]);
