#include <string.h>

#include "process.h"
#include "util/err.h"

size_t
train_slot_bytes(const struct train_slot *s)
{
    switch (s->kind) {
    case NN_TOKENS:
        return (s->rows + 1) * sizeof(int64_t) +
               s->rows * s->context * sizeof(int32_t);
    case NN_IDS:
        return s->rows * sizeof(int32_t);
    default:
        return s->rows * s->image;
    }
}

static void
put_tokens(const struct train_slot *s, const struct nn_input *input, char *to)
{
    int64_t *offset = (int64_t *)(void *)to;
    const size_t first = input->offsets[0];
    const size_t n = input->offsets[input->n] - first;

    REQUIRE(n <= s->rows * s->context);
    for (size_t i = 0; i <= input->n; i++)
        offset[i] = (int64_t)(input->offsets[i] - first);
    memcpy(offset + s->rows + 1, input->ids + first, n * sizeof *input->ids);
}

void
train_slot_put(const struct train_slot *s, const struct nn_input *input,
               char *to)
{
    if (s->kind == NN_TOKENS)
        put_tokens(s, input, to);
    else if (s->kind == NN_IDS)
        memcpy(to, input->ids, input->n * sizeof *input->ids);
    else
        memcpy(to, input->images, input->n * s->image);
}
