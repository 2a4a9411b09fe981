#include "train/negatives.h"

void
train_local_sampler_init(struct train_local_sampler *local,
                         struct train_samples *samples,
                         const struct sample_settings *how, int draws_outside)
{
    struct sample_settings own = *how;

    sample_settings_set(&own, "horizon", 1); // no step is in progress
    *local = (struct train_local_sampler){
        .samples = samples, .draws_outside = draws_outside, .needs_load = 1};
    sample_source_init(&local->source, &own, samples->size);
}

void
train_local_sampler_release(struct train_local_sampler *local)
{
    sample_source_release(&local->source);
}

/* Loads the stored state into the source, unless the source is up to date. */
static int
reload_source(struct train_local_sampler *local, struct err *err)
{
    const struct train_samples *samples = local->samples;
    const int64_t total = samples->state->total;

    if (!local->needs_load)
        return 0;
    if (!samples->store.n)
        sample_source_begin(&local->source, total);
    else if (sample_source_load(&local->source, &samples->store, total, err))
        return -1;
    local->needs_load = 0;
    return 0;
}

static int
local_draw(void *self, const struct batch *step, struct batch_extra *extras,
           struct err *err)
{
    struct train_local_sampler *local = self;

    if (reload_source(local, err))
        return -1;
    *extras =
        sample_source_draw(&local->source, step, local->samples->state->total);
    return 0;
}

static int
local_weigh(void *self, const struct batch *step, struct weights *weights,
            int *without_service, struct err *err)
{
    struct train_local_sampler *local = self;

    *without_service = 0;
    if (reload_source(local, err) ||
        sample_source_weigh(&local->source, step, weights, err) ||
        sample_store_check(&local->samples->store, weights->n_tables,
                           weights->tables, err))
        return -1;
    return 1;
}

/* The chains have advanced, but the stored state has not. */
static void
local_undo(void *self)
{
    struct train_local_sampler *local = self;

    local->needs_load = 1;
}

struct train_negatives
train_local_sampler_negatives(struct train_local_sampler *local)
{
    return (struct train_negatives){.self = local,
                                    .draw = local->draws_outside ? local_draw
                                                                 : NULL,
                                    .weigh = local_weigh,
                                    .undo = local_undo};
}
