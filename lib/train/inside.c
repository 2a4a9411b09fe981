#include "train/negatives.h"

void
train_inside_init(struct train_inside *inside, struct train_samples *samples,
                  enum sample_scores scores, enum sample_elsewhere elsewhere,
                  uint64_t seed)
{
    const struct sample_how how = {
        .proposals =
            samples->objective->wants_cross ? SAMPLE_CROSS : SAMPLE_ONCE,
        .scores = scores,
        .elsewhere = elsewhere,
        .burn = -1,
        .horizon = 1,
        .seed = seed,
    };

    *inside = (struct train_inside){.samples = samples, .behind = 1};
    sample_source_init(&inside->source, &how, samples->size);
}

void
train_inside_release(struct train_inside *inside)
{
    sample_source_release(&inside->source);
}

/* Gives the source what was kept of it. */
static int
give_state(struct train_inside *inside, struct err *err)
{
    const struct train_samples *samples = inside->samples;
    const int64_t total = samples->state->total;

    if (samples->store.n)
        return sample_source_load(&inside->source, &samples->store, total, err);
    sample_source_begin(&inside->source, total);
    return 0;
}

static int
weigh(void *self, const struct sample_step *step,
      struct sample_weights *weights, int *alone, struct err *err)
{
    struct train_inside *inside = self;

    *alone = 0;
    if (inside->behind && give_state(inside, err))
        return -1;
    inside->behind = 0;
    if (sample_source_weigh(&inside->source, step, weights, err) ||
        sample_store_judge(&inside->samples->store, weights->n_tables,
                           weights->tables, err))
        return -1;
    return 1;
}

/* The chains have moved, what was kept of them has not. */
static void
refused(void *self)
{
    struct train_inside *inside = self;

    inside->behind = 1;
}

struct train_negatives
train_inside_negatives(struct train_inside *inside)
{
    return (struct train_negatives){inside, weigh, refused};
}
