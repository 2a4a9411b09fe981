#ifndef SAMPLE_MEMORY_H
#define SAMPLE_MEMORY_H

#include "sample/bank.h"
#include "sample/chains.h"
#include "sample/step.h"
#include "util/dtype.h"

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
 * sample_memory_fit() forgets a bank that has another number of rows a sample,
 * such as one out of a checkpoint of an earlier foil, which had one whatever
 * the views: it fills again as steps go.
 */
void sample_memory_fit(struct sample_memory *memory, size_t views);

/*
 * sample_memory_feed() pushes the rows of step `when` to a bank: all that were
 * encoded where it has one of each fixed view; else of the anchors the first
 * view, and what came besides.
 */
void sample_memory_feed(struct sample_bank *bank, int64_t when,
                        const struct sample_step *step);

/* What the weighing of a step changes in a memory, besides its rows. */
struct sample_update {
    const struct sample_state *state; /* [v b] where its chains stand; NULL:
                                         there are no chains */
    const float *score;               /* [v b] what that is worth, or NULL */
    int64_t bank; /* steps by which the bank is behind; 0: there is none */
};

/*
 * sample_memory_step() is the one update of a memory, the sampler's and its
 * mirror's: writes down where the chains of a step stand, feeds the bank with
 * its rows and its beta, counts it, and brings the bank up to `total - bank`.
 * The first time it makes the tables.  The bank is one of each fixed view where
 * there are chains, else one row a sample.
 *
 * Returns how old the bank was where it was renewed.  O(n (1 + dim)) time.
 */
struct sample_staleness sample_memory_step(struct sample_memory *memory,
                                           const struct sample_step *step,
                                           const struct sample_update *update);

/*
 * sample_memory_views() returns how many rows of a sample the bank has: one of
 * each fixed view where the bank is that of chains, else one.
 */
size_t sample_memory_views(const struct sample_step *step, int chains);

/*
 * sample_memory_beta() returns the inverse temperature of a step that the bank
 * waits for, or of the nearest that is known; 0 when none is.
 */
double sample_memory_beta(const struct sample_memory *memory, int64_t step);

/* An array with a name; shape[3] are the first sizes of maybe more. */
struct sample_array {
    const char *name;
    enum dtype dtype;
    size_t rank, shape[3], count; /* count: the product of all sizes */
    const void *data;
};

/* sample_array_of() makes one that points to name and data. */
struct sample_array sample_array_of(const char *name, enum dtype dtype,
                                    size_t rank, const size_t *shape,
                                    const void *data);

/* sample_array_find() returns the first of that name, or NULL. */
const struct sample_array *sample_array_find(const char *name, size_t n,
                                             const struct sample_array *array);

/*
 * sample_memory_list() lists it as arrays that point into it, and returns how
 * many: as sample/chains.h and sample/bank.h name them, and the steps.
 */
#define SAMPLE_TOTAL "total"
#define SAMPLE_BETA "beta"
enum { SAMPLE_MEMORY_ARRAYS = 9 };
size_t sample_memory_list(const struct sample_memory *memory,
                          struct sample_array array[SAMPLE_MEMORY_ARRAYS]);

/*
 * sample_memory_load() takes all from such a list; what is not in it has not
 * begun, other arrays are not looked at.  Refused, and nothing changed, where
 * an array is of another type or shape, or says what cannot be.
 */
int sample_memory_load(struct sample_memory *memory, size_t n,
                       const struct sample_array *array, struct err *err);

#endif
