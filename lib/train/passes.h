#pragma once

#include "train/native.h"
#include "train/shards.h"
#include "util/digest.h"

/* Parts of train/shards.h: what all ranks do at once, each with its shards.
 * The caller has sent the order.  Rank 0 has the rows of all ranks. */
enum { TRAIN_SHARDS_LEVELS = 10 }; /* of the tree over the shards of a rank */

/* Splits the batches of a native encoder.  A rank counts rows from its first
 * one. */
struct train_shards {
    struct train_native *native;
    const struct train_encoder_ops *plain; /* functions of the native encoder */
    struct train_encoder_ops ops;          /* functions by shards */
    struct ranks ranks;
    size_t shards; /* V */
    size_t dim, params;
    int number;            /* of this encoder, in orders to followers */
    int whole;             /* norms use all shards, in one pass */
    size_t n;              /* rows of the batch */
    int followers_current; /* followers have the current weights and moments */
    size_t statistics;
    float *batch_statistics; /* [shards,statistics] of the last forward */
    float *sums[TRAIN_SHARDS_LEVELS]; /* [params], sums of a level's shards */
    float *work;                      /* scratch of ranks_pieces */
    double *others;                   /* scratch of ranks_add() */
    struct ranks busy;                /* ranks with shards, for a gradient by
                                         pieces */
    struct ranks_pieces pieces;
    size_t levels;           /* levels of `sums` to add to a piece */
    int last;                /* 1: this pass completes the gradient */
    size_t sent_from;        /* gradients from this parameter on were sent */
    size_t piece;            /* smallest number of gradients to send */
    struct ranks_send ahead; /* images of the next batch */
    size_t n_next;           /* their number; 0: unknown */
    struct nn_input next;    /* on rank 0 */
    struct digest sent;      /* of these images */
    void *next_rows;         /* the same rows, on a follower */
    size_t *offsets;         /* of tokens, in the rows of this rank */
    void *rows;              /* of a follower: its rows, z and dz */
    float *z, *dz;

    /* Seconds of computing, without waiting for other ranks. */
    double started, computing; /* now; sum since rank 0 got them */
    double *seconds;           /* [ranks] their sums, on rank 0 */
    char *received;            /* on rank 0: rows and seconds of all ranks */
};

/* train_shards_most() returns the largest number of rows of a shard, for
 * batches of up to `rows`; train_shards_count() the number of shards of n rows.
 */
size_t train_shards_most(size_t rows, size_t shards);
size_t train_shards_count(const struct train_shards *s, size_t n);

/* train_share_state() sends weights, moments and statistics from rank 0 to all;
 * train_share_dz() sends dz from rank 0 to the others. */
void train_share_state(struct train_shards *s);
void train_share_dz(struct train_shards *s, const float *dz);

/* train_share_set_input() makes a follower's rows the input of its net;
 * train_share_bytes() returns the largest number of bytes of a row. */
void train_share_set_input(struct train_shards *s);
size_t train_share_bytes(const struct train_shards *s);

/* Encodes the rows of this rank to z.  Rank 0 gets the embeddings of all rows
 * and the batch statistics of the shards.
 *   sent_ahead  the rows were sent ahead
 *   z           of a follower: with space for a double after its rows */
void train_pass_forward(struct train_shards *s, enum nn_mode mode,
                        int sent_ahead, float *z);

/* Returns 1 if ranks send the batch statistics of each shard to rank 0. */
int train_pass_sends_statistics(const struct train_shards *s,
                                enum nn_mode mode);

/* Computes the gradient of all shards, on all ranks, from dz of the rank's
 * rows. */
void train_pass_backward(struct train_shards *s, const float *dz);
