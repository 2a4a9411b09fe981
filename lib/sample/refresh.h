#ifndef SAMPLE_REFRESH_H
#define SAMPLE_REFRESH_H

#include <stddef.h>
#include <stdint.h>

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
