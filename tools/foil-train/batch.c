#include "train.h"

void
train_batch_of(const struct wire_batch *b, struct train_batch *batch)
{
    *batch = (struct train_batch){
        .epoch = b->at.epoch,
        .step = b->at.step,
        .steps = b->steps,
        .epochs = b->epochs,
        .encode_only = b->encode_only,
        .n = b->n,
        .ids = b->ids,
        .views = b->views,
        .fixed = b->variants.augmentations,
        .view_of = b->variants.variant,
        .n_extra = b->n_extra,
        .extra_ids = b->extra_ids,
        .extra = b->extra,
        .extra_view = b->of_extra.view,
        .extra_epoch = b->of_extra.epoch,
        .hints = {b->of_extra.hint_row, b->of_extra.hint_view,
                  b->of_extra.hint_log_q},
        .n_substituted = b->n_substituted,
        .substituted = b->substituted,
    };
}

struct wire_place
train_at(const struct train *t)
{
    return (struct wire_place){
        .session = t->session, .epoch = t->state.epoch, .step = t->state.step};
}
