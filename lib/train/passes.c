#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "util/mem.h"

#include "passes.h"

enum { PIECE = 1 << 19 }; // smallest number of floats of a gradient to send

/* The first row of a shard, counted from the first row of this rank. */
static size_t
own_row(const struct train_shards *s, size_t shard)
{
    return train_shards_row(s, shard) -
           train_shards_row(s, train_shards_first(s, s->ranks.rank));
}

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

    busy.size = train_cut_busy(&s->cut, s->n);
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
    const size_t first = train_shards_first(s, s->ranks.rank),
                 n = train_shards_first(s, s->ranks.rank + 1) - first;
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
    const size_t to = train_shards_first(s, s->ranks.rank + 1),
                 each = s->statistics;

    for (size_t i = train_shards_first(s, s->ranks.rank); i < to; i++) {
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
    size_t from[TRAIN_SHARDS_MOST + 1];

    if (s->ranks.size > 1 && !sent_ahead)
        train_share_rows(s);
    train_timer_start(&s->timer);
    if (s->whole && mode != NN_FIXED)
        encode_together(s, mode, z);
    else
        encode_apart(s, mode, z);
    train_timer_stop(&s->timer);
    if (s->ranks.size == 1)
        return;
    train_cut_rows(&s->cut, s->n, s->dim * sizeof *z, from);
    train_timer_gather(&s->timer, from, z);
    if (train_pass_sends_statistics(s, mode))
        train_share_statistics(s);
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
        if (to < train_shards_first(s, s->ranks.rank + 1))
            encode_shard(s, from, NN_TRAIN, NULL);
        nn_net_backward(s->native->net, dz + own_row(s, from) * s->dim, 0);
        return;
    }
    add_gradients(s, (from + to) / 2, to, level + 1, dz);
    memcpy(sum_at(s, level), grads, s->params * sizeof *grads);
    add_gradients(s, from, (from + to) / 2, level + 1, dz);
    num_axpy(s->params, 1, s->sums[level], grads);
}

/* Handles a piece that the pass of the first shard has completed: adds the sums
 * of the other shards in the tree's order, then sends it to other ranks. */
static void
send_piece(struct train_shards *s, size_t from)
{
    float *grads = nn_net_grads(s->native->net) + from;

    for (size_t level = s->levels; level-- > 0;)
        num_axpy(s->sent_from - from, 1, s->sums[level] + from, grads);
    if (s->busy.size > 1)
        ranks_pieces_begin(&s->pieces, grads, s->sent_from - from);
    s->sent_from = from;
}

/* Called after each operator of a backward pass. */
static void
on_operator(void *self, size_t from)
{
    struct train_shards *s = self;

    if (s->last && (s->sent_from - from >= s->piece || (!from && s->sent_from)))
        send_piece(s, from);
    ranks_pieces_progress(&s->pieces);
    ranks_send_progress(&s->ahead);
}

/* Sums all shards except the first: the right half, the right half of the left
 * half, and so on. */
static void
add_others(struct train_shards *s, size_t first, size_t end, const float *dz)
{
    const float *grads = nn_net_grads(s->native->net);

    for (s->levels = 0; end - first > 1; s->levels++) {
        const size_t middle = (first + end) / 2;

        add_gradients(s, middle, end, s->levels + 1, dz);
        memcpy(sum_at(s, s->levels), grads, s->params * sizeof *grads);
        end = middle;
    }
}

/* Computes the gradient of all shards of this rank and sends it by pieces. */
static void
sum_shards(struct train_shards *s, const float *dz)
{
    const size_t first = train_shards_first(s, s->ranks.rank),
                 end = train_shards_first(s, s->ranks.rank + 1);

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
        add_others(s, first, end, dz);
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

    train_timer_start(&s->timer);
    train_share_ahead(s);
    s->busy = busy_ranks(s);
    if (s->ranks.rank < s->busy.size)
        sum_shards(s, dz);
    if (s->busy.size < s->ranks.size)
        s->ranks.bcast(s->ranks.self, grads, s->params * sizeof *grads);
    ranks_send_end(&s->ahead);
    train_timer_stop(&s->timer);
}
