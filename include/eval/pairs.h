#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The graph of the pairs of samples in batches: an edge between two samples for
 * each batch with both.  If batches never contain some pairs, their loss has
 * other optima than the whole loss (Cho et al. 2023, arXiv:2307.05906, theorem
 * 5); the components of a graph are never contrasted with each other.
 */
struct eval_pairs {
    size_t samples, batches, room_batches, total, room_ids;
    size_t *start; /* [batches] index of its first id */
    int64_t *id;   /* [total] */
};

/* eval_pairs_add() adds a batch of n different samples to a graph, which has
 * none if only `samples` is set. */
void eval_pairs_release(struct eval_pairs *pairs);
void eval_pairs_add(struct eval_pairs *pairs, size_t n, const int64_t *ids);

/*
 * With A the matrix of the number of common batches of each pair and D its row
 * sums, the second eigenvalue is that of D^-1/2 A D^-1/2, which has the largest
 * eigenvalue 1.  It is 1 if the graph is not connected, -1 / (samples - 1) if
 * all pairs have equal counts; near 1, a random walk on the graph mixes slowly.
 */
struct eval_pairs_figures {
    double coverage; /* share of all pairs that were in a common batch */
    double repeated; /* share of repetitions among the pairs of all batches */
    double hardest;  /* share of the pairs in `near` with a common batch */
    double second;   /* second eigenvalue */
    size_t parts;    /* components of the graph; a sample in no batch is one */
    size_t unseen;   /* samples in no batch */
};

/*
 * eval_pairs_measure() measures the graph so far.
 *   near  [samples,k] ids of the k hardest negatives of each sample; k may be 0
 * O(sum of the squares of batches + samples k + 1,000 total) time, usually far
 * less.
 */
struct eval_pairs_figures eval_pairs_measure(const struct eval_pairs *pairs,
                                             size_t k, const uint32_t *near);
