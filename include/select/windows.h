#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The order of an epoch by windows, for data that outgrows memory: samples are
 * in shards, window w of an epoch is its K shards w K .. w K + K - 1 in random
 * order, and the samples of a window follow each other in random order, before
 * those of the next.  Batches are cut from this order, so one may have the end
 * of a window and the start of the next.  Each sample is in it once.
 *
 * The order is a function of seed and epoch: the shards are shuffled, and so
 * are the samples of each window.  About 1 / K of the pairs of a batch are of
 * one shard, instead of 1 / M.
 *
 * Memory: 24 bytes for each shard, and 24 for each sample of the largest
 * window.
 */
struct select_windows;

/*
 *   shards  M >= 1
 *   first   [M + 1]  ids of shard i are first[i] .. first[i + 1] - 1, at least
 *           one; first[0] = 0; copied
 *   each    K >= 1 shards of a window; the last window of an epoch has the rest
 */
struct select_windows *select_windows_new(size_t shards, const uint64_t *first,
                                          size_t each, uint64_t seed);
void select_windows_free(struct select_windows *windows);

/* select_windows_ids() writes ids `at` .. at + n - 1 of an epoch, at < N; after
 * the last it continues with the first.  O(n), O(samples) for a window that is
 * none of the last three, and O(M) for a new epoch. */
void select_windows_ids(struct select_windows *windows, uint64_t epoch,
                        uint64_t at, size_t n, int64_t *ids);

/*
 * select_windows_near() writes the numbers of the shards of an epoch's window
 * with place `at`, then those of the window after it, which is the first of
 * epoch `next` after the last, and returns their number, at most 2 K.
 * O(K), and O(M) for a new epoch.
 */
size_t select_windows_near(struct select_windows *windows, uint64_t epoch,
                           uint64_t next, uint64_t at, size_t *shard);

/* select_windows_same_shard() returns the share of the pairs of n >= 2 ids that
 * are of one shard.  O(n log (n M)). */
double select_windows_same_shard(const struct select_windows *windows, size_t n,
                                 const int64_t *ids);

/* select_windows_digest() adds to a digest all that the order of an epoch
 * depends on. */
struct digest_stream;
void select_windows_digest(const struct select_windows *windows, uint64_t epoch,
                           struct digest_stream *stream);
