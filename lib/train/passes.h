#ifndef TRAIN_PASSES_H
#define TRAIN_PASSES_H

#include "train/native.h"
#include "train/shards.h"
#include "util/digest.h"

#include "cut.h"
#include "timer.h"

/*
 * Parts of train/shards.h: what all ranks do at once, each with its own shards.
 * Who calls them has given the order.  At rank 0 they are of all rows.
 */
enum { TRAIN_SHARDS_LEVELS = 10 }; /* of the tree over the shards of a rank */

/* What cuts the batches of a native encoder.  A rank counts its rows from its
 * first one. */
struct train_shards {
    struct train_native *native;
    const struct train_encoder_ops *plain; /* its functions */
    struct train_encoder_ops ops;          /* the same, by shards */
    struct ranks ranks;
    struct train_cut cut;
    struct train_timer timer;
    size_t dim, params;
    int number;
    int whole;  /* norms are over all shards, which go side by side */
    size_t n;   /* rows of the batch */
    int spread; /* followers have weights and moments as they are */
    size_t statistics;
    float *moves; /* [shards,statistics] of the last forward */
    float *sums[TRAIN_SHARDS_LEVELS]; /* [params], of those shards that a level
                                         has */
    float *work;                      /* of ranks_sum() */
    double *others;                   /* of ranks_add() */
    struct ranks busy;                /* of a gradient that goes by pieces .. */
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

/* The first shard of a rank, of rank W all; the first row of a shard. */
static inline size_t
train_shards_first(const struct train_shards *s, size_t rank)
{
    return train_cut_first(&s->cut, s->n, rank);
}

static inline size_t
train_shards_row(const struct train_shards *s, size_t shard)
{
    return train_cut_row(&s->cut, s->n, shard);
}

/* ------------------------------------------ share.c: what goes between ranks
 */

/* Weights, moments and statistics of rank 0 to all. */
void train_share_state(struct train_shards *s);

/* Rows of the batch of rank 0, [s->n], to the ranks that have them; those of
 * the next one, while all compute, where it is known. */
void train_share_rows(struct train_shards *s);
void train_share_ahead(struct train_shards *s);

/* The rows of a follower, which it has, as its net takes them; the most bytes
 * of a row. */
void train_share_taken(struct train_shards *s);
size_t train_share_bytes(const struct train_shards *s);

/* What each shard moves the running statistics by, to rank 0, for all shards;
 * the gradient of the rows, from it. */
void train_share_moves(struct train_shards *s);
void train_share_dz(struct train_shards *s, const float *dz);

/* ------------------------------------------------ passes.c: there, and back */

/* Embeddings of own rows to z, of all at rank 0, which gets what the shards
 * move, too.
 *   known  the rows were sent ahead */
void train_pass_forward(struct train_shards *s, enum nn_mode mode, int known,
                        float *z);

/* Whether what each shard moves goes to rank 0 by itself. */
int train_pass_moves(const struct train_shards *s, enum nn_mode mode);

/* The gradient of all shards, at all ranks, of dz of the own rows. */
void train_pass_backward(struct train_shards *s, const float *dz);

#endif
