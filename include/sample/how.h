#ifndef SAMPLE_HOW_H
#define SAMPLE_HOW_H

#include <stddef.h>
#include <stdint.h>

#include "util/param.h"

struct sample_sampler; /* sample/sampler.h */

/* A sampler and what it is set to. */
struct sample_how {
    const struct sample_sampler *sampler;
    double value[PARAM_MOST]; /* of its parameters, in the order of its table */
    int brings;  /* 1: what is drawn from outside of the batch comes along */
    size_t most; /* bytes that a trainer keeps; 0: SAMPLE_STORE_MOST */
    uint64_t seed;
};

/* sample_how_init() has the defaults. */
void sample_how_init(struct sample_how *how,
                     const struct sample_sampler *sampler);

/* sample_how_value() returns the value of a parameter, or 0 where the sampler
 * has none of that name; sample_how_set() sets one, if the sampler has it. */
double sample_how_value(const struct sample_how *how, const char *name);
void sample_how_set(struct sample_how *how, const char *name, double value);

/*
 * sample_how_read() sets parameters to numbers and words, "moves=16,horizon=4".
 * -1 with a sentence: not a parameter of the sampler, not a value of it.
 */
int sample_how_read(struct sample_how *how, const char *list, struct err *err);

#endif
