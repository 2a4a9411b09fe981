#pragma once

#include "sample/emc2.h"

/* No chain has begun. */
static inline void
forget(size_t n, struct sample_state *state)
{
    for (size_t i = 0; i < n; i++)
        state[i] = (struct sample_state){-1, -1, 0};
}

/* Calls sample_emc2() with scratch. */
static inline struct sample_moves
move_chains(const struct sample_emc2_settings *how, const struct batch *step,
            const float *s, struct sample_state *state, float *score, float *w)
{
    static struct arena scratch;

    arena_begin(&scratch);
    return sample_emc2(how, step, s, state, score, w, &scratch);
}

/* A visit of `row` chains with fresh scores. */
static inline struct sample_moves
visit_once(size_t v, size_t b, const int64_t *images, const float *s,
           double beta, size_t burn, uint64_t seed, uint64_t step,
           struct sample_state *state, float *w)
{
    const struct sample_emc2_settings how = {.burn = burn, .seed = seed};
    const struct batch batch = {
        .step = step, .beta = beta, .v = v, .b = b, .ids = images};

    return move_chains(&how, &batch, s, state, NULL, w);
}
