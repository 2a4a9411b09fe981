#pragma once

#include "sample/bank.h"
#include "sample/ess.h"
#include "sample/step.h"

/*
 * Moves of chains between visits, on the features of the bank: the `bank`
 * proposals.
 *
 * If the bank has a row e_ia for each fixed view a, the chain of (i, a) has the
 * target p(j, c) ~ exp(beta e_ia.e_jc) over the views of all other samples with
 * a row.  If it has one row e_i for each sample, all chains of image i have the
 * target p(j) ~ exp(beta e_i.e_j), and a chain that moves to j gets the view
 * that e_j was computed from as its state.
 *
 * Each move proposes a sample of the data set other than i, uniformly, and one
 * of its views; a proposal without a row is rejected.  A chain without a state
 * accepts the first proposal with a row.  A chain whose own row is missing does
 * not move.
 */
struct sample_walk_settings {
    size_t moves;  /* of each chain, >= 1 */
    int cross;     /* 1: only from view 0 to the others and back; the bank must
                      have more than one view */
    uint64_t seed; /* random key, with epoch, step and row (RNG_WALK) */
};

struct sample_walk {
    double accepted;  /* share of all proposals */
    double effective; /* mean effective sample size of a chain's scores over its
                         moves, sample_ess(), over the chains that had a state
                         after the first move */
};

/*
 * sample_walk() moves the chains of a step.
 *   step   reads beta, epoch, step, v, b, ids, view_of
 *   state  [v b]  in and out
 * O(v b moves dim) time.
 */
struct sample_walk sample_walk(const struct sample_walk_settings *how,
                               const struct sample_bank *bank,
                               const struct batch *step,
                               struct sample_state *state,
                               struct arena *scratch);
