#pragma once

/*
 * How far chains are from their distribution, by total variation.  States are
 * taken in the order of their probability and averaged over chains first: a
 * distribution that is too flat shows as well as chain by chain, and the noise
 * of n chains goes down by the root of n.
 */
#include <math.h>
#include <stdlib.h>

#include "util/rng.h"

/* What is asked of a sampler, for tables of settings. */
#define ROW "emc2 row"
#define ONCE "emc2 once"
#define EXACT "emc2 exact"
#define BANK "emc2 bank moves=20"
#define BOTH "emc2 exact-bank moves=20"

/* A state: as probable as it should be and as often as it was. */
struct share {
    double want, got;
};

static inline int
share_by_want(const void *a, const void *b)
{
    const struct share *x = a, *y = b;

    return (x->want < y->want) - (x->want > y->want);
}

/* Adds a chain's n states, which are scaled and sorted, to a mean. */
static inline void
share_pool(size_t n, struct share *share, double weight, struct share *mean)
{
    double want = 0, got = 0;

    for (size_t k = 0; k < n; k++) {
        want += share[k].want;
        got += share[k].got;
    }
    qsort(share, n, sizeof *share, share_by_want);
    for (size_t k = 0; k < n; k++) {
        mean[k].want += weight * share[k].want / want;
        mean[k].got += weight * share[k].got / got;
    }
}

static inline double
share_variation(size_t n, const struct share *mean)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++)
        sum += fabs(mean[k].got - mean[k].want) / 2;
    return sum;
}

/* A random batch: the first b of an order of n. */
static inline void
choose_batch(struct rng *rng, size_t n, size_t b, int64_t *order)
{
    for (size_t i = 0; i < b; i++) {
        const size_t j = i + rng_below(rng, n - i);
        const int64_t swap = order[i];

        order[i] = order[j];
        order[j] = swap;
    }
}
