#include "passes.h"

void
train_share_state(struct train_shards *s)
{
    const struct ranks *ranks = &s->ranks;
    struct train_native *e = s->native;
    const struct nn_moments m =
        e->optim ? nn_optim_moments(e->optim) : (struct nn_moments){.n = 0};
    size_t n;
    float *block = nn_net_statistics(e->net, &n);

    ranks->bcast(ranks->self, block, n * sizeof *block);
    block = nn_net_params(e->net, &n);
    ranks->bcast(ranks->self, block, n * sizeof *block);
    for (size_t k = 0; k < m.n; k++)
        ranks->bcast(ranks->self, m.block[k], n * sizeof *block);
    if (m.steps)
        ranks->bcast(ranks->self, m.steps, sizeof *m.steps);
    if (m.pending)
        ranks->bcast(ranks->self, m.pending, sizeof *m.pending);
}

/* The first token of each rank; all ranks get all offsets. */
static void
cut_tokens(struct train_shards *s, size_t *from)
{
    const struct nn_input *input = &s->native->input;
    size_t *offsets = s->offsets;

    if (!s->ranks.rank)
        for (size_t i = 0; i <= s->n; i++)
            offsets[i] = input->offsets[i] - input->offsets[0];
    s->ranks.bcast(s->ranks.self, offsets, (s->n + 1) * sizeof *offsets);
    train_cut_rows(&s->cut, s->n, 1, from);
    for (size_t r = 0; r <= s->ranks.size; r++)
        from[r] = offsets[from[r]] * sizeof(int32_t);
}

void
train_share_set_input(struct train_shards *s)
{
    const size_t shard = train_shards_first(s, s->ranks.rank);
    const size_t first = train_shards_row(s, shard);

    s->native->input =
        (struct nn_input){.images = s->rows, .rows = s->rows, .ids = s->rows};
    if (nn_net_kind(s->native->net) != NN_TOKENS)
        return;
    for (size_t i = s->n + 1; i-- > first;)
        s->offsets[i] -= s->offsets[first];
    s->native->input.offsets = s->offsets + first;
}

size_t
train_share_bytes(const struct train_shards *s)
{
    switch (nn_net_kind(s->native->net)) {
    case NN_IMAGES:
        return s->native->image;
    case NN_ROWS:
        return s->native->image * sizeof(float);
    case NN_IDS:
        break;
    case NN_TOKENS:
        return nn_net_context(s->native->net) * sizeof(int32_t);
    }
    return sizeof(int32_t);
}

void
train_share_rows(struct train_shards *s)
{
    const struct nn_input *input = &s->native->input;
    const enum nn_input_kind kind = nn_net_kind(s->native->net);
    size_t from[TRAIN_SHARDS_MOST + 1];
    const void *all = NULL;

    if (kind == NN_TOKENS)
        cut_tokens(s, from);
    else
        train_cut_rows(&s->cut, s->n, train_share_bytes(s), from);
    if (!s->ranks.rank)
        all = kind == NN_IMAGES ? (const void *)input->images
              : kind == NN_ROWS ? (const void *)input->rows
              : kind == NN_IDS  ? (const void *)input->ids
                                : input->ids + input->offsets[0];
    s->ranks.scatter(s->ranks.self, all, from, s->rows);
    if (s->ranks.rank)
        train_share_set_input(s);
}

void
train_share_ahead(struct train_shards *s)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    if (!s->n_next)
        return;
    train_cut_rows(&s->cut, s->n_next, train_share_bytes(s), from);
    ranks_send_begin(&s->ahead, &s->ranks, RANKS_SEND + s->number,
                     s->next.images, from, s->next_rows);
}

void
train_share_dz(struct train_shards *s, const float *dz)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    train_cut_rows(&s->cut, s->n, s->dim * sizeof *dz, from);
    if (s->ranks.size > 1)
        s->ranks.scatter(s->ranks.self, dz, from, s->dz);
}

void
train_share_statistics(struct train_shards *s)
{
    const size_t bytes = s->statistics * sizeof *s->batch_statistics;
    size_t from[TRAIN_SHARDS_MOST + 1];

    for (size_t r = 0; r <= s->ranks.size; r++)
        from[r] = train_shards_first(s, r) * bytes;
    s->ranks.gather(s->ranks.self,
                    s->batch_statistics +
                        train_shards_first(s, s->ranks.rank) * s->statistics,
                    from, s->batch_statistics);
}
