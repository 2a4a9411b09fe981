#include <stdlib.h>
#include <string.h>

#include "num/vec.h"
#include "train/native.h"
#include "train/shards.h"
#include "util/digest.h"
#include "util/mem.h"

#include "cut.h"
#include "timer.h"

enum {
    LEVELS = 10,     // of the tree over the shards of a rank
    PIECE = 1 << 19, // floats of a gradient that go at once, at least
};

/* What cuts the batches of a native encoder.  A rank counts its rows from its
 * first one. */
struct train_shards {
    struct train_native *native;
    const struct train_encoder_verbs *plain; /* its functions */
    struct train_encoder_verbs verbs;        /* the same, by shards */
    struct ranks ranks;
    struct train_cut cut;
    struct train_timer timer;
    size_t dim, params;
    int number;
    int whole;  /* norms are over all shards, which go side by side */
    size_t n;   /* rows of the batch */
    int spread; /* followers have weights and moments as they are */
    size_t statistics;
    float *moves;        /* [shards,statistics] of the last forward */
    float *sums[LEVELS]; /* [params], of those shards that a level has */
    float *work;         /* of ranks_sum() */
    double *others;      /* of ranks_add() */
    struct ranks busy;   /* of a gradient that goes by pieces .. */
    struct ranks_pieces pieces;
    size_t levels;      /* .. behind the sums of so many levels are added, .. */
    int last;           /* .. in the pass that completes it, .. */
    size_t gone, piece; /* .. from here on it does; at least so much at once */
    struct ranks_send ahead; /* the images of the batch that comes next, */
    size_t n_next;           /* so many rows; 0: unknown */
    struct nn_input next;    /* at rank 0 .. */
    struct digest sent;
    void *next_rows; /* .. and at a follower */
    size_t *offsets; /* of tokens */
    void *rows;      /* of a follower: its rows, z and dz */
    float *z, *dz;
};

/* Orders from SPREAD on are of an encoder. */
enum { SPREAD = TRAIN_ORDER_END + 1, FORWARD, BACKWARD, UPDATE };

struct order {
    int what, number, mode;
    int known; /* FORWARD: these rows were sent ahead */
    size_t n, next;
    double rate;
};

static struct train_shards *
shards_of(void *self)
{
    return ((struct train_native *)self)->shards;
}

int
train_shards_check(size_t shards, size_t ranks, struct err *err)
{
    if (shards & (shards - 1))
        return err_set(err, "--shards %zu is no power of two", shards);
    if (ranks > 1 && (!shards || shards % ranks))
        return err_set(err,
                       "%zu ranks cannot share --shards %zu evenly: want 1, 2, "
                       "4 .. ranks, and no more than shards",
                       ranks, shards);
    return 0;
}

/* ------------------------------------------------------- who has which rows */

static size_t
first_shard(const struct train_shards *s, size_t rank)
{
    return train_cut_first(&s->cut, s->n, rank);
}

static size_t
first_row(const struct train_shards *s, size_t shard)
{
    return train_cut_row(&s->cut, s->n, shard);
}

/* --------------------------------------------------- what ranks say and share
 */

static void
give_order(struct train_shards *s, struct order order)
{
    order.number = s->number;
    if (s->ranks.size > 1)
        s->ranks.order(s->ranks.self, &order, sizeof order);
}

/* The state of rank 0 for all. */
static void
spread_state(struct train_shards *s)
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

/* Where the tokens of each rank begin; all get to know those of all. */
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

/* Rows of a follower as the net takes them. */
static void
take_rows(struct train_shards *s)
{
    const size_t shard = first_shard(s, s->ranks.rank);
    const size_t first = first_row(s, shard);

    s->native->input =
        (struct nn_input){.images = s->rows, .rows = s->rows, .ids = s->rows};
    if (nn_net_kind(s->native->net) != NN_TOKENS)
        return;
    for (size_t i = s->n + 1; i-- > first;)
        s->offsets[i] -= s->offsets[first];
    s->native->input.offsets = s->offsets + first;
}

static size_t
row_bytes(const struct train_shards *s)
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
        train_cut_rows(&s->cut, s->n, row_bytes(s), from);
    if (!s->ranks.rank)
        all = kind == NN_IMAGES ? (const void *)input->images
              : kind == NN_ROWS ? (const void *)input->rows
              : kind == NN_IDS  ? (const void *)input->ids
                                : input->ids + input->offsets[0];
    s->ranks.scatter(s->ranks.self, all, from, s->rows);
    if (s->ranks.rank)
        take_rows(s);
}

/* Images of the batch that comes next go while the gradient is computed. */
static void
send_ahead(struct train_shards *s)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    if (!s->n_next)
        return;
    train_cut_rows(&s->cut, s->n_next, row_bytes(s), from);
    ranks_send_begin(&s->ahead, &s->ranks, RANKS_SEND + s->number,
                     s->next.images, from, s->next_rows);
}

/* -------------------------------------------------------------- own shards */

/* Rows of a shard, from the first one of this rank. */
static size_t
own_row(const struct train_shards *s, size_t shard)
{
    return first_row(s, shard) - first_row(s, first_shard(s, s->ranks.rank));
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

/* All own shards, side by side. */
static void
encode_together(struct train_shards *s, enum nn_mode mode, float *z)
{
    const struct train_native *e = s->native;
    const size_t first = first_shard(s, s->ranks.rank),
                 n = first_shard(s, s->ranks.rank + 1) - first;
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

/* What each shard moves goes to rank 0 by itself. */
static int
has_moves(const struct train_shards *s, enum nn_mode mode)
{
    return mode == NN_TRAIN && s->native->optim && s->statistics && !s->whole;
}

static void
encode_apart(struct train_shards *s, enum nn_mode mode, float *z)
{
    const size_t to = first_shard(s, s->ranks.rank + 1), each = s->statistics;

    for (size_t i = first_shard(s, s->ranks.rank); i < to; i++) {
        encode_shard(s, i, mode, z + own_row(s, i) * s->dim);
        if (has_moves(s, mode))
            memcpy(s->moves + i * each, nn_net_moves(s->native->net),
                   each * sizeof *s->moves);
    }
}

static void
gather_moves(struct train_shards *s)
{
    const size_t bytes = s->statistics * sizeof *s->moves;
    size_t from[TRAIN_SHARDS_MOST + 1];

    for (size_t r = 0; r <= s->ranks.size; r++)
        from[r] = first_shard(s, r) * bytes;
    s->ranks.gather(s->ranks.self,
                    s->moves + first_shard(s, s->ranks.rank) * s->statistics,
                    from, s->moves);
}

/* Embeddings of own rows to z, of all at rank 0, which gets what the shards
 * move, too. */
static void
forward_rows(struct train_shards *s, enum nn_mode mode, int known, float *z)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    if (s->ranks.size > 1 && !known)
        share_rows(s);
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
    if (has_moves(s, mode))
        gather_moves(s);
}

static float *
sum_at(struct train_shards *s, size_t level)
{
    REQUIRE(level < LEVELS);
    if (!s->sums[level])
        s->sums[level] = mem_aligned(s->params, sizeof(float));
    return s->sums[level];
}

/* The gradients of shards [from,to), a power of two of them, by the tree.  The
 * last one's values are there still where it goes first. */
static void
add_gradients(struct train_shards *s, size_t from, size_t to, size_t level,
              const float *dz)
{
    float *grads = nn_net_grads(s->native->net);

    if (to - from == 1) {
        if (to < first_shard(s, s->ranks.rank + 1))
            encode_shard(s, from, NN_TRAIN, NULL);
        nn_net_backward(s->native->net, dz + own_row(s, from) * s->dim, 0);
        return;
    }
    add_gradients(s, (from + to) / 2, to, level + 1, dz);
    memcpy(sum_at(s, level), grads, s->params * sizeof *grads);
    add_gradients(s, from, (from + to) / 2, level + 1, dz);
    num_axpy(s->params, 1, s->sums[level], grads);
}

/* A piece that the pass for the first shard has completed: the sums of the
 * others behind it, as the tree has them, then to other ranks. */
static void
pass_piece(struct train_shards *s, size_t from)
{
    float *grads = nn_net_grads(s->native->net) + from;

    for (size_t level = s->levels; level-- > 0;)
        num_axpy(s->gone - from, 1, s->sums[level] + from, grads);
    if (s->busy.size > 1)
        ranks_pieces_begin(&s->pieces, grads, s->gone - from);
    s->gone = from;
}

/* Behind an operator. */
static void
move_on(void *self, size_t from)
{
    struct train_shards *s = self;

    if (s->last && (s->gone - from >= s->piece || (!from && s->gone)))
        pass_piece(s, from);
    ranks_pieces_poke(&s->pieces);
    ranks_send_poke(&s->ahead);
}

/* All shards but the first: the sum of the right half, of that of the left
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

/* The gradient of all own shards, which goes to other ranks while it is made.
 */
static void
sum_shards(struct train_shards *s, const float *dz)
{
    const size_t first = first_shard(s, s->ranks.rank),
                 end = first_shard(s, s->ranks.rank + 1);

    s->last = s->whole;
    s->levels = 0;
    s->gone = s->params;
    s->piece = s->params / (RANKS_PIECES - 1) + 1;
    if (s->piece < PIECE)
        s->piece = PIECE;
    ranks_pieces_init(&s->pieces, &s->busy, s->work);
    nn_net_watch(s->native->net, move_on, s);
    if (s->whole) {
        nn_net_backward_parts(s->native->net, dz);
    } else {
        add_others(s, first, end, dz);
        s->last = 1;
        add_gradients(s, first, first + 1, 0, dz);
    }
    nn_net_watch(s->native->net, NULL, NULL);
    REQUIRE(!s->gone);
    ranks_pieces_end(&s->pieces);
}

/* The gradient of all shards, at all ranks, of dz of the own rows. */
static void
backward_rows(struct train_shards *s, const float *dz)
{
    float *grads = nn_net_grads(s->native->net);

    train_timer_start(&s->timer);
    send_ahead(s);
    s->busy = busy_ranks(s);
    if (s->ranks.rank < s->busy.size)
        sum_shards(s, dz);
    if (s->busy.size < s->ranks.size)
        s->ranks.bcast(s->ranks.self, grads, s->params * sizeof *grads);
    ranks_send_end(&s->ahead);
    train_timer_stop(&s->timer);
}

static void
share_dz(struct train_shards *s, const float *dz)
{
    size_t from[TRAIN_SHARDS_MOST + 1];

    train_cut_rows(&s->cut, s->n, s->dim * sizeof *dz, from);
    if (s->ranks.size > 1)
        s->ranks.scatter(s->ranks.self, dz, from, s->dz);
}

/* ------------------------------------------------------ functions of rank 0 */

static int
shards_take(void *self, const struct nn_input *input, struct err *err)
{
    struct train_shards *s = shards_of(self);

    s->n = input->n;
    if (s->ranks.size > 1 && !s->spread) {
        give_order(s, (struct order){.what = SPREAD});
        spread_state(s);
        s->spread = 1;
    }
    return s->plain->take(self, input, err);
}

/* Before a backward. */
static void
shards_expect(void *self, const struct nn_input *input)
{
    struct train_shards *s = shards_of(self);

    // a locked one has no backward
    if (s->ranks.size == 1 || !s->native->optim ||
        nn_net_kind(s->native->net) != NN_IMAGES)
        return;
    s->next = *input;
    s->n_next = input->n;
    s->sent = digest_bytes(input->images, input->n * row_bytes(s));
}

/* Whether the batch is the one that was expected: a place may have another one
 * since. */
static int
is_sent(const struct train_shards *s)
{
    struct digest now;

    if (!s->n_next || s->n_next != s->n)
        return 0;
    now = digest_bytes(s->native->input.images, s->n * row_bytes(s));
    return !memcmp(&now, &s->sent, sizeof now);
}

static int
shards_forward(void *self, size_t from, size_t to, enum nn_mode mode, float *z,
               struct err *err)
{
    struct train_shards *s = shards_of(self);
    int known;

    (void)err;
    REQUIRE(!from && to == s->n && z);
    known = is_sent(s);
    give_order(s,
               (struct order){
                   .what = FORWARD, .mode = mode, .n = s->n, .known = known});
    forward_rows(s, mode, known, z);
    s->n_next = 0;
    for (size_t i = 0;
         has_moves(s, mode) && i < train_cut_shards(&s->cut, s->n); i++)
        nn_net_move(s->native->net, s->moves + i * s->statistics);
    return 0;
}

static int
shards_backward(void *self, size_t from, size_t to, int add, const float *dz,
                struct err *err)
{
    struct train_shards *s = shards_of(self);

    (void)err;
    REQUIRE(!from && to == s->n && !add);
    give_order(s, (struct order){.what = BACKWARD, .next = s->n_next});
    share_dz(s, dz);
    backward_rows(s, dz);
    return 0;
}

static int
shards_update(void *self, double rate, struct err *err)
{
    struct train_shards *s = shards_of(self);

    give_order(s, (struct order){.what = UPDATE, .rate = rate});
    return s->plain->update(self, rate, err);
}

static int
shards_put(void *self, struct err *err)
{
    shards_of(self)->spread = 0;
    return shards_of(self)->plain->put(self, err);
}

static int
shards_load(void *self, const char *folder, struct err *err)
{
    shards_of(self)->spread = 0;
    return shards_of(self)->plain->load(self, folder, err);
}

static int
shards_init(void *self, const char *path, char **left, struct err *err)
{
    shards_of(self)->spread = 0;
    return shards_of(self)->plain->init(self, path, left, err);
}

static void
shards_close(void *self)
{
    struct train_shards *s = shards_of(self);

    s->plain->close(self);
    for (size_t k = 0; k < LEVELS; k++)
        free(s->sums[k]);
    free(s->moves);
    free(s->work);
    free(s->others);
    free(s->offsets);
    free(s->rows);
    free(s->next_rows);
    free(s->z);
    free(s->dz);
    train_timer_release(&s->timer);
    free(s);
}

/* ------------------------------------------------------------------ opening */

/* What the net of a shard does not have. */
static void
make_room(struct train_shards *s, size_t rows, size_t each)
{
    const size_t own =
        each * ((s->cut.shards + s->ranks.size - 1) / s->ranks.size);

    nn_net_running(s->native->net, &s->statistics);
    nn_net_params(s->native->net, &s->params);
    s->whole &= s->statistics > 0;
    if (s->whole)
        nn_net_reserve(s->native->net, own / each);
    s->moves = mem_array(s->cut.shards * s->statistics, sizeof *s->moves);
    train_timer_init(&s->timer, &s->ranks, rows * s->dim);
    if (s->ranks.size == 1)
        return;
    s->work = mem_array(s->params / 2 + RANKS_PIECES, sizeof *s->work);
    s->others = mem_array(s->statistics, sizeof *s->others);
    s->offsets = mem_array(rows + 1, sizeof *s->offsets);
    if (s->ranks.rank) {
        s->rows = mem_array(own, row_bytes(s));
        if (nn_net_kind(s->native->net) == NN_IMAGES)
            s->next_rows = mem_array(own, row_bytes(s));
        s->z = mem_aligned(own * s->dim + 2, sizeof *s->z);
        s->dz = mem_aligned(own * s->dim, sizeof *s->dz);
    }
}

int
train_shards_open(struct train_encoder *encoder,
                  const struct train_encoder_spec *spec,
                  const struct ranks *ranks, int number, struct err *err)
{
    const size_t each = train_cut_most(spec->rows, spec->shards);
    struct train_encoder_spec shard = *spec;
    struct train_shards *s;

    shard.rows = each;
    if (train_shards_check(spec->shards, ranks ? ranks->size : 1, err) ||
        train_native_open(encoder, &shard, err))
        return -1;
    encoder->rows = encoder->micro = spec->rows;
    s = mem_array(1, sizeof *s);
    *s = (struct train_shards){.native = train_native(encoder),
                               .plain = encoder->verbs,
                               .verbs = *encoder->verbs,
                               .ranks = {.size = 1},
                               .cut = {.shards = spec->shards, .ranks = 1},
                               .whole = spec->whole && !spec->locked,
                               .dim = encoder->dim,
                               .number = number};
    if (ranks) {
        s->ranks = *ranks;
        s->cut.ranks = ranks->size;
    }
    s->verbs.take = shards_take;
    s->verbs.expect = shards_expect;
    s->verbs.early = 1;
    s->verbs.forward = shards_forward;
    s->verbs.backward = shards_backward;
    s->verbs.update = shards_update;
    s->verbs.put = shards_put;
    s->verbs.load = shards_load;
    s->verbs.init = shards_init;
    s->verbs.close = shards_close;
    s->native->shards = s;
    encoder->verbs = &s->verbs;
    make_room(s, spec->rows, each);
    return 0;
}

struct train_slowest
train_shards_slowest(const struct train_encoder *encoder,
                     const struct train_encoder *text)
{
    return train_timer_slowest(&train_native(encoder)->shards->timer,
                               text->verbs ? &train_native(text)->shards->timer
                                           : NULL);
}

/* ------------------------------------------------------ what a follower does
 */

void
train_shards_order(const struct ranks *ranks, enum train_order what)
{
    struct order order = {.what = what};

    if (ranks->size > 1)
        ranks->order(ranks->self, &order, sizeof order);
}

/* The rows that were sent ahead are those of the batch. */
static void
use_next(struct train_shards *s)
{
    void *rows = s->rows;

    s->rows = s->next_rows;
    s->next_rows = rows;
    take_rows(s);
}

static void
obey_order(struct train_shards *s, const struct order *order)
{
    struct err none;

    switch (order->what) {
    case SPREAD:
        spread_state(s);
        break;
    case FORWARD:
        s->n = order->n;
        if (order->known)
            use_next(s);
        forward_rows(s, (enum nn_mode)order->mode, order->known, s->z);
        break;
    case BACKWARD:
        s->n_next = order->next;
        share_dz(s, NULL);
        backward_rows(s, s->dz);
        break;
    case UPDATE:
        s->plain->update(s->native, order->rate, &none);
        break;
    }
}

enum train_order
train_shards_follow(struct train_encoder *encoder, const struct ranks *ranks)
{
    struct order order;

    for (;;) {
        ranks->order(ranks->self, &order, sizeof order);
        if (order.what <= TRAIN_ORDER_END)
            return (enum train_order)order.what;
        obey_order(train_native(encoder + order.number)->shards, &order);
    }
}
