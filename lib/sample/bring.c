#include <stdlib.h>

#include "bring.h"
#include "exact.h"
#include "walk.h"

int
sample_state_order(const void *a, const void *b)
{
    const struct sample_state *x = a, *y = b;

    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->view != y->view)
        return x->view < y->view ? -1 : 1;
    return (x->epoch > y->epoch) - (x->epoch < y->epoch);
}

size_t
sample_outside(const struct sample_batch *batch, size_t wanted,
               struct sample_state *want, struct sample_state *own)
{
    const size_t n = batch->v * batch->b;
    size_t kept = 0;

    for (size_t r = 0; r < n; r++)
        own[r] = sample_batch_state(batch, r);
    qsort(own, n, sizeof *own, sample_state_order);
    qsort(want, wanted, sizeof *want, sample_state_order);
    for (size_t k = 0; k < wanted; k++)
        if ((!kept || sample_state_order(&want[k], &want[kept - 1])) &&
            !bsearch(&want[k], own, n, sizeof *own, sample_state_order))
            want[kept++] = want[k];
    return kept;
}

struct sample_bag
sample_bag_init(struct sample_source *source, size_t most,
                struct sample_extras *extras)
{
    struct arena *to = &source->drawn;
    const struct sample_bag bag = {
        .extras = extras,
        .id = arena_take(to, most, sizeof *bag.id),
        .view = arena_take(to, most, sizeof *bag.view),
        .epoch = arena_take(to, most, sizeof *bag.epoch),
        .row = arena_take(to, most, sizeof *bag.row),
        .state_view = arena_take(to, most, sizeof *bag.state_view),
        .log_q = arena_take(to, most, sizeof *bag.log_q),
    };

    extras->most = most;
    extras->ids = bag.id;
    extras->view = bag.view;
    return bag;
}

size_t
sample_bag_add(struct sample_bag *bag, struct sample_state state, int32_t row)
{
    const size_t at = bag->extras->n++;

    REQUIRE(at < bag->extras->most);
    bag->id[at] = state.id;
    bag->view[at] = state.view;
    bag->epoch[at] = state.epoch;
    bag->row[at] = row;
    bag->state_view[at] = -1;
    bag->log_q[at] = 0;
    return at;
}

void
sample_bag_add_outside(struct sample_bag *bag, struct sample_source *source,
                       const struct sample_batch *batch, size_t wanted,
                       struct sample_state *want)
{
    struct sample_state *own =
        arena_take(&source->drawn, batch->v * batch->b, sizeof *own);

    wanted = sample_outside(batch, wanted, want, own);
    for (size_t k = 0; k < wanted; k++)
        sample_bag_add(bag, want[k], -1);
}

double
sample_beta_then(const struct sample_source *source, int64_t number)
{
    const struct sample_memory *memory = &source->memory;

    return sample_memory_beta(memory, number - (int64_t)memory->form.horizon);
}

/* Where the chains of a batch stand: [v b].  Chains of other views stand
 * nowhere: the weighing will refuse them. */
static struct sample_state *
find_states(struct sample_source *source, const struct sample_step *step)
{
    const struct sample_chains *chains = &source->memory.chains;
    const size_t n = step->v * step->b;
    struct sample_state *state = arena_take(&source->drawn, n, sizeof *state);

    for (size_t r = 0; r < n; r++)
        state[r] = (struct sample_state){-1, -1, 0};
    if (chains->state && chains->views == sample_step_views(step))
        sample_chains_get(chains, step->v, step->b, step->ids, step->variants,
                          state, NULL);
    return state;
}

/* 1 where a state is exact's and of an image outside of the batch, which comes
 * with a second view: *second. */
static int
has_second(const struct sample_source *source, const struct sample_step *step,
           size_t r, struct sample_state state, struct sample_state *second)
{
    size_t i = 0;

    if (source->how.sampler->kernel != SAMPLE_EXACT)
        return 0;
    while (i < step->b && step->ids[i] != state.id)
        i++;
    if (i < step->b)
        return 0;
    *second = sample_exact_other(source->how.seed, step->epoch, step->step, r,
                                 state, step->fixed);
    return 1;
}

/* How many states there are with second views, at most. */
static size_t
most_states(const struct sample_source *source, const struct sample_step *step)
{
    const int exact = source->how.sampler->kernel == SAMPLE_EXACT;

    return step->v * step->b * (exact ? 2 : 1);
}

void
sample_bring_states(struct sample_source *source,
                    const struct sample_step *step,
                    struct sample_extras *extras)
{
    const struct sample_batch batch = {
        .v = step->v,
        .b = step->b,
        .epoch = step->fixed ? 0 : (int64_t)step->epoch,
        .ids = step->ids,
        .variants = step->variants};
    const size_t most = most_states(source, step);
    struct sample_bag bag = sample_bag_init(source, most, extras);
    const struct sample_state *state = find_states(source, step);
    struct sample_state *want = arena_take(&source->drawn, most, sizeof *want);
    size_t wanted = 0;

    for (size_t r = 0; r < step->v * step->b; r++) {
        if (state[r].id < 0)
            continue;
        want[wanted++] = state[r];
        wanted += (size_t)has_second(source, step, r, state[r], want + wanted);
    }
    sample_bag_add_outside(&bag, source, &batch, wanted, want);
    extras->epoch = step->fixed ? NULL : bag.epoch;
}

void
sample_bring_texts(struct sample_source *source, const struct sample_step *step,
                   struct sample_extras *extras)
{
    const struct sample_chains *chains = &source->memory.chains;
    const struct sample_batch none = {.v = step->v, .ids = step->ids};
    struct sample_bag bag = sample_bag_init(source, step->b, extras);
    struct sample_state *want =
        arena_take(&source->drawn, step->b, sizeof *want);
    size_t wanted = 0;

    extras->texts = 1;
    for (size_t i = 0; chains->state && i < step->b; i++) {
        const int64_t *id = step->ids + i;

        want[wanted] =
            chains->state[sample_chains_place(chains, 1, id, NULL, 0)];
        wanted += want[wanted].id >= 0 && want[wanted].view > 0;
    }
    sample_bag_add_outside(&bag, source, &none, wanted, want);
}

/* The chains of a step walk on the bank as it was. */
static struct sample_walk
walk_chains(struct sample_source *source, const struct sample_step *step,
            int64_t number, struct sample_state *state)
{
    const size_t n = step->v * step->b;
    const struct sample_walk_how how = {
        .beta = sample_beta_then(source, number),
        .moves = (size_t)sample_how_value(&source->how, "moves"),
        .views = sample_step_views(step),
        .seed = source->how.seed,
        .epoch = step->epoch,
        .step = step->step,
    };
    int64_t *ids = arena_take(&source->drawn, n, sizeof *ids);

    for (size_t r = 0; r < n; r++)
        ids[r] = step->ids[r % step->b];
    return source->ahead.rows ? sample_walk(&how, &source->ahead, n, ids,
                                            step->variants, state)
                              : (struct sample_walk){0};
}

void
sample_bring_walked(struct sample_source *source,
                    const struct sample_step *step, int64_t number,
                    struct sample_extras *extras)
{
    struct sample_bag bag =
        sample_bag_init(source, most_states(source, step), extras);
    struct sample_state *state = find_states(source, step), second;
    const struct sample_walk went = walk_chains(source, step, number, state);

    for (size_t r = 0; r < step->v * step->b; r++) {
        size_t at;

        if (state[r].id < 0)
            continue;
        at = sample_bag_add(&bag, state[r], (int32_t)r);
        bag.state_view[at] = (int32_t)state[r].view;
        if (has_second(source, step, r, state[r], &second))
            sample_bag_add(&bag, second, -1);
    }
    extras->epoch = step->fixed ? NULL : bag.epoch;
    extras->hints.row = bag.row;
    extras->hints.view = bag.state_view;
    if (!extras->n)
        return;
    extras->n_values = 2;
    extras->values[0] = (struct sample_value){"walk_accepted", went.accepted};
    extras->values[1] = (struct sample_value){"walk_ess", went.effective};
}
