#ifndef EVAL_PAIRS_H
#define EVAL_PAIRS_H

#include <stddef.h>
#include <stdint.h>

/*
 * The graph of the pairs of samples that batches have shown: an edge between
 * two samples for each batch that both are in.  Batches that never show some
 * pairs have other optima than the whole loss (Cho et al. 2023,
 * arXiv:2307.05906, theorem 5), and a graph in parts trains parts that never
 * meet.
 */
struct eval_pairs {
    size_t samples, batches, room_batches, total, room_ids;
    size_t *start; /* [batches] where its ids begin */
    int64_t *id;   /* [total] */
};

/* eval_pairs_init() begins without batches; eval_pairs_add() adds one of n
 * different samples. */
void eval_pairs_init(struct eval_pairs *pairs, size_t samples);
void eval_pairs_release(struct eval_pairs *pairs);
void eval_pairs_add(struct eval_pairs *pairs, size_t n, const int64_t *ids);

/*
 * With A the matrix of how often pairs have met and D its row sums, the second
 * eigenvalue is that of D^-1/2 A D^-1/2, whose largest is 1: 1 where the graph
 * has parts, -1 / (samples - 1) where all pairs have met alike, and the nearer
 * to 1 the longer news takes from one end to the other.
 */
struct eval_pairs_figures {
    double coverage; /* share of all pairs that have met */
    double again;    /* share of meetings whose pair had met before */
    double hardest;  /* share of the pairs in `near` that have met */
    double second;   /* eigenvalue */
    size_t parts;    /* of the graph; a sample in no batch is a part */
    size_t unseen;   /* samples in no batch */
};

/*
 * eval_pairs_measure() measures the graph so far.
 *   near  [samples,k] the ids of each sample's k hardest negatives; k may be 0
 * O(sum of the squares of batches + samples k + 1,000 total) time, most often
 * far less.
 */
struct eval_pairs_figures eval_pairs_measure(const struct eval_pairs *pairs,
                                             size_t k, const uint32_t *near);

#endif
