#pragma once

#include "ranks/ranks.h"
#include "train/encoder.h"

/*
 * The encoder of train/native.h with batches split into V shards, which are
 * distributed over ranks (ranks/ranks.h).  Rank 0 trains as without ranks; the
 * other ranks are followers:
 *
 *     rank 0 calls              all ranks
 *     train_encoder_forward     receive their rows, encode them, send
 *                               embeddings
 *     train_encoder_backward    receive dz of their rows; sum gradients by one
 *                               tree
 *     train_encoder_update      take the same step
 *
 * Shard i of v has the rows [n i / v, n (i + 1) / v) of a batch of n rows; v is
 * V, or if n < V the largest power of two up to n.  Batch norm uses the
 * statistics of a shard, and updates the running ones once per shard, in their
 * order.  With spec->whole it uses those of all rows, by sums that ranks
 * exchange at each norm, forward and backward (nn_net_forward_parts()), and
 * updates once.  No shape in a computation depends on the number of ranks, so
 * no bit of the result does; it depends on spec->shards only.  A rank with
 * several shards encodes each except the last again in backward, as with
 * micro-batches (train/encoder.h), which cannot be combined with shards.  With
 * spec->whole and a batch norm it stores activations and gradients of all its
 * shards, and encodes none twice.
 *
 * A gradient is summed piece by piece while the rest of it is computed
 * (ranks_pieces_begin()); a rank with several shards does this in its last
 * pass, that for its first shard.  The sum of each number is the same.  Rank 0
 * sends the images of a batch that it expects during backward; they are used if
 * the next forward has the same bytes.
 *
 * Rank 0 sends weights and moments before the first batch, and after they were
 * read from a file.  In each step of W ranks every rank sends 2 (W - 1) / W
 * floats per parameter, and with spec->whole 32 c log2 W bytes for each norm of
 * c channels; rows, z and dz are sent between rank 0 and the others.  Only rank
 * 0 has running statistics and the mean of weights.
 */
enum { TRAIN_SHARDS_MOST = 1024 };

/* train_shards_check() returns -1 if the number of shards is no power of two,
 * or the ranks cannot have equal numbers of them. */
int train_shards_check(size_t shards, size_t ranks, struct err *err);

/*
 * train_shards_open() is train_native_open() for spec->shards > 1, on each rank
 * with the same spec.
 *   ranks   NULL: one rank; must outlive the encoder
 *   number  0, or 1 for the second encoder of the ranks
 */
int train_shards_open(struct train_encoder *encoder,
                      const struct train_encoder_spec *spec,
                      const struct ranks *ranks, int number, struct err *err);

/*
 * train_shards_slowest() returns, on rank 0, the rank that has computed for
 * longest in one or two encoders since the last call.  It does not count
 * waiting for other ranks, rank 0's work besides encoding, and updates, which
 * are the same in all ranks.  A rank sends its seconds with its embeddings, so
 * those of a gradient arrive one forward later.
 *
 *     text     its ops may be NULL: no text encoder
 *     excess   seconds that this rank took longer than the mean of all ranks
 */
struct train_slowest {
    size_t rank;
    double excess;
};

struct train_slowest train_shards_slowest(const struct train_encoder *encoder,
                                          const struct train_encoder *text);

/* Orders of rank 0 to followers besides the work of their encoders. */
enum train_order { TRAIN_ORDER_OPEN, TRAIN_ORDER_END };

/* train_shards_order(), on rank 0, sends such an order to all followers.
 * train_shards_follow(), on a follower, does its part of the work of its
 * encoders [2] until an order comes, and returns the order. */
void train_shards_order(const struct ranks *ranks, enum train_order what);
enum train_order train_shards_follow(struct train_encoder *encoder,
                                     const struct ranks *ranks);
