#ifndef SAMPLE_CACHE_H
#define SAMPLE_CACHE_H

#include "sample/bank.h"

/*
 * The negative cache: negatives drawn from the softmax over all of the bank.
 *
 * A query q of sample i has the distribution
 *
 *     p(j) = exp(beta q.e_j) / Z,   Z = sum_{j != i} exp(beta q.e_j),
 *
 * over the samples j != i that have a row e_j in the bank.  Gumbel-max takes
 * the largest beta q.e_j + G_j with G_j standard Gumbel noise, and the k
 * largest for k draws without replacement; that is the distribution of drawing
 * from p and, without what was drawn, from what is left.  Here it is drawn by
 * inverting the sums of the exponentials, which Z needs anyhow: one uniform
 * number a draw instead of one a sample.  Lindgren et al. 2021 ("Efficient
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
 * sample_cache_draw() draws k negatives for each of n queries.
 *   own     [n]    the sample of each, which is not drawn; n <= 65536
 *   query   [n,d]  d as in the bank; NULL: each sample's own row of the bank,
 *                  and nothing is drawn for one that has none
 *   draw    [n,k]  out, in the order drawn: all different
 * O(n size d) time, O(n (d + size / 100)) scratch.
 */
void sample_cache_draw(const struct sample_cache_how *how,
                       const struct sample_bank *bank, size_t n,
                       const int64_t *own, const float *query, size_t k,
                       struct sample_draw *draw);

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
struct sample_cache_report {
    double doubt;      /* mean 1 - p_+ over rows with a negative */
    double importance; /* mean p(J)/q(J) of these: about 1 */
    double effective;  /* (sum)^2 / sum of squares of these, over their
                          number: 1 when the queries did not move */
    size_t without;    /* rows without a negative */
};

/*
 * sample_cache_weigh() computes the factors.
 *   own [n], query [n,d], positive [n] s_+, draw [n];  scale [n,2] out
 * The importance is cut at `limit` (>= 1; INFINITY for none).
 */
struct sample_cache_report
sample_cache_weigh(double beta, double limit, const struct sample_bank *bank,
                   size_t n, const int64_t *own, const float *query,
                   const float *positive, const struct sample_draw *draw,
                   float *scale);

/*
 * Which samples are refreshed in which step: a queue that begins as a random
 * order of all samples; those at its front are refreshed and go to its end.  So
 * step t takes the next of `period` equal parts, and only t has to be known.
 */
struct sample_refresh {
    size_t size, period;
    int64_t *order; /* [size] */
};

/*
 * sample_refresh_init() orders a data set; each sample comes once in each
 * `period` = ceil(1 / rho) steps.
 *   rho   in (0,1]: share of the samples refreshed each step
 *   seed  of the order (RNG_REFRESH)
 */
void sample_refresh_init(struct sample_refresh *refresh, size_t size,
                         double rho, uint64_t seed);
void sample_refresh_release(struct sample_refresh *refresh);

/*
 * sample_refresh_next() points at the samples of a step and returns how many:
 * size / period, rounded up or down, maybe none.
 */
size_t sample_refresh_next(const struct sample_refresh *refresh, uint64_t step,
                           const int64_t **ids);

#endif
