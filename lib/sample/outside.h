#ifndef SAMPLE_OUTSIDE_H
#define SAMPLE_OUTSIDE_H

#include "sample/bank.h"
#include "sample/emc2.h"
#include "sample/step.h"
#include "util/arena.h"

/*
 * States of chains that are no row of a batch.
 *
 * sample_outside() keeps of `wanted` states those, each once, in the order of
 * sample, view and epoch, and returns how many there are.
 *   batch  v, b, ids, variants and epoch count
 *   want   [wanted]
 *   own    [v b] scratch
 */
size_t sample_outside(const struct sample_batch *batch, size_t wanted,
                      struct sample_state *want, struct sample_state *own);

/* What a bank knows of such states. */
struct sample_recall {
    size_t n;
    int64_t *ids, *view; /* [n] in the order of sample and view */
    float *z;            /* [n,dim] */
};

/*
 * sample_recall() lists the states of a batch's chains that are none of its
 * rows and that the bank, which has a row of each view, has features of.
 *   state  [v b]
 *   to     where the list is
 */
struct sample_recall sample_recall(struct arena *to,
                                   const struct sample_bank *bank,
                                   const struct sample_step *step,
                                   const struct sample_state *state);

/* sample_recall_find() returns where a state is in that list, or n. */
size_t sample_recall_find(const struct sample_recall *recall,
                          struct sample_state state);

#endif
