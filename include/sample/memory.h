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

/* sample_chains_place() returns the index of the chain of row `row` of a batch
 * in state and score: id * views + its view. */
size_t sample_chains_place(const struct sample_chains *chains, size_t b,
                           const int64_t *ids, const int64_t *variants,
                           size_t row);

/* sample_chains_set() sets the chain at an index to a state from outside.
 * -1, and nothing changed, where the state names a sample, a view or an epoch
 * that does not exist, or the score is not finite. */
int sample_chains_set(struct sample_chains *chains, size_t place,
                      struct sample_state state, float score, struct err *err);

/*
 * What a sampler remembers from step to step: the number of steps, where its
 * chains stand, its bank of features, the last inverse temperatures.
 *
 * A trainer keeps it in tables (sample/store.h), zeros where nothing was
 * written; numbers are little-endian:
 *
 *   chain [N V]    i8 id + 1, i4 view + 1, u4 epoch: where the chain of view v
 *                  of sample i stands, in row V i + v.  Where scores are kept,
 *                  f4 score in place of the epoch.  Epoch 0 in tables that were
 *                  written before states had epochs
 *   bank  [slots]  i8 step + 1, i8 id, i4 view, i4 rows of a sample, f4 [d]:
 *                  an update of a row (sample/bank.h), by its slot.  Of several
 *                  updates of one row the latest that is due counts.  The table
 *                  gets more rows with time.  Where a sample has one row, view
 *                  is 256 epoch + slot of the view that it was made of; 0 in
 *                  older tables
 *   beta  [H]      i8 step + 1, f8 beta: of step t, in row t mod H
 */
enum { SAMPLE_HORIZON_MAX = 4096, SAMPLE_MEMORY_TABLES = 3 };

struct sample_memory_form {
    size_t size;    /* of the data set */
    int chains;     /* 1: chains are kept, */
    int scores;     /* and their scores */
    size_t horizon; /* steps by which the bank is behind; 0: there is none */
    int slots;      /* 1: where views are drawn anew the bank has a row for each
                       slot of a batch, as the chains have */
    int recalls;    /* 1: the bank scores states which are not in the batch;
                       horizon is 1, the latest features that there are */
    size_t most;    /* bytes of all tables, at most */
};

/* An inverse temperature; step_1: step + 1, or 0: none. */
struct sample_beta_row {
    int64_t step_1;
    double beta;
};

struct sample_memory {
    struct sample_memory_form form;
    int64_t total;                /* steps remembered so far */
    struct sample_chains chains;  /* state NULL: none has begun */
    struct sample_bank bank;      /* rows NULL: none has begun */
    struct sample_beta_row *beta; /* [horizon] */
    int64_t slot;                 /* in beta, of the last one */
    /* what the last step has written */
    struct table_rows rows[SAMPLE_MEMORY_TABLES];
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
                           const struct batch *step);

/*
 * sample_memory_feed() pushes the embeddings of step `when` to a bank: all of
 * them where the bank has a row for each view; else those of view 0 and of the
 * extra samples.  Where a row comes twice the last counts.
 *   shows  1: chains may stand at such a row, so its view is recorded, too
 */
void sample_memory_feed(struct sample_bank *bank, int64_t when,
                        const struct batch *step, int shows);

/*
 * sample_memory_step() remembers a step: writes down where its chains stand,
 * feeds the bank with its rows and its beta, counts it, and brings the bank up
 * to `total - horizon`.  The first time it makes the tables.
 *   state [v b]  where its chains stand; NULL: there are no chains
 *   score [v b]  scores of these states; NULL: scores are not kept
 *   to           holds the rows that are written, for sample_memory_rows()
 *
 * Returns how old the bank was where it was renewed.  O(n (log n + dim)) time.
 */
struct sample_staleness sample_memory_step(struct sample_memory *memory,
                                           const struct batch *step,
                                           const struct sample_state *state,
                                           const float *score,
                                           struct arena *to);

/* sample_memory_rows() lists the rows that the last sample_memory_step() wrote,
 * an entry for each table, and returns the number of tables.  The rows live in
 * the arena `to` of that call. */
size_t sample_memory_rows(const struct sample_memory *memory,
                          struct table_rows rows[SAMPLE_MEMORY_TABLES]);

/*
 * sample_memory_load() takes all from tables, which hold the rows of `total`
 * steps.  -1, and nothing changed, where a table is missing, unknown or of
 * another shape, or a row says something impossible.
 */
int sample_memory_load(struct sample_memory *memory,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/*
 * sample_memory_beta() returns the inverse temperature of a step, of the last
 * `horizon` ones; where it is not known that of the nearest step before, else
 * after; 0 where none is known.
 */
double sample_memory_beta(const struct sample_memory *memory, int64_t step);

#endif
