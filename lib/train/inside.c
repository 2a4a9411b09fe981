#include "train/negatives.h"

void
train_inside_init(struct train_inside *inside, struct train_samples *samples,
                  const struct sample_how *how, int brings)
{
    struct sample_how own = *how;

    sample_how_set(&own, "horizon", 1); // nothing is under way
    *inside = (struct train_inside){
        .samples = samples, .brings = brings, .behind = 1};
    sample_source_init(&inside->source, &own, samples->size);
}

void
train_inside_release(struct train_inside *inside)
{
    sample_source_release(&inside->source);
}

/* Gives the source what was kept of it, where it has not gone on from there. */
static int
reload_source(struct train_inside *inside, struct err *err)
{
    const struct train_samples *samples = inside->samples;
    const int64_t total = samples->state->total;

    if (!inside->behind)
        return 0;
    if (!samples->store.n)
        sample_source_begin(&inside->source, total);
    else if (sample_source_load(&inside->source, &samples->store, total, err))
        return -1;
    inside->behind = 0;
    return 0;
}

static int
inside_draw(void *self, const struct batch *step, struct batch_extra *extras,
            struct err *err)
{
    struct train_inside *inside = self;

    if (reload_source(inside, err))
        return -1;
    *extras = sample_source_draw(&inside->source, step,
                                 inside->samples->state->total);
    return 0;
}

static int
inside_weigh(void *self, const struct batch *step, struct weights *weights,
             int *alone, struct err *err)
{
    struct train_inside *inside = self;

    *alone = 0;
    if (reload_source(inside, err) ||
        sample_source_weigh(&inside->source, step, weights, err) ||
        sample_store_judge(&inside->samples->store, weights->n_tables,
                           weights->tables, err))
        return -1;
    return 1;
}

/* The chains have moved, what was kept of them has not. */
static void
inside_refused(void *self)
{
    struct train_inside *inside = self;

    inside->behind = 1;
}

struct train_negatives
train_inside_negatives(struct train_inside *inside)
{
    return (struct train_negatives){.self = inside,
                                    .draw = inside->brings ? inside_draw : NULL,
                                    .weigh = inside_weigh,
                                    .refused = inside_refused};
}
