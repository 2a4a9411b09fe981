#ifndef SAMPLE_WALK_H
#define SAMPLE_WALK_H

#include "sample/bank.h"
#include "sample/emc2.h"

/*
 * Chains that keep moving between visits, on the features of the bank: the
 * `bank` proposals.
 *
 * The chain of an image i has the target p(j) ~ exp(beta e_i.e_j) over all
 * other samples that have a row e_j.  Each move proposes a sample uniformly
 * out of the data set but for i; one without a row is not accepted.  A chain
 * without a state takes the first proposal that has a row; where image i has no
 * row itself its chains stay where they are.
 */
struct sample_walk_how {
    double beta;                /* finite, >= 0 */
    size_t moves;               /* of each chain */
    size_t views;               /* a proposed state has a view < views, by
                                   chance */
    uint64_t seed, epoch, step; /* key, with the row (RNG_WALK) */
};

struct sample_walk {
    double accepted;  /* share of all proposals */
    double effective; /* mean effective sample size of the scores of a chain
                         over its moves, sample/ess.h; of those that stood
                         somewhere after the first */
};

/*
 * sample_walk() moves n chains.
 *   ids    [n]  whose chain each is, < size; n <= 65536
 *   state  [n]  in and out
 * O(n moves dim) time.
 */
struct sample_walk sample_walk(const struct sample_walk_how *how,
                               const struct sample_bank *bank, size_t n,
                               const int64_t *ids, struct sample_state *state);

#endif
