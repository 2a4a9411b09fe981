#ifndef SAMPLE_SCAN_H
#define SAMPLE_SCAN_H

#include <float.h>

#include "sample/emc2.h"

/*
 * sample_scan() by 32 random bits a proposal, U = (bits + 1/2) / 2^32: the same
 * states as with luck = -log U, but for equal scores, which are accepted where
 * -log U is too small for their sum to show it.
 *
 * What a chain compares with is computed for all proposals side by side, in
 * float and with a logarithm that is off by 1e-4.  Where that does not decide,
 * once in some thousand proposals, double and log() do.
 *
 * The caller fills column[0..length) and bits[0..length); behind them is room
 * for vector loops, of zeros.
 */
struct sample_scanner {
    double beta;
    size_t length;              /* R */
    uint32_t *column, *bits;    /* [sample_scanner_room(length)] */
    int32_t *to, *sure, *reach; /* of proposals, as floats in order: beta s;
                                   of a chain, up to which it accepts for
                                   sure; above which it does not */
    uint32_t *taken;            /* proposals that were accepted */
};

/* sample_scanner_room() rounds up to whole vectors: what is left of one costs
 * as much as the rest of 127 proposals. */
static inline size_t
sample_scanner_room(size_t length)
{
    return (length + 15) / 16 * 16;
}

void sample_scanner_init(struct sample_scanner *scanner, double beta,
                         size_t length);
void sample_scanner_release(struct sample_scanner *scanner);

/* sample_scanner_bound() makes the row of similarities s known. */
void sample_scanner_bound(struct sample_scanner *scanner, const float *s);

/*
 * sample_scanner_scan() makes the proposals from `from` to before `to` to a
 * chain, lists those that it accepts in `taken`, and returns how many.
 *   s  as in sample_scanner_bound()
 */
size_t sample_scanner_scan(struct sample_scanner *scanner, const float *s,
                           size_t from, size_t to, struct sample_chain *chain);

/* sample_score() returns beta s; finite, so that a cold chain takes whatever is
 * proposed. */
static inline double
sample_score(double beta, float s)
{
    const double x = beta * s, low = x > -DBL_MAX ? x : -DBL_MAX;

    return low < DBL_MAX ? low : DBL_MAX;
}

#endif
