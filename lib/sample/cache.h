#pragma once

#include "search.h"

/*
 * The negative cache: negatives drawn from the softmax over all of the bank.
 *
 * A query q of sample i has the distribution
 *
 *     p(j) = exp(beta q.e_j) / Z,   Z = sum_{j != i} exp(beta q.e_j),
 *
 * over the samples j != i that have a row e_j in the bank.  The paper draws
 * from it by Gumbel-max, with a random number for each sample.  This code
 * inverts the running sum of the exponentials, which Z needs anyway, with a
 * random number for each draw.  Lindgren et al. 2021 ("Efficient training of
 * retrieval models using negative cache"); lib/algorithms.md 4.3.
 */
struct sample_cache_settings {
    double beta;                /* finite, >= 0 */
    uint64_t seed, epoch, step; /* random key, with the query (RNG_CACHE) */
};

/*
 * sample_cache_draw() draws a negative for each of n samples.  The query is the
 * sample's own row of the bank; a sample without a row gets no draw.
 *   own   [n]  ids of the samples, each < size; n <= 65536
 *   draw  [n]  out
 * O(n size d) time; takes O(n (d + size / 100)) of scratch and does not free
 * it.
 */
void sample_cache_draw(const struct sample_cache_settings *how,
                       const struct sample_bank *bank, size_t n,
                       const int64_t *own, struct sample_draw *draw,
                       struct arena *scratch);

/*
 * sample_cache_weigh() computes the factors of the objective `cache` for the
 * draws of a batch under the current queries.  With
 *
 *     p_+ = exp(beta s_+) / (exp(beta s_+) + Z),
 *
 * where Z is over the bank with the current query and s_+ is the cosine of
 * query and positive, the gradient of -log p_+ is
 * (1 - p_+) beta (E_p s_J - s_+).  An older query drew the negative J with
 * probability q(J); p(J) is computed with J's row in the bank.  So
 *
 *     scale = (1 - p_+, (1 - p_+) p(J)/q(J)),
 *
 * and both are 0 without a negative (draw.id < 0).
 *   own [n], query [n,d], positive [n] s_+, draw [n];  scale [n,2] out
 *   limit  upper bound of the importance p(J)/q(J), >= 1; INFINITY: none
 * Returns the mean importance of the draws, about 1; 0 without draws.
 */
double sample_cache_weigh(double beta, double limit,
                          const struct sample_bank *bank, size_t n,
                          const int64_t *own, const float *query,
                          const float *positive, const struct sample_draw *draw,
                          float *scale, struct arena *scratch);

/*
 * Which samples a step refreshes: all samples in a fixed random order, cut into
 * `period` equal parts; step t refreshes part t mod period.
 *
 * sample_refresh_order() returns the order, which the caller frees
 * (RNG_REFRESH).
 * sample_refresh_period() returns the steps that refresh each sample once:
 * ceil(1 / rho); rho in (0,1] is the share of the samples refreshed each step.
 * sample_refresh_next() returns how many samples a step refreshes, size /
 * period rounded up or down, possibly 0; *from is their place in the order.
 */
int64_t *sample_refresh_order(size_t size, uint64_t seed);
size_t sample_refresh_period(double rho);
size_t sample_refresh_next(size_t size, size_t period, uint64_t step,
                           size_t *from);
