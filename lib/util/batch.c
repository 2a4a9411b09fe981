#include "util/batch.h"

size_t
batch_captions_size(const struct batch *batch)
{
    return 2 * (batch->b + batch->extra.n_texts);
}

void
batch_captions(struct batch *batch, int64_t *memory)
{
    const size_t b = batch->b, s = batch->extra.n_texts;
    int64_t *ids = memory + 2 * b, *view = ids + s;

    for (size_t i = 0; i < b; i++) {
        memory[i] = 0;
        memory[b + i] = 1 + batch->captions[i];
    }
    for (size_t i = 0; i < s; i++) {
        ids[i] = batch->extra.texts[2 * i];
        view[i] = 1 + batch->extra.texts[2 * i + 1];
    }
    batch->v = 2;
    batch->fixed = 1 + batch->most_captions;
    batch->view_of = memory;
    batch->extra.n = s;
    batch->extra.ids = ids;
    batch->extra.view = view;
}

void
batch_captions_undo(struct batch *batch)
{
    batch->fixed = 0;
    batch->view_of = NULL;
    batch->extra.n = 0;
    batch->extra.ids = batch->extra.view = NULL;
    batch->extra.z = NULL;
}
