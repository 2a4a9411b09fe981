#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/value.h"

/*
 * The results of a sampler for a batch (util/batch.h): weights of the
 * negatives, and state that the trainer stores for the sampler.  Sampler,
 * messages and trainer share these structs, which do not own their arrays.
 *
 * Letters of shapes: those of util/batch.h, and o columns from outside.
 */

/* Rows of a table of bytes, which restore a sampler after a restart.  Only the
 * sampler knows their meaning.  A table has `rows` of `width` bytes and starts
 * as zeros; each step lists the rows that it changed. */
enum {
    TABLES_MAX = 16,
    TABLE_NAME_MAX = 60,        /* bytes, with the zero */
    TABLE_WIDTH_MAX = 16 << 20, /* bytes of a row */
    TABLE_PIECE_MAX = 16 << 20, /* bytes of rows in one message of a state */
    SAMPLER_NAME_MAX = 64,      /* bytes, with the zero */
};

struct table_rows {
    const char *name;
    size_t rows, width; /* of the table */
    size_t n;           /* of these rows; 0: none */
    const int64_t *at;  /* [n] indices, each < rows; the last of duplicates
                         * counts.  NULL: n rows from `from` on */
    const uint8_t *row; /* [n,width] */
    size_t from;
};

/* How much each negative counts for each anchor. */
struct weights {
    size_t rows, columns; /* v b anchors; v b + r + s rows of the batch, then
                           * o */
    const float *w;       /* [rows,columns] at least 0; zero at the row's own
                           * sample.  Each row sums to 1 */
    int partial;          /* 1: rows may sum to less, as those of `stale` do */
    const float *scale;   /* [rows,2] factors, at least 0, of a row's positive
                           * and negative term in the gradient; NULL: 1, 1 */
    const float *s; /* [rows,columns] cosine similarities, 0 in the outside
                     * columns where the weight is 0; NULL: not computed.
                     * Not sent */
    size_t n_outside, dim; /* o, d */
    const float *outside;  /* [o,d] rows of unit length of the last o columns,
                            * which have no gradient; NULL: o is 0 */
    double accepted;       /* share of the proposals, 0 .. 1 */
    size_t moved;          /* chains that changed their state */
    struct values values;  /* for the metrics: those of the draw come first */

    /* The sampler's state, stored if the step is applied. */
    const char *sampler; /* its name and version; not sent */
    size_t n_tables;
    struct table_rows *tables; /* [n_tables] always the same tables; their
                                * number of rows may only grow */
};

/*
 * The k negatives of each anchor with the largest weights, the largest first;
 * of equal weights the lower column first.  Arrays are [v,b,k], the last two
 * [v,b].
 *
 *     outside_r    sum over columns c >= v b of w_rc
 *     effective_r  1 / sum_c (w_rc / sum w_r)^2; 0 where the row is empty
 */
enum { HEAVIEST_MAX = 64 };

struct heaviest {
    size_t k;        /* 1 .. HEAVIEST_MAX */
    int32_t *row;    /* its column, if below v b + r; else -1 */
    int64_t *sample; /* -1: not known, or no negative */
    int32_t *view;   /* number of its fixed view, or slot; -1: not known */
    int64_t *epoch;  /* of that view; 0 where views are fixed; -1: not known */
    float *w, *cosine; /* weight, similarity to the anchor; 0: no negative */
    float *outside, *effective;
};
