#pragma once

#include "sample/bank.h"
#include "sample/step.h"
#include "sample/store.h"

/*
 * The state of the chain of each (image, view) of a data set: 28 bytes each.
 * Views are the slots of a batch, or with finite augmentation the A fixed
 * views of each image.
 *
 *   state [size,views]   {-1, -1, 0} if a chain has not begun
 *   score [size,views]   beta s of the state when it was accepted, for `stale`
 *                        chains only; -FLT_MAX at first
 */
struct sample_chains {
    size_t size, views;
    struct sample_state *state;
    float *score;
};

/* sample_chains_init() makes chains without a state. */
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

/* sample_chains_index() returns the index of the chain of row `row` of a batch
 * in state and score: id * views + its view. */
size_t sample_chains_index(const struct sample_chains *chains, size_t b,
                           const int64_t *ids, const int64_t *variants,
                           size_t row);

/* sample_chains_set() sets the state and score of the chain at an index.
 * Returns -1 and changes nothing if the state names a sample, a view or an
 * epoch that does not exist, or if the score is not finite. */
int sample_chains_set(struct sample_chains *chains, size_t index,
                      struct sample_state state, float score, struct err *err);

/*
 * What a sampler remembers from step to step: the number of steps, the states
 * of its chains, its bank of features, the last inverse temperatures.
 *
 * A trainer stores it in tables (sample/store.h); rows that were never written
 * are zeros.  Numbers are little-endian:
 *
 *   chain [N V]    i8 id + 1, i4 view + 1, u4 epoch: the state of the chain of
 *                  view v of sample i, in row V i + v.  With scores, f4 score
 *                  replaces the epoch.  Epoch 0 in tables from before states
 *                  had epochs
 *   bank  [slots]  i8 step + 1, i8 id, i4 view, i4 rows of a sample, f4 [d]:
 *                  an update of a row (sample/bank.h), by its slot.  Of several
 *                  updates of one row the latest that is due counts.  The table
 *                  grows with time.  If a sample has one row, view is 256 epoch
 *                  + slot of the view that the row was computed from; 0 in
 *                  older tables
 *   beta  [H]      i8 step + 1, f8 beta: of step t, in row t mod H
 */
enum { SAMPLE_HORIZON_MAX = 4096, SAMPLE_MEMORY_TABLES = 3 };

struct sample_memory_form {
    size_t size;    /* of the data set */
    int chains;     /* 1: there are chains */
    int scores;     /* 1: chains have scores */
    size_t horizon; /* steps by which the bank is delayed; 0: no bank */
    int slots;      /* 1: where each epoch makes new views, the bank has a row
                       for each slot of a batch, as the chains have */
    int views;      /* 1: if views are fixed, the bank has a row for each, as
                       with chains */
    int recalls;    /* 1: the bank scores states that are not in the batch;
                       horizon is 1, the latest features available */
    size_t most;    /* largest size of all tables, in bytes */
};

/* An inverse temperature; step_1 is step + 1, or 0 for none. */
struct sample_beta_row {
    int64_t step_1;
    double beta;
};

struct sample_memory {
    struct sample_memory_form form;
    int64_t total;                /* steps remembered so far */
    struct sample_chains chains;  /* state NULL: not made yet */
    struct sample_bank bank;      /* rows NULL: not made yet */
    struct sample_beta_row *beta; /* [horizon] */
    int64_t slot;                 /* of the last one in beta */
    /* rows that the last step wrote */
    struct table_rows rows[SAMPLE_MEMORY_TABLES];
};

/* sample_memory_init() makes a memory without chains and bank, after `total`
 * steps. */
void sample_memory_init(struct sample_memory *memory,
                        const struct sample_memory_form *form, int64_t total);
void sample_memory_release(struct sample_memory *memory);

/* sample_memory_views() returns how many rows of a sample the bank has: with
 * chains or form.views, one for each fixed view; one for each slot; else
 * one. */
size_t sample_memory_views(const struct sample_memory *memory,
                           const struct batch *step);

/*
 * sample_memory_push() pushes the embeddings of step `when` to a bank: all of
 * them if the bank has a row for each view; else those of view 0 and of the
 * extra samples.  Of several embeddings for one row the last counts.
 *   with_views  1: record the view of each row, because it may become the state
 *               of a chain
 */
void sample_memory_push(struct sample_bank *bank, int64_t when,
                        const struct batch *step, int with_views);

/*
 * sample_memory_step() remembers a step: it stores the states of its chains,
 * pushes its rows and its beta to the bank, counts it, and advances the bank to
 * `total - horizon`.  The first call makes the tables.
 *   state [v b]  states of its chains; NULL: no chains
 *   score [v b]  scores of these states; NULL: no scores
 *   to           arena for the rows that sample_memory_rows() lists
 *
 * Returns how old the overwritten rows of the bank were.  O(n (log n + dim))
 * time.
 */
struct sample_staleness sample_memory_step(struct sample_memory *memory,
                                           const struct batch *step,
                                           const struct sample_state *state,
                                           const float *score,
                                           struct arena *to);

/* sample_memory_rows() lists the rows that the last sample_memory_step() wrote,
 * one entry for each table, and returns the number of tables.  The rows are in
 * the arena `to` of that call. */
size_t sample_memory_rows(const struct sample_memory *memory,
                          struct table_rows rows[SAMPLE_MEMORY_TABLES]);

/* sample_memory_load() restores a memory from the tables of `total` steps.
 * Returns -1 and changes nothing if a table is missing, unknown or of another
 * shape, or if a row is invalid. */
int sample_memory_load(struct sample_memory *memory,
                       const struct sample_store *store, int64_t total,
                       struct err *err);

/* sample_memory_beta() returns the inverse temperature of one of the last
 * `horizon` steps.  If it is unknown: that of the nearest earlier step, else of
 * the nearest later one, else 0. */
double sample_memory_beta(const struct sample_memory *memory, int64_t step);
