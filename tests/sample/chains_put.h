#pragma once

#include "sample/memory.h"

/* The way back of sample_chains_get(): where the chains of a batch stand. */
static inline void
chains_put(struct sample_chains *chains, size_t v, size_t b, const int64_t *ids,
           const int64_t *variants, const struct sample_state *state,
           const float *score)
{
    for (size_t row = 0; row < v * b; row++) {
        const size_t at = sample_chains_index(chains, b, ids, variants, row);

        chains->state[at] = state[row];
        if (score)
            chains->score[at] = score[row];
    }
}
