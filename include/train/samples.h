#ifndef TRAIN_SAMPLES_H
#define TRAIN_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

#include "loss/objective.h"
#include "sample/store.h"
#include "train/batch.h"
#include "train/part.h"
#include "train/state.h"
#include "util/err.h"

/*
 * What a run keeps of each sample, by id: the objective's columns
 * (loss/objective.h), tables for a sampler of negatives (sample/store.h), and
 * which samples could not be used, when.  Not for two threads at once.
 */
struct train_samples {
    const struct loss_objective *objective;
    const struct train_state *state; /* of the run; lent */
    size_t size;                     /* of the data set */
    float *column;                   /* [size,objective->columns]; where the
                                        objective has sides, that of view 1
                                        behind that of view 0 */
    struct sample_store store;       /* what a sampler wants kept */
    size_t bad, room;
    int64_t (*quarantine)[4]; /* [bad]: wanted, used, epoch, step */
};

/* train_samples_init() begins with the objective's initial values. */
void train_samples_init(struct train_samples *samples,
                        const struct loss_objective *objective, size_t size,
                        const struct train_state *state);
void train_samples_release(struct train_samples *samples);

/* train_samples_get() copies the columns of b samples out, _put() in.
 *   ids    [b]  each < size
 *   state  [b,columns]; [2b,columns] where the objective has sides */
void train_samples_get(const struct train_samples *samples, size_t b,
                       const int64_t *ids, float *state);
void train_samples_put(struct train_samples *samples, size_t b,
                       const int64_t *ids, const float *state);

/* train_samples_refuse() records the samples of a batch that were replaced,
 * with their substitutes. */
void train_samples_refuse(struct train_samples *samples,
                          const struct train_batch *batch);

/*
 * The file samples.safetensors in a folder: a tensor for each column; the table
 * NAME of a sampler as `sampler.NAME`, u1 [rows,width], and in the metadata
 * `sampler`, whose they are, and `total`, the steps trained; the samples that
 * could not be used as `quarantine`.
 *
 * train_samples_revert() loads it too, but keeps the samples that could not be
 * used as they are: for going back to an earlier step.  On error revert has
 * changed nothing; after load all is undefined.  A file in which a sampler's
 * state is laid out as before version 2 of the protocol is refused.
 */
int train_samples_save(const struct train_samples *samples, const char *folder,
                       struct err *err);
int train_samples_load(struct train_samples *samples, const char *folder,
                       struct err *err);
int train_samples_revert(struct train_samples *samples, const char *folder,
                         struct err *err);

/* train_samples_part() returns them as a part of a checkpoint. */
struct train_part train_samples_part(struct train_samples *samples);

#endif
