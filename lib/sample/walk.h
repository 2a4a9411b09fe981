#ifndef SAMPLE_WALK_H
#define SAMPLE_WALK_H

#include "sample/bank.h"
#include "sample/ess.h"
#include "sample/step.h"

/*
 * Chains that keep moving between visits, on the features of the bank: the
 * `bank` proposals.
 *
 * Where the bank has a row e_ia of each fixed view a, the chain of (i, a) has
 * the target p(j, c) ~ exp(beta e_ia.e_jc) over the views of all other samples
 * that have a row.  Where it has one row e_i a sample, all chains of image i
 * have the target p(j) ~ exp(beta e_i.e_j), and a chain that has moved to j
 * stands at the very view that e_j was made of.
 *
 * Each move proposes a sample uniformly out of the data set but for i, and one
 * of its views; one without a row is not accepted.  A chain without a state
 * takes the first proposal that has a row; where the chain's own row is missing
 * it stays where it is.
 */
struct sample_walk_how {
    size_t moves;  /* of each chain, >= 1 */
    int cross;     /* 1: from view 0 to the others alone, and from those to it;
                      where the bank has more than one */
    uint64_t seed; /* of the key, with epoch, step and row (RNG_WALK) */
};

struct sample_walk {
    double accepted;  /* share of all proposals */
    double effective; /* mean effective sample size of the scores of a chain
                         over its moves, sample_ess(); of those that stood
                         somewhere after the first */
};

/*
 * sample_walk() moves the chains of a step.
 *   step   beta, epoch, step, v, b, ids and view_of count
 *   state  [v b]  in and out
 * O(v b moves dim) time.
 */
struct sample_walk sample_walk(const struct sample_walk_how *how,
                               const struct sample_bank *bank,
                               const struct batch *step,
                               struct sample_state *state,
                               struct arena *scratch);

#endif
