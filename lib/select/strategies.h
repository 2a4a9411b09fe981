#pragma once

#include "select/strategy.h"
#include "util/rng.h"

/* The table of strategies.  Row `swap` is the struct select_strategy
 * select_strategy_swap; the comment of its file says what it does. */
#define SELECT_STRATEGIES(ROW) \
    ROW(shuffle)               \
    ROW(replace)               \
    ROW(fixed)                 \
    ROW(osgd)                  \
    ROW(osgd_full)             \
    ROW(spectral)              \
    ROW(swap)

#define SELECT_DECLARE(row) \
    extern const struct select_strategy select_strategy_##row;
SELECT_STRATEGIES(SELECT_DECLARE)
#undef SELECT_DECLARE

/* Batches that are planned together where `block` does not say it. */
enum { SELECT_TOGETHER = 40 };

/* Their own parameters; the variants of spectral. */
enum { OSGD_TOP = SELECT_OWN_PARAMS, OSGD_DRAWS, OSGD_REPLACE };
enum { SPECTRAL_VARIANT = SELECT_OWN_PARAMS, SPECTRAL_RESTARTS };
enum spectral_variant {
    SPECTRAL_NJW,
    SPECTRAL_CODE,
    SPECTRAL_LITERAL,
    SPECTRAL_KMEANS
};

/* The last coordinate of a random stream of RNG_PLAN: its purpose.  The first
 * two are the epoch and a number that depends on the purpose. */
enum select_stream {
    STREAM_ORDER,    /* shuffle, replace; the start of every other order */
    STREAM_SWAP,     /* (group of batches) */
    STREAM_SOFTEN,   /* (group of batches) */
    STREAM_AVOID,    /* not used */
    STREAM_REGIONS,  /* (split) */
    STREAM_OSGD,     /* (step) */
    STREAM_SPECTRAL, /* (block) */
    STREAM_SHARDS,   /* windows.c */
    STREAM_WINDOW,   /* (window) */
};

/* select_swap_improve() does the same to an epoch of any strategy (refine):
 * ids [select_layout_total()].  The task has features.  Where swap rearranges
 * the whole data set it does only the rounds, from the current batches. */
void select_swap_improve(const struct select_task *task, int64_t *ids);

/*
 * select_soften() reduces the hardness of an epoch to the parameter h, that is,
 * the weight within its batches (select/score.h) to
 *
 *     W_h = W_0 + h (W_1 - W_0).
 *
 * W_1 is the current weight, and W_0 the mean weight of random batches of the
 * same samples:
 *
 *     W_0 = sum_c b_c (b_c - 1) / (n (n - 1))  sum_{i<j} w_ij
 *
 * So h = 1 changes nothing, h = 0 is about as hard as a shuffle, and between
 * them the mean batch loss is nearly linear in h.  Random samples of random
 * batches are exchanged until W <= W_h.  No exchange brings two samples of one
 * group into a batch, and samples without features do not move.  All batches
 * become less hard, because each retains a share of its samples.
 *
 * Random sets of k = `block` batches (40 if that is < 1; at most 4,096 samples)
 * are processed independently, each with its own W_0 and W_1, in threads; the
 * result does not depend on their number.  Samples of one hard batch are in the
 * same set, so its W_0 is about (W_1 - W_0) / k above that of all samples.
 * O(N block batch d).
 */
void select_soften(const struct select_task *task, int64_t *ids);

/*
 * select_replace_draw() draws a batch of the strategy replace, in random order.
 *   size >= b
 *   taken [size]  zero, before and after
 *   ids [b]
 */
void select_replace_draw(struct rng *rng, size_t size, size_t b,
                         unsigned char *taken, int64_t *ids);
