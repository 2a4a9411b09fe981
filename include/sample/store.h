#ifndef SAMPLE_STORE_H
#define SAMPLE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * The state of a sampler, stored so that the sampler can load it after a
 * restart: named tables of bytes.  Only the sampler knows their meaning.
 *
 * A table has `rows` of `width` bytes and starts as zeros.  Each step of the
 * sampler lists the rows that it changed, with their new bytes.
 */
enum {
    SAMPLE_TABLES_MAX = 16,
    SAMPLE_NAME_MAX = 60,        /* bytes of a table's name, with the zero */
    SAMPLE_SAMPLER_MAX = 64,     /* bytes of a sampler's name, with the zero */
    SAMPLE_PIECE_MAX = 16 << 20, /* bytes of a transfer */
    SAMPLE_WIDTH_MAX = SAMPLE_PIECE_MAX /* of a row */
};

/* Default limit on the bytes of all tables together; --max-state of foil-train
 * and foil-negatives sets another. */
#define SAMPLE_STORE_MOST ((size_t)8 << 30)

/* Rows of a table; does not own its arrays. */
struct sample_rows {
    const char *name;
    size_t rows, width; /* of the table */
    size_t n;           /* of these rows, or 0 */
    const int64_t *at;  /* [n] indices, each < rows; the last of duplicates
                           counts.  NULL: n rows from `from` on */
    size_t from;
    const uint8_t *row; /* [n,width] their bytes */
};

struct sample_table {
    char name[SAMPLE_NAME_MAX];
    size_t rows, width, room; /* room: bytes */
    uint8_t *bytes;           /* [rows,width] */
};

struct sample_store {
    char sampler[SAMPLE_SAMPLER_MAX]; /* name and version of the sampler */
    size_t most; /* bytes of all tables; 0: SAMPLE_STORE_MOST */
    size_t n;    /* 0: no tables yet */
    struct sample_table table[SAMPLE_TABLES_MAX];
};

/* sample_store_init() makes a store without tables, with most = 0;
 * sample_store_release() frees the tables and leaves ->most. */
void sample_store_init(struct sample_store *store);
void sample_store_release(struct sample_store *store);

/*
 * sample_store_judge() returns -1 for tables that a store cannot hold: a name
 * that is empty, too long or a duplicate, more than SAMPLE_TABLES_MAX tables or
 * ->most bytes.  If the store already has tables, names and widths must be the
 * same and rows must not be fewer.  n = 0 is valid.
 *   rows [n] an entry for each table, always in the same order
 */
int sample_store_judge(const struct sample_store *store, size_t n,
                       const struct sample_rows *rows, struct err *err);

/*
 * sample_store_write() writes rows that sample_store_judge() accepted.  The
 * first call makes the tables and stores the sampler's name.
 */
void sample_store_write(struct sample_store *store, const char *sampler,
                        size_t n, const struct sample_rows *rows);

/* sample_store_find() returns the table of that name, or NULL. */
const struct sample_table *sample_store_find(const struct sample_store *store,
                                             const char *name);

/*
 * A piece of a store: at most SAMPLE_PIECE_MAX bytes, or one row.  Pieces go
 * through the tables in order, and through the rows of each.
 *
 * sample_store_next() moves to the next piece and returns 1 unless it is the
 * last; start with a piece of zeros.  A store without tables is one piece
 * without rows.
 */
struct sample_piece {
    size_t table, from, n; /* rows from .. from + n of that table */
    int begun;
};
int sample_store_next(const struct sample_store *store,
                      struct sample_piece *piece);

#endif
