#ifndef SAMPLE_MEMORY_H
#define SAMPLE_MEMORY_H

#include "sample/bank.h"
#include "sample/step.h"
#include "sample/store.h"

/*
 * Where the chain of each (image, view) of a data set stands: 28 bytes each.
 * Views are the slots of a batch, or with finite augmentation the A fixed
 * views of each image.
 *
 *   state [size,views]   {-1, -1, 0} where a chain has not begun
 *   score [size,views]   beta s of the state when it was accepted, which only
 *                        `stale` chains look at; -FLT_MAX at first
 */
struct sample_chains {
    size_t size, views;
    struct sample_state *state;
    float *score;
};

/* sample_chains_init() begins with no chain begun. */
void sample_chains_init(struct sample_chains *chains, size_t size,
                        size_t views);
void sample_chains_release(struct sample_chains *chains);

/*
 * sample_chains_get() copies the chains of a batch out.
 *   ids       [b]    each < size
 *   variants  [v,b]  each < views; NULL: the slots 0 .. v-1, v <= views
 *   state     [v b]  row view * b + i
 *   score     [v b]  or NULL
 */
void sample_chains_get(const struct sample_chains *chains, size_t v, size_t b,
                       const int64_t *ids, const int64_t *variants,
                       struct sample_state *state, float *score);

/* sample_chains_place() returns where the chain of row `row` of a batch is in
 * these arrays: id views + its view. */
size_t sample_chains_place(const struct sample_chains *chains, size_t b,
                           const int64_t *ids, const int64_t *variants,
                           size_t row);

/* sample_chains_set() sets one from outside.  Refused, and not changed, where
 * the state names a sample, a view or an epoch that does not exist, or the
 * score is not finite. */
int sample_chains_set(struct sample_chains *chains, size_t place,
                      struct sample_state state, float score, struct err *err);

/*
 * What a sampler remembers from step to step: how many there were, where its
 * chains stand, its bank of features, the last inverse temperatures.
 *
 * It is kept in tables (sample/store.h), zeros where nothing was written;
 * numbers are little-endian:
 *
 *   chain [N V]    i8 id + 1, i4 view + 1, u4 epoch: where the chain of view v
 *                  of sample i stands, in row V i + v.  Where scores are kept,
 *                  f4 score in place of the epoch.  What was kept before states
 *                  had epochs has a 0 there: a view of epoch 0, as good as any
 *   bank  [slots]  i8 step + 1, i8 id, i4 view, i4 rows of a sample, f4 [d]:
 *                  an update of a row (sample/bank.h), by its slot.  Of those
 *                  of one row the latest counts that is due.  Its rows grow.
 *                  Where a sample has one row, view is 256 epoch + slot of the
 *                  view that it was made of; 0 in what was kept before, which
 *                  is as good as any
 *   beta  [H]      i8 step + 1, f8 beta: of step t, in row t mod H
 */
enum { SAMPLE_HORIZON_MAX = 4096, SAMPLE_MEMORY_TABLES = 3 };

struct sample_memory_form {
    size_t size;    /* of the data set */
    int chains;     /* 1: chains are kept, */
    int scores;     /* and their scores */
    size_t horizon; /* steps by which the bank is behind; 0: there is none */
    int slots;      /* 1: where views are drawn anew the bank has a row of each
                       slot of a batch, as the chains have */
    int recalls;    /* 1: that bank scores states which are not in the batch;
                       it is the latest that there is, horizon 1 */
    size_t most;    /* bytes that are kept, of all tables */
};

/* An inverse temperature; step_1 0: none. */
struct sample_beta_row {
    int64_t step_1;
    double beta;
};

struct sample_memory {
    struct sample_memory_form form;
    int64_t total;                /* steps that it has seen */
    struct sample_chains chains;  /* state NULL: none has begun */
    struct sample_bank bank;      /* rows NULL: none has begun */
    struct sample_beta_row *beta; /* [horizon] */
    int64_t slot;                 /* of the last one */
    /* what the last step has written */
    struct sample_rows rows[SAMPLE_MEMORY_TABLES];
};

/* sample_memory_init() begins without chains and bank, after `total` steps. */
void sample_memory_init(struct sample_memory *memory,
                        const struct sample_memory_form *form, int64_t total);
void sample_memory_release(struct sample_memory *memory);

/*
 * sample_memory_views() returns how many rows of a sample the bank has: one of
 * each fixed view where there are chains, or of each slot; else one.
 */
size_t sample_memory_views(const struct sample_memory *memory,
                           const struct sample_step *step);

/*
 * sample_memory_feed() pushes the rows of step `when` to a bank: all that were
 * encoded where it has one of each view; else of the anchors the first view,
 * and the rows that came along.  Of a row that came twice the last counts.
 *   shows  1: chains may stand at such a row, so it is said which view it is
 */
void sample_memory_feed(struct sample_bank *bank, int64_t when,
                        const struct sample_step *step, int shows);

/*
 * sample_memory_step() remembers a step: writes down where its chains stand,
 * feeds the bank with its rows and its beta, counts it, and brings the bank up
 * to `total - horizon`.  The first time it makes the tables.
 *   state [v b]  where its chains stand; NULL: there are no chains
 *   score [v b]  what that was worth; NULL: scores do not count
 *   to           where the rows that it writes are kept
 *
 * Returns how old the bank was where it was renewed.  O(n (log n + dim)) time.
 */
struct sample_staleness sample_memory_step(struct sample_memory *memory,
                                           const struct sample_step *step,
                                           const struct sample_state *state,
                                           const float *score,
                                           struct arena *to);

/* sample_memory_rows() lists what the last step has written, a table each, and
 * returns how many there are: of sample_memory_step(), as long as its arena. */
size_t sample_memory_rows(const struct sample_memory *memory,
                          struct sample_rows rows[SAMPLE_MEMORY_TABLES]);

/*
 * sample_memory_load() takes all from the tables, which hold the rows written
 * up to `total`.  Refused, and nothing changed, where a table is missing or of
 * another shape, there is another one, or a row says something impossible.
 */
int sample_memory_load(struct sample_memory *memory,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/*
 * sample_memory_beta() returns the inverse temperature of a step that the bank
 * waits for, or of the nearest before that is known, or after; 0 when none is.
 */
double sample_memory_beta(const struct sample_memory *memory, int64_t step);

#endif
