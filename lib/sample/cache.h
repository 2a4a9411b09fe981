#ifndef SAMPLE_CACHE_H
#define SAMPLE_CACHE_H

#include "sample/bank.h"
#include "util/arena.h"

/*
 * The negative cache: negatives drawn from the softmax over all of the bank.
 *
 * A query q of sample i has the distribution
 *
 *     p(j) = exp(beta q.e_j) / Z,   Z = sum_{j != i} exp(beta q.e_j),
 *
 * over the samples j != i that have a row e_j in the bank.  The paper draws
 * from it by Gumbel-max, a random number a sample; here the sums of the
 * exponentials, which Z needs anyhow, are inverted: a random number a draw.
 * Lindgren et al. 2021 ("Efficient
 * training of retrieval models using negative cache"); lib/algorithms.md 4.3.
 */
struct sample_cache_how {
    double beta;                /* finite, >= 0 */
    uint64_t seed, epoch, step; /* key, with the query (RNG_CACHE) */
};

struct sample_draw {
    int64_t id;   /* -1: there was nothing left to draw */
    double log_q; /* log p(id); 0 without */
};

/*
 * sample_cache_draw() draws a negative for each of n samples, whose query is
 * its own row of the bank: none where there is none.
 *   own   [n]  each < size; n <= 65536
 *   draw  [n]  out
 * O(n size d) time, O(n (d + size / 100)) scratch, which is not given back.
 */
void sample_cache_draw(const struct sample_cache_how *how,
                       const struct sample_bank *bank, size_t n,
                       const int64_t *own, struct sample_draw *draw,
                       struct arena *scratch);

/*
 * The importance of the draws of a batch under the current queries.
 *
 *     p_+ = exp(beta s_+) / (exp(beta s_+) + Z),
 *
 * Z over the bank with the current query, s_+ the cosine of query and positive;
 * and the importance p(J) / q(J) of a negative J that was drawn by an older
 * query, p(J) with its row in the bank.  The gradient of -log p_+ is
 * (1 - p_+) beta (E_p s_J - s_+): so these are the factors of the objective
 * `cache`,
 *
 *     scale = (1 - p_+, (1 - p_+) p(J)/q(J)).
 *
 * Without a negative (draw.id < 0) both are 0.
 */
/*
 * sample_cache_weigh() computes the factors, and returns the mean importance of
 * the draws that there are, about 1; 0 without any.
 *   own [n], query [n,d], positive [n] s_+, draw [n];  scale [n,2] out
 * The importance is cut at `limit` (>= 1; INFINITY for none).
 */
double sample_cache_weigh(double beta, double limit,
                          const struct sample_bank *bank, size_t n,
                          const int64_t *own, const float *query,
                          const float *positive, const struct sample_draw *draw,
                          float *scale, struct arena *scratch);

/*
 * Which samples are refreshed in which step: a queue that begins as a random
 * order of all samples; those at its front are refreshed and go to its end.  So
 * step t takes the next of `period` equal parts, and only t has to be known.
 *
 * sample_refresh_order() returns the order, to be freed (RNG_REFRESH).
 * sample_refresh_period() is in how many steps each sample comes once: ceil(1 /
 * rho), rho in (0,1] the share of the samples refreshed each step.
 * sample_refresh_next() returns how many come in a step, size / period, rounded
 * up or down, maybe none; *from is where they are in the order.
 */
int64_t *sample_refresh_order(size_t size, uint64_t seed);
size_t sample_refresh_period(double rho);
size_t sample_refresh_next(size_t size, size_t period, uint64_t step,
                           size_t *from);

#endif
