#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sample/chains.h"
#include "util/mem.h"

void
sample_chains_init(struct sample_chains *chains, size_t size, size_t views)
{
    chains->size = size;
    chains->views = views;
    chains->state = mem_array(size * views, sizeof *chains->state);
    chains->score = mem_array(size * views, sizeof *chains->score);
    for (size_t i = 0; i < size * views; i++) {
        chains->state[i] = (struct sample_state){-1, -1, 0};
        chains->score[i] = -FLT_MAX;
    }
}

void
sample_chains_release(struct sample_chains *chains)
{
    free(chains->state);
    free(chains->score);
    *chains = (struct sample_chains){0};
}

size_t
sample_chains_place(const struct sample_chains *chains, size_t b,
                    const int64_t *ids, const int64_t *variants, size_t row)
{
    const int64_t id = ids[row % b];
    const int64_t view = variants ? variants[row] : (int64_t)(row / b);

    REQUIRE(id >= 0 && (uint64_t)id < chains->size);
    REQUIRE(view >= 0 && (uint64_t)view < chains->views);
    return (size_t)id * chains->views + (size_t)view;
}

void
sample_chains_get(const struct sample_chains *chains, size_t v, size_t b,
                  const int64_t *ids, const int64_t *variants,
                  struct sample_state *state, float *score)
{
    for (size_t row = 0; row < v * b; row++) {
        const size_t at = sample_chains_place(chains, b, ids, variants, row);

        state[row] = chains->state[at];
        if (score)
            score[row] = chains->score[at];
    }
}

void
sample_chains_put(struct sample_chains *chains, size_t v, size_t b,
                  const int64_t *ids, const int64_t *variants,
                  const struct sample_state *state, const float *score)
{
    for (size_t row = 0; row < v * b; row++) {
        const size_t at = sample_chains_place(chains, b, ids, variants, row);

        chains->state[at] = state[row];
        if (score)
            chains->score[at] = score[row];
    }
}

/* 1 where a state exists, or is none. */
static int
is_sound(const struct sample_chains *chains, struct sample_state state)
{
    if (state.id == -1 && state.view == -1)
        return !state.epoch;
    return state.id >= 0 && (uint64_t)state.id < chains->size &&
           state.view >= 0 && (uint64_t)state.view < chains->views &&
           state.epoch >= 0 && state.epoch <= UINT32_MAX;
}

int
sample_chains_set(struct sample_chains *chains, size_t place,
                  struct sample_state state, float score, struct err *err)
{
    const size_t id = place / chains->views, view = place % chains->views;

    if (!is_sound(chains, state))
        return err_set(err,
                       "the chain of sample %zu, view %zu stands at sample "
                       "%" PRId64 ", view %" PRId64 ", epoch %" PRId64,
                       id, view, state.id, state.view, state.epoch);
    if (!isfinite(score))
        return err_set(err, "the chain of sample %zu, view %zu has no score",
                       id, view);
    chains->state[place] = state;
    chains->score[place] = score;
    return 0;
}
