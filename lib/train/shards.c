#include <stdlib.h>
#include <string.h>

#include "train/native.h"
#include "train/shards.h"
#include "util/digest.h"
#include "util/mem.h"

#include "passes.h"

/* Orders from SHARE_STATE on are for an encoder. */
enum { SHARE_STATE = TRAIN_ORDER_END + 1, FORWARD, BACKWARD, UPDATE };

struct order {
    int what, number, mode;
    int sent_ahead; /* FORWARD: these rows were sent ahead */
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

static void
send_order(struct train_shards *s, struct order order)
{
    order.number = s->number;
    if (s->ranks.size > 1)
        s->ranks.order(s->ranks.self, &order, sizeof order);
}

/* ------------------------------------------------------ functions of rank 0 */

static int
shards_take(void *self, const struct nn_input *input, struct err *err)
{
    struct train_shards *s = shards_of(self);

    s->n = input->n;
    if (s->ranks.size > 1 && !s->followers_current) {
        send_order(s, (struct order){.what = SHARE_STATE});
        train_share_state(s);
        s->followers_current = 1;
    }
    return s->plain->take(self, input, err);
}

/* Called before a backward. */
static void
shards_prefetch(void *self, const struct nn_input *input)
{
    struct train_shards *s = shards_of(self);

    // a frozen encoder has no backward
    if (s->ranks.size == 1 || !s->native->optim ||
        nn_net_kind(s->native->net) != NN_IMAGES)
        return;
    s->next = *input;
    s->n_next = input->n;
    s->sent = digest_bytes(input->images, input->n * train_share_bytes(s));
}

/* Returns 1 if the batch has the bytes that were sent ahead; a place of the
 * plan may have another batch since. */
static int
was_sent_ahead(const struct train_shards *s)
{
    struct digest now;

    if (!s->n_next || s->n_next != s->n)
        return 0;
    now = digest_bytes(s->native->input.images, s->n * train_share_bytes(s));
    return !memcmp(&now, &s->sent, sizeof now);
}

static int
shards_forward(void *self, size_t from, size_t to, enum nn_mode mode, float *z,
               struct err *err)
{
    struct train_shards *s = shards_of(self);
    int sent_ahead;

    (void)err;
    REQUIRE(!from && to == s->n && z);
    sent_ahead = was_sent_ahead(s);
    send_order(s, (struct order){.what = FORWARD,
                                 .mode = mode,
                                 .n = s->n,
                                 .sent_ahead = sent_ahead});
    train_pass_forward(s, mode, sent_ahead, z);
    s->n_next = 0;
    for (size_t i = 0; train_pass_sends_statistics(s, mode) &&
                       i < train_shards_count(s, s->n);
         i++)
        nn_net_update_running(s->native->net,
                              s->batch_statistics + i * s->statistics);
    return 0;
}

static int
shards_backward(void *self, size_t from, size_t to, int add, const float *dz,
                struct err *err)
{
    struct train_shards *s = shards_of(self);

    (void)err;
    REQUIRE(!from && to == s->n && !add);
    send_order(s, (struct order){.what = BACKWARD, .next = s->n_next});
    train_share_dz(s, dz);
    train_pass_backward(s, dz);
    return 0;
}

static int
shards_update(void *self, double rate, struct err *err)
{
    struct train_shards *s = shards_of(self);

    send_order(s, (struct order){.what = UPDATE, .rate = rate});
    return s->plain->update(self, rate, err);
}

static int
shards_put(void *self, struct err *err)
{
    (void)err;
    shards_of(self)->followers_current = 0;
    return 0;
}

static int
shards_load(void *self, const char *folder, struct err *err)
{
    shards_of(self)->followers_current = 0;
    return shards_of(self)->plain->load(self, folder, err);
}

static int
shards_init(void *self, const char *path, char **left, struct err *err)
{
    shards_of(self)->followers_current = 0;
    return shards_of(self)->plain->init(self, path, left, err);
}

static void
shards_close(void *self)
{
    struct train_shards *s = shards_of(self);

    s->plain->close(self);
    for (size_t k = 0; k < TRAIN_SHARDS_LEVELS; k++)
        free(s->sums[k]);
    mem_free(s->batch_statistics, s->work, s->others, s->offsets, s->rows,
             s->next_rows, s->z, s->dz, s->seconds, s->received, s);
}

/* ------------------------------------------------------------------ opening */

/* Allocates what the net of a shard lacks. */
static void
alloc_buffers(struct train_shards *s, size_t rows, size_t each)
{
    const size_t own = each * ((s->shards + s->ranks.size - 1) / s->ranks.size);

    nn_net_running(s->native->net, &s->statistics);
    nn_net_params(s->native->net, &s->params);
    s->whole &= s->statistics > 0;
    if (s->whole)
        nn_net_reserve(s->native->net, own / each);
    s->batch_statistics =
        mem_array(s->shards * s->statistics, sizeof *s->batch_statistics);
    if (s->ranks.size == 1)
        return;
    s->work = mem_array(s->params / 2 + RANKS_PIECES, sizeof *s->work);
    s->others = mem_array(s->statistics, sizeof *s->others);
    s->offsets = mem_array(rows + 1, sizeof *s->offsets);
    if (!s->ranks.rank) {
        s->seconds = mem_array(s->ranks.size, sizeof *s->seconds);
        s->received = mem_array(rows * s->dim * sizeof(float) +
                                    s->ranks.size * sizeof *s->seconds,
                                1);
    } else {
        s->rows = mem_array(own, train_share_bytes(s));
        if (nn_net_kind(s->native->net) == NN_IMAGES)
            s->next_rows = mem_array(own, train_share_bytes(s));
        s->z = mem_aligned(own * s->dim + 2, sizeof *s->z);
        s->dz = mem_aligned(own * s->dim, sizeof *s->dz);
    }
}

int
train_shards_open(struct train_encoder *encoder,
                  const struct train_encoder_spec *spec,
                  const struct ranks *ranks, int number, struct err *err)
{
    const size_t each = train_shards_most(spec->rows, spec->shards);
    struct train_encoder_spec shard = *spec;
    struct train_shards *s;

    shard.rows = each;
    if (train_shards_check(spec->shards, ranks ? ranks->size : 1, err) ||
        train_native_open(encoder, &shard, err))
        return -1;
    encoder->rows = encoder->micro = spec->rows;
    s = mem_array(1, sizeof *s);
    *s = (struct train_shards){.native = train_native(encoder),
                               .plain = encoder->ops,
                               .ops = *encoder->ops,
                               .ranks =
                                   ranks ? *ranks : (struct ranks){.size = 1},
                               .shards = spec->shards,
                               .whole = spec->whole && !spec->frozen,
                               .dim = encoder->dim,
                               .number = number};
    s->ops.take = shards_take;
    s->ops.prefetch = shards_prefetch;
    s->ops.prefetches_early = 1;
    s->ops.forward = shards_forward;
    s->ops.backward = shards_backward;
    s->ops.update = shards_update;
    s->ops.put = shards_put;
    s->ops.load = shards_load;
    s->ops.init = shards_init;
    s->ops.close = shards_close;
    s->native->shards = s;
    encoder->ops = &s->ops;
    alloc_buffers(s, spec->rows, each);
    return 0;
}

struct train_slowest
train_shards_slowest(const struct train_encoder *encoder,
                     const struct train_encoder *text)
{
    struct train_shards *one = train_native(encoder)->shards,
                        *two = text->ops ? train_native(text)->shards : NULL;
    struct train_slowest slowest = {0};
    double all = 0, most = 0;

    for (size_t r = 0; r < one->ranks.size; r++) {
        const double took = one->seconds[r] + (two ? two->seconds[r] : 0);

        all += took;
        if (took > most) {
            most = took;
            slowest.rank = r;
        }
        one->seconds[r] = 0;
        if (two)
            two->seconds[r] = 0;
    }
    slowest.excess = most - all / (double)one->ranks.size;
    return slowest;
}

/* -------------------------------------------------------------- followers */

void
train_shards_order(const struct ranks *ranks, enum train_order what)
{
    struct order order = {.what = what};

    if (ranks->size > 1)
        ranks->order(ranks->self, &order, sizeof order);
}

static void
execute_order(struct train_shards *s, const struct order *order)
{
    struct err none;

    switch (order->what) {
    case SHARE_STATE:
        train_share_state(s);
        break;
    case FORWARD:
        s->n = order->n;
        if (order->sent_ahead) {
            void *rows = s->rows;

            // makes the rows that were sent ahead those of the batch
            s->rows = s->next_rows;
            s->next_rows = rows;
            train_share_set_input(s);
        }
        train_pass_forward(s, (enum nn_mode)order->mode, order->sent_ahead,
                           s->z);
        break;
    case BACKWARD:
        s->n_next = order->next;
        train_share_dz(s, NULL);
        train_pass_backward(s, s->dz);
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
        execute_order(train_native(encoder + order.number)->shards, &order);
    }
}
