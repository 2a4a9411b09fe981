#include <math.h>

#include "num/vec.h"
#include "util/err.h"
#include "util/rng.h"

#include "walk.h"

/* The row of a sample's view; NULL if it was never written. */
static const float *
row_of(const struct sample_bank *bank, struct sample_state of)
{
    const size_t view = bank->views > 1 ? (size_t)of.view : 0;
    const size_t row = (size_t)of.id * bank->views + view;

    REQUIRE(of.id >= 0 && (uint64_t)of.id < bank->size && view < bank->views);
    return bank->when[row] < 0 ? NULL : bank->rows + row * bank->dim;
}

/* Chooses a view of a sample for a chain of view `own`: a random fixed view, or
 * the view of the sample's only row. */
static struct sample_state
choose_view(int cross, const struct sample_bank *bank, struct rng *rng,
            int64_t id, int64_t own)
{
    struct sample_state state = {id, 0, 0};

    if (cross) {
        state.view = own ? 0 : 1 + (int64_t)rng_below(rng, bank->views - 1);
    } else if (bank->views > 1) {
        state.view = (int64_t)rng_below(rng, bank->views);
    } else {
        state.view = bank->view[id].view;
        state.epoch = bank->view[id].epoch;
    }
    return state;
}

/* beta e_i.e_j, finite; -INFINITY if e_j was never written. */
static double
score_state(double beta, const struct sample_bank *bank, const float *query,
            struct sample_state j)
{
    const float *row = row_of(bank, j);

    return row ? beta * num_dot(bank->dim, query, row) : -INFINITY;
}

/* Moves one chain and writes its score after each move to trace [moves].
 * Returns the number of accepted moves. */
static size_t
walk_chain(const struct sample_walk_settings *how,
           const struct sample_bank *bank, double beta, struct sample_state own,
           struct rng *rng, struct sample_state *state, double *trace)
{
    const float *query = row_of(bank, own);
    double at = -INFINITY;
    size_t accepted = 0;

    if (state->id >= 0 && state->id != own.id)
        at = score_state(beta, bank, query, *state);
    for (size_t m = 0; m < how->moves; m++) {
        const int64_t j = (int64_t)rng_below(rng, bank->size - 1);
        const double luck = -log(1 - rng_unit(rng));
        const struct sample_state next = // of any other sample, uniform
            choose_view(how->cross, bank, rng, j + (j >= own.id), own.view);
        const double to = score_state(beta, bank, query, next);

        if (to + luck > at) {
            *state = next;
            at = to;
            accepted++;
        }
        trace[m] = at;
    }
    return accepted;
}

struct sample_walk
sample_walk(const struct sample_walk_settings *how,
            const struct sample_bank *bank, const struct batch *step,
            struct sample_state *state, struct arena *scratch)
{
    const size_t n = step->v * step->b;
    double *trace = arena_take(scratch, how->moves, sizeof *trace);
    double effective = 0;
    size_t accepted = 0, able = 0;

    REQUIRE(step->beta >= 0 && isfinite(step->beta));
    REQUIRE(how->moves >= 1 && bank->size >= 2);
    REQUIRE(!how->cross || bank->views > 1);
    for (size_t row = 0; row < n; row++) {
        const struct sample_state own = sample_step_state(step, row);
        struct rng rng;

        if (!row_of(bank, own))
            continue;
        rng_init(&rng, how->seed, RNG_WALK, (uint64_t)step->step,
                 (uint64_t)step->epoch, row);
        accepted +=
            walk_chain(how, bank, step->beta, own, &rng, state + row, trace);
        if (trace[0] > -INFINITY) {
            effective += sample_ess(how->moves, trace);
            able++;
        }
    }
    return (struct sample_walk){
        .accepted = n ? (double)accepted / ((double)n * (double)how->moves) : 0,
        .effective = able ? effective / (double)able : 0,
    };
}
