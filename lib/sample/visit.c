#include <stdlib.h>
#include <string.h>

#include "num/gemm.h"

#include "visit.h"

size_t
sample_row_of(const struct sample_step *step, size_t e, size_t n)
{
    const int32_t *row = step->hints.row;

    return row && row[e] >= 0 && (size_t)row[e] < n ? (size_t)row[e] : n;
}

struct sample_state *
sample_visit_states(struct sample_source *source,
                    const struct sample_step *step)
{
    const size_t n = step->v * step->b;
    const int scores = source->memory.form.scores;
    struct sample_chains *chains = &source->memory.chains;
    struct sample_state *state = arena_take(&source->weighed, n, sizeof *state);
    float *score =
        scores ? arena_take(&source->weighed, n, sizeof *score) : NULL;

    if (!chains->state)
        sample_chains_init(chains, source->memory.form.size,
                           sample_step_views(step));
    sample_chains_get(chains, step->v, step->b, step->ids, step->variants,
                      state, score);
    source->score = score;
    return state;
}

/* z is copied only where what is besides does not lie behind the anchors. */
const float *
sample_visit_compare(struct sample_source *source,
                     const struct sample_step *step)
{
    const size_t n = step->v * step->b, columns = n + step->extra;
    const size_t d = step->dim;
    float *s = arena_take(&source->weighed, n * columns, sizeof *s), *all;
    const float *z = step->z;

    if (step->extra && step->extra_z != z + n * d) {
        all = arena_take(&source->weighed, columns * d, sizeof *all);
        memcpy(all, z, n * d * sizeof *z);
        memcpy(all + n * d, step->extra_z, step->extra * d * sizeof *z);
        z = all;
    }
    num_gemm_nt(n, columns, d, 1, z, z, 0, s);
    return s;
}

/* How many proposals of a visit are not recorded: half of them where that is
 * not said. */
static size_t
burn_of(const struct sample_how *how, const struct sample_step *step)
{
    const double burn = sample_how_value(how, "burn-in");

    return burn < 0
               ? sample_emc2_length(how->sampler->kernel, step->v, step->b) / 2
               : (size_t)burn;
}

int
sample_visit_check(const struct sample_source *source,
                   const struct sample_step *step, struct err *err)
{
    const struct sample_how *how = &source->how;
    const struct sample_chains *chains = &source->memory.chains;
    const size_t views = sample_step_views(step), burn = burn_of(how, step);
    const size_t length =
        sample_emc2_length(how->sampler->kernel, step->v, step->b);

    if (chains->state && views != chains->views)
        return err_set(err, "%zu views where the chains are for %zu", views,
                       chains->views);
    if (step->fixed && how->sampler->one_chain)
        return err_set(err,
                       "%s has one chain for each image: it is not for fixed "
                       "views",
                       how->sampler->proposals);
    if (burn < length)
        return 0;
    return err_set(err,
                   "a burn-in of %zu leaves nothing to record: a batch of "
                   "%zu images makes %zu proposals",
                   burn, step->b, length);
}

/* The epoch of the views of a batch, as states name it.  Fixed views are of
 * none, and what has a score of its own, or a bank's, is not shown again. */
static int64_t
epoch_of(const struct sample_source *source, const struct sample_step *step)
{
    return step->fixed || source->memory.form.scores ||
                   source->memory.form.recalls
               ? 0
               : (int64_t)step->epoch;
}

void
sample_visit(struct sample_source *source, const struct sample_step *step,
             struct sample_state *state, const float *s,
             struct sample_weights *weights)
{
    const struct sample_how *how = &source->how;
    const size_t n = step->v * step->b, columns = n + step->extra;
    const struct sample_emc2_how visit = {
        .proposals = how->sampler->kernel,
        .scores = (enum sample_scores)sample_how_value(how, "scores"),
        .beta = step->beta,
        .burn = burn_of(how, step),
        .seed = how->seed,
        .epoch = step->epoch,
        .step = step->step,
    };
    const struct sample_batch batch = {
        .v = step->v,
        .b = step->b,
        .extra = step->extra,
        .epoch = epoch_of(source, step),
        .ids = step->ids,
        .variants = step->variants,
        .fixed = step->fixed,
        .extra_ids = step->extra_ids,
        .extra_view = step->extra_view,
        .extra_epoch = step->extra_epoch,
        .s = s,
    };
    float *w = arena_take(&source->weighed, n * columns, sizeof *w);
    const struct sample_moves moves =
        how->sampler->move(&visit, &batch, state, source->score, w);

    source->state = state;
    weights->columns = columns;
    weights->w = w;
    weights->s = s;
    weights->accepted = moves.accepted;
    weights->moved = moves.moved;
    weights->partial = source->score != NULL;
    sample_weights_value(weights, "cold", (double)moves.cold / (double)n);
}
