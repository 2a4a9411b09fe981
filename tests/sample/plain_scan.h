#pragma once

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sample/emc2.h"
#include "util/mem.h"

/*
 * What defines sample_emc2(): a chain and its proposals, all of them given.
 *
 * PLAIN_OUTSIDE stands for a state without a column.  A chain that is nowhere
 * has the score -INFINITY, and takes the first proposal.
 */
enum { PLAIN_OUTSIDE = -1 };

struct plain_chain {
    long at;         /* column, or PLAIN_OUTSIDE */
    double score;    /* beta s of where it sits */
    size_t accepted; /* counted up */
};

/*
 * plain_scan() proposes `length` columns to a chain, in their order, and counts
 * where it is after each, or nothing where count is NULL.
 *   luck   [length]  -log U, U uniform in [0,1]: c' is accepted when
 *                    beta s_c' + luck > beta s_c
 *   score  [columns] beta s of the row
 * Returns how often PLAIN_OUTSIDE was recorded.
 */
static inline size_t
plain_scan(size_t length, const uint32_t *column, const double *luck,
           const double *score, struct plain_chain *chain, uint32_t *count)
{
    size_t outside = 0;

    for (size_t k = 0; k < length; k++) {
        // accept iff U < exp(l' - l), and -log U is Exp(1): iff l' - log U > l
        if (score[column[k]] + luck[k] > chain->score) {
            chain->at = (long)column[k];
            chain->score = score[column[k]];
            chain->accepted++;
        }
        if (chain->at == PLAIN_OUTSIDE)
            outside++;
        else if (count)
            count[chain->at]++;
    }
    return outside;
}

/* A row of a batch moves a chain, and is weighed. */
static inline void
plain_row(const struct sample_emc2_settings *how, const struct batch *batch,
          const float *s, size_t row, const double *luck,
          struct plain_chain *chain, float *w)
{
    const size_t n = batch->v * batch->b, burn = how->burn;
    double *score = mem_array(n, sizeof *score);
    uint32_t *column = mem_array(n, sizeof *column);
    uint32_t *count = mem_array(n, sizeof *count);
    size_t length = 0;

    for (size_t c = 0; c < n; c++) {
        score[c] = fmin(fmax(batch->beta * s[row * n + c], -DBL_MAX), DBL_MAX);
        if (c % batch->b != row % batch->b)
            column[length++] = (uint32_t)c;
    }
    plain_scan(burn, column, luck, score, chain, NULL);
    plain_scan(length - burn, column + burn, luck + burn, score, chain, count);
    for (size_t c = 0; c < n; c++)
        w[c] = (float)count[c] / (float)(length - burn);
    free(score);
    free(column);
    free(count);
}

/*
 * plain_visit() is sample_emc2() of `all4` chains with stale scores, without
 * extra columns, with the luck of all proposals given, [n,R].  Returns the
 * share of proposals that were accepted.
 */
static inline double
plain_visit(const struct sample_emc2_settings *how, const struct batch *batch,
            const float *s, const double *luck, struct sample_state *state,
            float *score, float *w)
{
    const size_t b = batch->b, n = batch->v * b, length = batch->v * (b - 1);
    size_t accepted = 0;

    for (size_t i = 0; i < b; i++) {
        struct plain_chain chain = {PLAIN_OUTSIDE, -INFINITY, 0};

        if (state[i].id >= 0)
            chain.score = score[i];
        for (size_t row = i; row < n; row += b)
            plain_row(how, batch, s, row, luck + row * length, &chain,
                      w + row * n);
        for (size_t row = i; row < n; row += b) {
            score[row] = (float)fmin(fmax(chain.score, -FLT_MAX), FLT_MAX);
            if (chain.at != PLAIN_OUTSIDE)
                state[row] = sample_step_state(batch, (size_t)chain.at);
        }
        accepted += chain.accepted;
    }
    return (double)accepted / ((double)n * (double)length);
}
