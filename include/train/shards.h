#ifndef TRAIN_SHARDS_H
#define TRAIN_SHARDS_H

#include "ranks/ranks.h"
#include "train/encoder.h"

/*
 * The encoder of train/native.h with its batches cut into V shards, which ranks
 * (ranks/ranks.h) share.  Rank 0 trains as if it were alone; the others follow:
 *
 *     rank 0 calls              all ranks
 *     train_encoder_forward     get their rows, encode them, give embeddings
 *     train_encoder_backward    get dz of their rows; sum gradients by one tree
 *     train_encoder_update      take the same step
 *
 * Shard i of v has the rows from n i / v to before n (i + 1) / v of a batch of
 * n rows; v is V, or where n < V the largest power of two up to n.  Batch norm
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
 * (ranks_pieces_begin()): a rank with several shards does so in its last pass,
 * the one for its first shard.  The sum of each number is the same.  The images
 * of a batch that rank 0 expects go to their ranks meanwhile, and are used if
 * the next forward is of the same bytes.
 *
 * Rank 0 sends weights and moments before the first batch, and again after they
 * were read from a file.  In each step of W ranks every rank sends 2 (W - 1) /
 * W floats a parameter, and with spec->whole 32 c log2 W bytes for each norm of
 * c channels; rows, z and dz go between rank 0 and the others.  Running
 * statistics and the mean of weights are of rank 0 alone.
 */
enum { TRAIN_SHARDS_MOST = 1024 };

/* train_shards_check() returns -1 where the number of shards is no power of
 * two, or so many ranks cannot share them evenly. */
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
 * train_shards_slowest() tells rank 0 which rank has computed for longest in
 * one or two encoders since the last call.  Not counted are waiting for other
 * ranks, rank 0's work besides encoding, and updates, which are the same in all
 * ranks.  Seconds come with a rank's embeddings, so those of a gradient come
 * one forward later.
 *
 *     text     its ops may be NULL: there is none
 *     behind   seconds by which that rank took longer than the mean of all
 */
struct train_slowest {
    size_t rank;
    double behind;
};

struct train_slowest train_shards_slowest(const struct train_encoder *encoder,
                                          const struct train_encoder *text);

/* What rank 0 tells followers besides the work of their encoders. */
enum train_order { TRAIN_ORDER_OPEN, TRAIN_ORDER_END };

/* train_shards_order(), on rank 0, sends such an order to all followers.
 * train_shards_follow(), on a follower, does its share in the work of its
 * encoders [2] until an order comes, and returns that. */
void train_shards_order(const struct ranks *ranks, enum train_order what);
enum train_order train_shards_follow(struct train_encoder *encoder,
                                     const struct ranks *ranks);

#endif
