#ifndef SAMPLE_MEMORY_H
#define SAMPLE_MEMORY_H

#include "sample/bank.h"
#include "sample/chains.h"
#include "wire/msg.h"
#include "wire/pairs.h"

/*
 * What a sampler remembers from step to step: how many there were, where its
 * chains stand, its bank of features, the last inverse temperatures.  The
 * negatives service has one, the trainer keeps a mirror of it, which it writes
 * into checkpoints and hands to a service that was started again.
 */
enum { SAMPLE_HORIZON_MAX = 4096 };

struct sample_memory {
    size_t size;                 /* of the data set */
    int64_t total;               /* steps that it has seen */
    struct sample_chains chains; /* state NULL: none has begun */
    int scored;                  /* the chains' scores count */
    struct sample_bank bank;     /* rows NULL: none is kept */
    size_t n_beta;               /* of the last steps, the newest last */
    double beta[SAMPLE_HORIZON_MAX];
};

/* sample_memory_init() begins without chains and bank. */
void sample_memory_init(struct sample_memory *memory, size_t size);
void sample_memory_release(struct sample_memory *memory);

/*
 * sample_memory_keep() writes down where the chains of a batch stand; the first
 * time it makes the tables.
 *   views  of an image that have a chain each
 *   v, b, ids, variants, state, score   as in sample_chains_put()
 */
void sample_memory_keep(struct sample_memory *memory, size_t views, size_t v,
                        size_t b, const int64_t *ids, const int64_t *variants,
                        const struct sample_state *state, const float *score);

/*
 * sample_memory_views() returns how many rows of a sample the bank has: one of
 * each fixed view where the bank is that of chains, else one.
 */
size_t sample_memory_views(const struct wire_variants *variants, int chains);

/*
 * sample_memory_fit() forgets a bank that has another number of rows a sample,
 * such as one out of a checkpoint of an earlier foil, which had one whatever
 * the views: it fills again as steps go.
 */
void sample_memory_fit(struct sample_memory *memory, size_t views);

/*
 * sample_memory_feed() pushes the rows of step `when` to a bank: all that were
 * encoded where it has one of each fixed view; else of the anchors the first
 * view, and what came besides.
 *   pairs   what was asked for that step: ids, views and rows
 */
void sample_memory_feed(struct sample_bank *bank, int64_t when,
                        const struct wire_pairs *pairs);

/*
 * sample_memory_push() feeds the memory's bank with step `total`, as its last,
 * and notes its beta.  The first time it makes the bank.
 *   chains  whether the bank is that of chains
 */
void sample_memory_push(struct sample_memory *memory,
                        const struct wire_pairs *pairs, int chains);

/*
 * sample_memory_advance() brings the bank up to a step, sample/bank.h, and
 * forgets what is older than that.  sample_memory_beta() returns the inverse
 * temperature of a step since then, or of the nearest that is known; 0 when
 * none is.
 */
struct sample_staleness sample_memory_advance(struct sample_memory *memory,
                                              int64_t to);
double sample_memory_beta(const struct sample_memory *memory, int64_t step);

/*
 * sample_memory_list() lists it as tensors that point into it, and returns how
 * many: as sample/chains.h and sample/bank.h name them, and the steps.
 */
#define SAMPLE_TOTAL "total"
#define SAMPLE_BETA "beta"
enum { SAMPLE_MEMORY_TENSORS = 9 };
size_t sample_memory_list(const struct sample_memory *memory,
                          struct wire_tensor *tensor);

/*
 * sample_memory_load() takes all from such a list; what is not in it has not
 * begun, other tensors are not looked at.  Refused, and nothing changed, where
 * a tensor is of another type or shape, or says what cannot be.
 */
int sample_memory_load(struct sample_memory *memory, size_t n,
                       const struct wire_tensor *tensor, struct err *err);

#endif
