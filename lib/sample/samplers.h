#pragma once

#include "sample/source.h"

/* The table: the first of each method is the default.  Row `cache` is the
 * struct sample_sampler sample_sampler_cache, in lib/sample/sampler_cache.c. */
#define SAMPLE_SAMPLERS(ROW) \
    ROW(emc2_once)           \
    ROW(emc2_row)            \
    ROW(emc2_all4)           \
    ROW(emc2_bank)           \
    ROW(emc2_exact)          \
    ROW(emc2_exact_bank)     \
    ROW(emc2_shared)         \
    ROW(emc2_zbank)          \
    ROW(bimodal_once)        \
    ROW(bimodal_bank)        \
    ROW(bimodal_exact)       \
    ROW(bimodal_exact_bank)  \
    ROW(bimodal_shared)      \
    ROW(cache)

#define SAMPLE_DECLARE(row) \
    extern const struct sample_sampler sample_sampler_##row;
SAMPLE_SAMPLERS(SAMPLE_DECLARE)
#undef SAMPLE_DECLARE

/* sample_begin_weights() sets the similarities of a step and its columns, and
 * allocates w [n,columns], which it returns, and scale [n,2], all 1; every
 * proposal counts as accepted. */
float *sample_begin_weights(const struct batch *step, struct weights *weights,
                            float **scale, struct arena *to);

/* A parameter of several samplers. */
#define SAMPLE_PARAM_HORIZON                              \
    {                                                     \
        PARAM_WHOLE("horizon", 8, 1, SAMPLE_HORIZON_MAX,  \
                    "steps by which the bank is delayed") \
    }
