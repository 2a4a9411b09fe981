#pragma once

#include <stddef.h>
#include <stdint.h>

#include "train/checkpoints.h"

/*
 * The features of past epochs: for each of the last `keep` epochs, the latest
 * embeddings of each sample at the end of that epoch, two views of unit length.
 * Selectors plan with them.  Checkpoints have them, so a resumed run plans as
 * if it had not been interrupted.
 *
 * Memory: (keep + 1) 2 size dim floats.  Not for two threads at once.
 */
enum {
    TRAIN_EPOCH_EPOCH, /* the epoch; -1: none */
    TRAIN_EPOCH_STEPS, /* steps in it */
    TRAIN_EPOCH_EVAL,  /* 1: the features are from a pass without training after
                          the epoch's steps */
    TRAIN_EPOCH_FIELDS
};

struct train_epoch {
    int64_t about[TRAIN_EPOCH_FIELDS];
    float *row;     /* [2,size,dim] */
    uint8_t *known; /* [size] 1: the sample has a row */
};

struct train_history {
    size_t size, dim, keep;
    struct train_epoch now, *past; /* [keep], epoch e at e % keep */
};

/* train_history_init() begins without features; keep >= 1. */
void train_history_init(struct train_history *history, size_t size, size_t dim,
                        size_t keep);
void train_history_release(struct train_history *history);

/*
 * train_history_put() stores the rows of a batch of b samples.
 *   ids   [b]      each < size
 *   v     [2,b,dim]
 *   eval  1: from a pass without training
 */
void train_history_put(struct train_history *history, size_t b,
                       const int64_t *ids, const float *v, int eval);

/* train_history_end_epoch() stores the features as those of an epoch that has
 * just ended, and drops those of epoch - keep.  O(size dim). */
void train_history_end_epoch(struct train_history *history, int64_t epoch,
                             int64_t steps);

/* train_history_find() returns the features of an epoch, NULL if they are not
 * stored. */
const struct train_epoch *
train_history_find(const struct train_history *history, int64_t epoch);

/*
 * train_history_copy() copies the rows of up to `most` samples with a row, from
 * id `from` on:
 *   ids [most], z [2,most,dim]; [*n] and [2,*n,dim] of them are written
 * Returns the id of the next sample with a row, or size if there is none.
 */
size_t train_history_copy(const struct train_history *history,
                          const struct train_epoch *entry, size_t from,
                          size_t most, int64_t *ids, float *z, size_t *n);

/*
 * train_history_part() returns the history as a part of a checkpoint: the file
 * features.safetensors; none without history (keep is 0).  Loading reads the
 * newest `keep` epochs.  A missing file is no error; a file of another size or
 * dim is.
 */
struct train_part train_history_part(struct train_history *history);
