#ifndef SAMPLE_STORE_H
#define SAMPLE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "util/err.h"

/*
 * The state of a sampler, kept for it so that it gets it back when it was
 * started again: tables of bytes, by name, which are never read here.
 *
 * A table has `rows` of `width` bytes and starts as zeros.  Each step of the
 * sampler names the rows that it changed and their new bytes.
 */
enum {
    SAMPLE_TABLES_MAX = 16,
    SAMPLE_NAME_MAX = 60,        /* bytes of a table's name, with the zero */
    SAMPLE_SAMPLER_MAX = 64,     /* bytes of a sampler's name, with the zero */
    SAMPLE_PIECE_MAX = 16 << 20, /* bytes that are handed over at a time */
    SAMPLE_WIDTH_MAX = SAMPLE_PIECE_MAX /* of a row */
};

/* The bytes of all tables together are at most so many where nobody says else:
 * --max-state of foil-train and foil-negatives. */
#define SAMPLE_STORE_MOST ((size_t)8 << 30)

/* Rows of a table; lent. */
struct sample_rows {
    const char *name;
    size_t rows, width; /* of the table */
    size_t n;           /* of these rows, or 0 */
    const int64_t *at;  /* [n] which, each < rows; of one that is there twice
                           the later counts.  NULL: n rows from `from` on */
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
    size_t n;    /* 0: nothing has begun */
    struct sample_table table[SAMPLE_TABLES_MAX];
};

/* sample_store_init() begins without tables, and without ->most, which
 * sample_store_release() keeps. */
void sample_store_init(struct sample_store *store);
void sample_store_release(struct sample_store *store);

/*
 * sample_store_judge() refuses rows of tables that a store cannot keep: names
 * that are empty, too long or there twice, more than SAMPLE_TABLES_MAX tables
 * or ->most bytes; and, where the store has tables, others than
 * those, another width, or fewer rows.  More rows than before are fine.  No
 * rows at all (n = 0) are fine, too.
 *   rows [n] one for each table, always in the same order
 */
int sample_store_judge(const struct sample_store *store, size_t n,
                       const struct sample_rows *rows, struct err *err);

/*
 * sample_store_write() writes rows that were judged; the first time it makes
 * the tables, and writes down whose they are.
 */
void sample_store_write(struct sample_store *store, const char *sampler,
                        size_t n, const struct sample_rows *rows);

/* sample_store_find() returns the table of that name, or NULL. */
const struct sample_table *sample_store_find(const struct sample_store *store,
                                             const char *name);

/*
 * A store in pieces of at most SAMPLE_PIECE_MAX bytes, or of one row: tables in
 * their order, rows from the first to the last.
 *
 * sample_store_next() moves on to the next piece, and returns 1 when it is not
 * the last; begin with a piece of zeros.  A store without tables is one piece
 * without rows.
 */
struct sample_piece {
    size_t table, from, n; /* rows from .. from + n of that table */
    int begun;
};
int sample_store_next(const struct sample_store *store,
                      struct sample_piece *piece);

#endif
