#include "train/negatives.h"

void
train_inside_init(struct train_inside *inside, struct train_samples *samples,
                  enum sample_scores scores, uint64_t seed)
{
    const struct sample_how how = {
        .proposals = SAMPLE_ONCE,
        .scores = scores,
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

static int
weigh(void *self, const struct sample_step *step,
      struct sample_weights *weights, int *alone, struct err *err)
{
    struct train_inside *inside = self;
    struct sample_array array[SAMPLE_MEMORY_ARRAYS];

    *alone = 0;
    if (inside->behind &&
        sample_source_load(&inside->source,
                           sample_memory_list(&inside->samples->memory, array),
                           array, err))
        return -1;
    inside->behind = 0;
    return sample_source_weigh(&inside->source, step, weights, err) ? -1 : 1;
}

/* The chains have moved, the mirror has not. */
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
