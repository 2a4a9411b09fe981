#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/clock.h"
#include "util/mem.h"

#include "passes.h"

enum { PIECE = 1 << 19 }; // smallest number of floats of a gradient to send

/* ------------------------------------------------- which rows a rank computes
 */

size_t
train_shards_most(size_t rows, size_t shards)
{
    const size_t each = (rows + shards - 1) / shards;

    return each > 1 || rows == 1 ? each : 2; // as of 3 rows by 4 shards
}

size_t
train_shards_count(const struct train_shards *s, size_t n)
{
    size_t count = s->shards;

    while (count > n)
        count /= 2;
    return count;
}

/* The number of ranks that have shards of n rows. */
static size_t
count_busy(const struct train_shards *s, size_t n)
{
    const size_t count = train_shards_count(s, n);

    return count < s->ranks.size ? count : s->ranks.size;
}

/* The first shard of a rank; for the number of ranks, that of shards. */
static size_t
first_shard(const struct train_shards *s, size_t n, size_t rank)
{
    const size_t busy = count_busy(s, n);

    return train_shards_count(s, n) * (rank < busy ? rank : busy) / busy;
}

/* The first row of a shard. */
static size_t
first_row(const struct train_shards *s, size_t n, size_t shard)
{
    return n * shard / train_shards_count(s, n);
}

/* The same, counted from the first row of this rank. */
static size_t
own_row(const struct train_shards *s, size_t shard)
{
    return first_row(s, s->n, shard) -
           first_row(s, s->n, first_shard(s, s->n, s->ranks.rank));
}

/* The first byte of each rank, from[ranks + 1], for rows of that many bytes. */
static void
cut_rows(const struct train_shards *s, size_t n, size_t bytes, size_t *from)
{
    for (size_t r = 0; r <= s->ranks.size; r++)
        from[r] = first_row(s, n, first_shard(s, n, r)) * bytes;
}

/* --------------------------------------------------- data sent between ranks
 */

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
    cut_rows(s, s->n, 1, from);
    for (size_t r = 0; r <= s->ranks.size; r++)
        from[r] = offsets[from[r]] * sizeof(int32_t);
}

void
train_share_set_input(struct train_shards *s)
{
    const size_t first =
        first_row(s, s->n, first_shard(s, s->n, s->ranks.rank));

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

/* Sends the rows of rank 0's batch, [s->n], to their ranks. */
static void
share_rows(struct train_shards *s)
{
    const struct nn_input *input = &s->native->input;
    const enum nn_input_kind kind = nn_net_kind(s->native->net);
    size_t from[TRAIN_SHARDS_MOST + 1];
    const void *all = NULL;

    if (kind == NN_TOKENS)
        cut_tokens(s, from);
    else
        cut_rows(s, s->n, train_share_bytes(s), from);
    if (!s->ranks.rank)
        all = kind == NN_IMAGES ? (const void *)input->images
              : kind == NN_ROWS ? (const void *)input->rows
              : kind == NN_IDS  ? (const void *)input->ids
                                : input->ids + input->offsets[0];
    s->ranks.scatter(s->ranks.self, all, from, s->rows);
    if (s->ranks.rank)
        train_share_set_input(s);
}

/* Sends the rows of the next batch, if known, while all ranks compute. */
static void
share_ahead(struct train_shards *s)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    if (!s->n_next)
        return;
    cut_rows(s, s->n_next, train_share_bytes(s), from);
    ranks_send_begin(&s->ahead, &s->ranks, RANKS_SEND + s->number,
                     s->next.images, from, s->next_rows);
}

void
train_share_dz(struct train_shards *s, const float *dz)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    cut_rows(s, s->n, s->dim * sizeof *dz, from);
    if (s->ranks.size > 1)
        s->ranks.scatter(s->ranks.self, dz, from, s->dz);
}

/* Sends the batch statistics of each shard to rank 0. */
static void
share_statistics(struct train_shards *s)
{
    const size_t bytes = s->statistics * sizeof *s->batch_statistics;
    size_t from[TRAIN_SHARDS_MOST + 1];

    for (size_t r = 0; r <= s->ranks.size; r++)
        from[r] = first_shard(s, s->n, r) * bytes;
    s->ranks.gather(s->ranks.self,
                    s->batch_statistics +
                        first_shard(s, s->n, s->ranks.rank) * s->statistics,
                    from, s->batch_statistics);
}

/* A clock without the time of waiting for other ranks. */
static double
own_clock(const struct ranks *ranks)
{
    return clock_now() - (ranks->seconds ? *ranks->seconds : 0);
}

/* ------------------------------------------------------- forward and backward
 */

static void
encode_shard(struct train_shards *s, size_t i, enum nn_mode mode, float *z)
{
    struct err none;

    s->plain->forward(s->native, own_row(s, i), own_row(s, i + 1),
                      mode == NN_TRAIN ? NN_ENCODE : mode, z, &none);
}

/* The ranks that have shards. */
static struct ranks
busy_ranks(const struct train_shards *s)
{
    struct ranks busy = s->ranks;

    busy.size = count_busy(s, s->n);
    return busy;
}

static void
add_sums(void *self, double *x, size_t n)
{
    const struct train_shards *s = self;
    const struct ranks busy = busy_ranks(s);

    ranks_add(&busy, x, n, s->others);
}

/* Encodes all shards of this rank in one pass. */
static void
encode_together(struct train_shards *s, enum nn_mode mode, float *z)
{
    const struct train_native *e = s->native;
    const size_t first = first_shard(s, s->n, s->ranks.rank),
                 n = first_shard(s, s->n, s->ranks.rank + 1) - first;
    struct nn_input *part = mem_array(n, sizeof *part);

    for (size_t i = 0; i < n; i++)
        part[i] =
            nn_input_slice(&e->input, nn_net_kind(e->net), e->image,
                           own_row(s, first + i), own_row(s, first + i + 1));
    if (n)
        nn_net_forward_parts(
            e->net, mode,
            &(struct nn_parts){
                .n = n, .part = part, .rows = s->n, .add = add_sums, .self = s},
            z);
    free(part);
}

int
train_pass_sends_statistics(const struct train_shards *s, enum nn_mode mode)
{
    return mode == NN_TRAIN && s->native->optim && s->statistics && !s->whole;
}

static void
encode_apart(struct train_shards *s, enum nn_mode mode, float *z)
{
    const size_t to = first_shard(s, s->n, s->ranks.rank + 1),
                 each = s->statistics;

    for (size_t i = first_shard(s, s->n, s->ranks.rank); i < to; i++) {
        encode_shard(s, i, mode, z + own_row(s, i) * s->dim);
        if (train_pass_sends_statistics(s, mode))
            memcpy(s->batch_statistics + i * each,
                   nn_net_batch_statistics(s->native->net),
                   each * sizeof *s->batch_statistics);
    }
}

void
train_pass_forward(struct train_shards *s, enum nn_mode mode, int sent_ahead,
                   float *z)
{
    const size_t rank = s->ranks.rank, size = s->ranks.size,
                 length = sizeof s->computing;
    size_t from[TRAIN_SHARDS_MOST + 1], at[TRAIN_SHARDS_MOST + 1];

    if (s->ranks.size > 1 && !sent_ahead)
        share_rows(s);
    s->started = own_clock(&s->ranks);
    if (s->whole && mode != NN_FIXED)
        encode_together(s, mode, z);
    else
        encode_apart(s, mode, z);
    s->computing += own_clock(&s->ranks) - s->started;
    if (s->ranks.size == 1)
        return;
    // sends the embeddings of each rank to rank 0, with its seconds after them
    cut_rows(s, s->n, s->dim * sizeof *z, from);
    for (size_t r = 0; r <= size; r++)
        at[r] = from[r] + r * length;
    if (rank)
        memcpy((char *)z + (from[rank + 1] - from[rank]), &s->computing,
               length);
    else
        s->seconds[0] += s->computing;
    s->ranks.gather(s->ranks.self, z, at, s->received);
    for (size_t r = 1; !rank && r < size; r++) {
        const size_t bytes = from[r + 1] - from[r];
        double took;

        memcpy((char *)z + from[r], s->received + at[r], bytes);
        memcpy(&took, s->received + at[r] + bytes, sizeof took);
        s->seconds[r] += took;
    }
    s->computing = 0;
    if (train_pass_sends_statistics(s, mode))
        share_statistics(s);
}

static float *
sum_at(struct train_shards *s, size_t level)
{
    REQUIRE(level < TRAIN_SHARDS_LEVELS);
    if (!s->sums[level])
        s->sums[level] = mem_aligned(s->params, sizeof(float));
    return s->sums[level];
}

/* Sums the gradients of shards [from,to), a power of two of them, by the tree.
 * The activations of the last shard of the rank are still in the net. */
static void
add_gradients(struct train_shards *s, size_t from, size_t to, size_t level,
              const float *dz)
{
    float *grads = nn_net_grads(s->native->net);

    if (to - from == 1) {
        if (to < first_shard(s, s->n, s->ranks.rank + 1))
            encode_shard(s, from, NN_TRAIN, NULL);
        nn_net_backward(s->native->net, dz + own_row(s, from) * s->dim, 0);
        return;
    }
    add_gradients(s, (from + to) / 2, to, level + 1, dz);
    memcpy(sum_at(s, level), grads, s->params * sizeof *grads);
    add_gradients(s, from, (from + to) / 2, level + 1, dz);
    num_axpy(s->params, 1, s->sums[level], grads);
}

/* Called after each operator of a backward pass.  To a piece that the pass of
 * the first shard has completed, adds the sums of the other shards in the
 * tree's order, then sends it to other ranks. */
static void
on_operator(void *self, size_t from)
{
    struct train_shards *s = self;
    float *grads = nn_net_grads(s->native->net) + from;

    if (s->last &&
        (s->sent_from - from >= s->piece || (!from && s->sent_from))) {
        for (size_t level = s->levels; level-- > 0;)
            num_axpy(s->sent_from - from, 1, s->sums[level] + from, grads);
        if (s->busy.size > 1)
            ranks_pieces_begin(&s->pieces, grads, s->sent_from - from);
        s->sent_from = from;
    }
    ranks_pieces_progress(&s->pieces);
    ranks_send_progress(&s->ahead);
}

/* Computes the gradient of all shards of this rank and sends it by pieces. */
static void
sum_shards(struct train_shards *s, const float *dz)
{
    const size_t first = first_shard(s, s->n, s->ranks.rank);
    size_t end = first_shard(s, s->n, s->ranks.rank + 1);

    s->last = s->whole;
    s->levels = 0;
    s->sent_from = s->params;
    s->piece = s->params / (RANKS_PIECES - 1) + 1;
    if (s->piece < PIECE)
        s->piece = PIECE;
    ranks_pieces_init(&s->pieces, &s->busy, s->work);
    nn_net_watch(s->native->net, on_operator, s);
    if (s->whole) {
        nn_net_backward_parts(s->native->net, dz);
    } else {
        // all but the first: the right half, that of the left half, and so on
        for (; end - first > 1; s->levels++) {
            const size_t middle = (first + end) / 2;

            add_gradients(s, middle, end, s->levels + 1, dz);
            memcpy(sum_at(s, s->levels), nn_net_grads(s->native->net),
                   s->params * sizeof *dz);
            end = middle;
        }
        s->last = 1;
        add_gradients(s, first, first + 1, 0, dz);
    }
    nn_net_watch(s->native->net, NULL, NULL);
    REQUIRE(!s->sent_from);
    ranks_pieces_end(&s->pieces);
}

void
train_pass_backward(struct train_shards *s, const float *dz)
{
    float *grads = nn_net_grads(s->native->net);

    s->started = own_clock(&s->ranks);
    share_ahead(s);
    s->busy = busy_ranks(s);
    if (s->ranks.rank < s->busy.size)
        sum_shards(s, dz);
    if (s->busy.size < s->ranks.size)
        s->ranks.bcast(s->ranks.self, grads, s->params * sizeof *grads);
    ranks_send_end(&s->ahead);
    s->computing += own_clock(&s->ranks) - s->started;
}
