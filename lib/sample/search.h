#pragma once

#include "sample/bank.h"
#include "util/arena.h"
#include "util/rng.h"

/*
 * The softmax over a bank.  A query q of sample i has the distribution
 *
 *     p_q(k) = exp(beta q.e_k) / Z_q,   Z_q = sum_k exp(beta q.e_k),
 *
 * over the rows e_k of other samples that were written.  Across two kinds of
 * rows these are rows of the other kind: row 0 of a sample is of one, its other
 * rows are of the other.
 */

/* The weight of the rows of a block: sum exp(beta (s - most)); sum is 0 if none
 * of them may be drawn. */
struct sample_mass {
    float most;
    double sum;
};

struct sample_search {
    const struct sample_bank *bank;
    float beta;
    int cross;
    size_t blocks;
    const int64_t *own;       /* [n] */
    const float *query;       /* [n,d] */
    struct sample_mass *mass; /* [n,blocks] */
    float *s;                 /* [n,512] scores of a block */
};

/* A draw from the distribution of a query. */
struct sample_draw {
    int64_t id;   /* the row, a sample's id in a bank with one row for each; -1:
                     no row could be drawn */
    double log_q; /* log p(id); 0 without a draw */
};

/*
 * sample_search() computes the weights of all blocks of the bank for n queries.
 *   beta   finite, >= 0
 *   cross  1: across two kinds of rows
 *   own    [n]  a row of each query's sample, with cross of its kind; n <=
 *          65536; kept
 *   query  [n,d]  kept
 * O(n rows d) time; takes O(n rows / 100) of scratch and does not free it.
 */
struct sample_search sample_search(double beta, const struct sample_bank *bank,
                                   int cross, size_t n, const int64_t *own,
                                   const float *query, struct arena *scratch);

/* sample_search_log_z() returns log Z of a query; -INFINITY if it has no row to
 * draw. */
double sample_search_log_z(const struct sample_search *search, size_t query);

/* sample_search_draw() draws from the distribution of a query: it inverts the
 * running sum of the exponentials.  O(512 d) time. */
struct sample_draw sample_search_draw(const struct sample_search *search,
                                      size_t query, struct rng *rng);

/* sample_search_rows() copies n rows of the bank, [n,d]; zeros where a row was
 * never written. */
float *sample_search_rows(const struct sample_bank *bank, size_t n,
                          const int64_t *row, struct arena *to);
