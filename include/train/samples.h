#pragma once

#include <stddef.h>
#include <stdint.h>

#include "loss/objective.h"
#include "sample/store.h"
#include "train/checkpoints.h"
#include "train/config.h"
#include "util/batch.h"
#include "util/err.h"

/*
 * The state of each sample, by id: the objective's columns (loss/objective.h),
 * tables of a sampler of negatives (sample/store.h), and a list of the samples
 * that could not be used.  Not for two threads at once.
 *
 * If the objective has sides (columns for each view) and view 1 is one of up to
 * K captions, the columns of view 1 belong to the caption: caption k of sample
 * i has row i K + k.
 */
struct train_samples {
    const struct loss_objective *objective;
    const struct train_state *state; /* of the run; the caller's */
    size_t size;                     /* of the data set */
    size_t captions; /* K; 0: view 1 is another view of the sample */
    float *column;   /* [size,objective->columns]; if the objective has sides,
                        followed by the rows of view 1, `size` of them or
                        [size,K] */
    struct sample_store store; /* state of a sampler */
    size_t bad, room;
    int64_t (*quarantine)[4]; /* [bad]: sample, substitute, epoch, step */
};

/* train_samples_init() starts with the objective's initial values. */
void train_samples_init(struct train_samples *samples,
                        const struct loss_objective *objective, size_t size,
                        size_t captions, const struct train_state *state);
void train_samples_release(struct train_samples *samples);

/*
 * train_samples_get() reads the columns of a batch's samples, and
 * train_samples_put() writes them.
 *   batch  b, ids, each < size, and if K > 0 captions, each < K
 *   state  [n,columns]; [2n,columns] if the objective has sides
 */
void train_samples_get(const struct train_samples *samples,
                       const struct batch *batch, float *state);
void train_samples_put(struct train_samples *samples, const struct batch *batch,
                       const float *state);

/* train_samples_quarantine() records the samples of a batch that were replaced,
 * and their substitutes. */
void train_samples_quarantine(struct train_samples *samples,
                              const struct batch *batch);

/*
 * Write and read the file samples.safetensors in a folder: a tensor for each
 * column, [size], or [size,K] for view 1 with captions; table NAME of a sampler
 * as `sampler.NAME`, u1 [rows,width], with the sampler's name and the steps
 * trained in the metadata `sampler` and `total`; the list of samples that could
 * not be used as `quarantine`.  After an error in load everything is undefined.
 * A file with a sampler's state from before version 2 of the protocol is
 * refused, as is a file with another number of captions.
 *   samples  a struct train_samples; void * suits a checkpoint's part
 */
int train_samples_save(void *samples, const char *folder, struct err *err);
int train_samples_load(void *samples, const char *folder, struct err *err);

/* train_samples_part() returns the samples as a part of a checkpoint.  A
 * rollback does not change the list of samples that could not be used; after an
 * error in it nothing has changed. */
struct train_part train_samples_part(struct train_samples *samples);
