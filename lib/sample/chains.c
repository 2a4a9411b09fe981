#include <inttypes.h>
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
    for (size_t i = 0; i < size * views; i++)
        chains->state[i] = (struct sample_state){-1, -1};
}

void
sample_chains_release(struct sample_chains *chains)
{
    free(chains->state);
    *chains = (struct sample_chains){0};
}

static struct sample_state *
chain_of(const struct sample_chains *chains, int64_t id, size_t view)
{
    REQUIRE(id >= 0 && (uint64_t)id < chains->size);
    return &chains->state[(size_t)id * chains->views + view];
}

void
sample_chains_get(const struct sample_chains *chains, size_t b,
                  const int64_t *ids, struct sample_state *state)
{
    for (size_t view = 0; view < chains->views; view++)
        for (size_t i = 0; i < b; i++)
            state[view * b + i] = *chain_of(chains, ids[i], view);
}

void
sample_chains_put(struct sample_chains *chains, size_t b, const int64_t *ids,
                  const struct sample_state *state)
{
    for (size_t view = 0; view < chains->views; view++)
        for (size_t i = 0; i < b; i++)
            *chain_of(chains, ids[i], view) = state[view * b + i];
}

int
sample_chains_load(struct sample_chains *chains,
                   const struct sample_state *state, struct err *err)
{
    size_t n = chains->size * chains->views;

    for (size_t i = 0; i < n; i++) {
        int64_t id = state[i].id, view = state[i].view;

        if (id == -1 && view == -1)
            continue;
        if (id < 0 || (uint64_t)id >= chains->size || view < 0 ||
            (uint64_t)view >= chains->views)
            return err_set(err,
                           "the chain of sample %zu, view %zu stands at "
                           "sample %" PRId64 ", view %" PRId64,
                           i / chains->views, i % chains->views, id, view);
    }
    memcpy(chains->state, state, n * sizeof *state);
    return 0;
}
