#ifndef TRAIN_SHARDS_H
#define TRAIN_SHARDS_H

#include "ranks/ranks.h"
#include "train/encoder.h"

/*
 * The encoder of train/native.h with its batches cut into V shards, which ranks
 * (ranks/ranks.h) share.  Rank 0 trains as if it were alone; the others follow:
 *
 *     rank 0                    all ranks
 *     train_encoder_forward     get their rows, encode them, give embeddings
 *     train_encoder_backward    get dz of their rows; sum gradients by one tree
 *     train_encoder_update      take the same step
 *
 * Shard i of v has the rows n i / v .. n (i + 1) / v of a batch of n, and v is
 * V, or for less rows the largest power of two that is not above n.  Batch norm
 * takes the statistics of a shard, and moves the running ones once for each, in
 * their order; or with spec->whole those of all rows, by sums that ranks
 * exchange at each norm, there and back (nn_net_forward_parts()), and moves
 * once.  Nothing that is computed has a shape that depends on how many
 * ranks there are, so no bit of the result does: spec->shards alone decides.  A
 * rank with several shards encodes each but the last again on the way back, as
 * train/encoder.h says of micro-batches, which exclude shards; with spec->whole
 * and a batch norm it keeps the values of all its shards, and their gradients,
 * and encodes none twice.
 *
 * A gradient is summed piece by piece, while the rest of it is made
 * (ranks_pieces_begin()), by a rank with several shards in the pass for its
 * first one; the sum of each number is the same.  The images of a batch that
 * rank 0 expects go to their ranks meanwhile, and are used if the next forward
 * is of the same bytes.
 *
 * Weights and moments are sent before the first batch, and where they came from
 * a file since; each step then sends 2 (W - 1) / W floats a parameter from
 * every rank, rows, z and dz between rank 0 and the others, and with
 * spec->whole, of each norm of c channels, 32 c log2 W bytes.  Running
 * statistics and the mean of weights are of rank 0 alone.
 */
enum { TRAIN_SHARDS_MOST = 1024 };

/* train_shards_check() refuses a number of shards that is no power of two, or
 * that so many ranks cannot share evenly. */
int train_shards_check(size_t shards, size_t ranks, struct err *err);

/*
 * train_shards_open() is train_native_open() for spec->shards > 1, on each rank
 * with the same spec.
 *   ranks   NULL: there is one; else must stay
 *   number  0, or 1 for the second encoder of the ranks
 */
int train_shards_open(struct train_encoder *encoder,
                      const struct train_encoder_spec *spec,
                      const struct ranks *ranks, int number, struct err *err);

/*
 * train_shards_slowest() tells which rank has computed for longest in one or
 * two encoders since it was asked last, at rank 0.  What a rank waits for
 * others, what rank 0 does besides encoding, and an update, which is the same
 * in all, are not in it.  Each says its seconds with its embeddings: those of a
 * gradient are told with the next ones.
 *   text    its verbs may be NULL: there is none
 *   behind  seconds, by which it took longer than the mean of all
 */
struct train_slowest {
    size_t rank;
    double behind;
};

struct train_slowest train_shards_slowest(const struct train_encoder *encoder,
                                          const struct train_encoder *text);

/* What followers may be told besides the work of their encoders. */
enum train_order { TRAIN_ORDER_OPEN, TRAIN_ORDER_END };

/* train_shards_order() tells them; train_shards_follow() does the share of a
 * follower in all work of its encoders [2], until it is told something else,
 * which it returns. */
void train_shards_order(const struct ranks *ranks, enum train_order what);
enum train_order train_shards_follow(struct train_encoder *encoder,
                                     const struct ranks *ranks);

#endif
