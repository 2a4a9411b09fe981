#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Random numbers that are a function of their use.
 *
 * Philox4x32-10 (Salmon et al., SC 2011; the Random123 library).  A stream is
 * keyed by a seed, a use and up to three coordinates, such as sample, epoch and
 * view; the numbers in it are counted.  So a number does not depend on the tool
 * or thread that draws it, or on the order of draws, and no state needs to be
 * saved.  A stream is a value: copy it to fork it.
 */
struct rng {
    uint32_t key[2], ctr[4], out[4];
    unsigned left; /* numbers of out[] that are not drawn yet */
};

/* What a stream is for.  Two uses never share numbers.  Append only. */
enum rng_use {
    RNG_TEST,
    RNG_INIT,       /* initial weights: (tensor, 1 of an encoder of texts) */
    RNG_PLAN,       /* order of samples: (epoch) */
    RNG_VIEW,       /* augmentation: (sample, epoch, view) */
    RNG_NEGATIVES,  /* proposals: (step, epoch, row) */
    RNG_SPLIT,      /* subsets of a data set */
    RNG_GENERATE,   /* built-in images: (sample) */
    RNG_EVAL,       /* shuffles of a probe: (epoch) */
    RNG_SUBSTITUTE, /* substitute of a bad sample: (sample, epoch) */
    RNG_WALK,       /* moves on the bank: (step, epoch, row) */
    RNG_CACHE,      /* draws from the bank: (step, epoch, query) */
    RNG_REFRESH,    /* the order in which a cache is refreshed */
    RNG_VARIANT,    /* which of the fixed views: (sample, epoch) */
    RNG_CORRUPT,    /* damage done to an image: (sample, kind) */
    RNG_CAPTION,    /* which caption: (sample, epoch) */
    RNG_TOKENS      /* tokens that are left out: (sample, epoch, caption) */
};

/*
 * rng_init() starts a stream.
 *   a < 2^48, b < 2^32, c < 2^16   the coordinates; a larger one is a bug
 */
void rng_init(struct rng *rng, uint64_t seed, enum rng_use use, uint64_t a,
              uint64_t b, uint64_t c);

/* rng_u32(), rng_u64() return 32 or 64 uniform bits. */
uint32_t rng_u32(struct rng *rng);
uint64_t rng_u64(struct rng *rng);

/* rng_many() draws n times as rng_u32() does, into x; many at once. */
void rng_many(struct rng *rng, size_t n, uint32_t *x);

/* rng_unit() returns a uniform double in [0, 1), a multiple of 2^-53. */
double rng_unit(struct rng *rng);

/* rng_range() returns a uniform double in [low, high). */
double rng_range(struct rng *rng, double low, double high);

/* rng_below() returns a uniform whole number in [0, n), exactly; n >= 1. */
uint64_t rng_below(struct rng *rng, uint64_t n);

/* rng_normal() returns a normal deviate, mean 0, deviation 1 (Box-Muller). */
double rng_normal(struct rng *rng);

/* rng_shuffle() permutes x[0..n) uniformly (Fisher-Yates). */
void rng_shuffle(struct rng *rng, size_t n, int64_t *x);
