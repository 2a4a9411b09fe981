#ifndef TRAIN_EXTERNAL_H
#define TRAIN_EXTERNAL_H

#include "loss/objective.h"

/*
 * The objective `external`: a loss that the program of an encoder computes
 * (train/process.h), with its gradient by the embeddings.  Its row is like
 * those of loss_objectives, with by_encoder instead of run() and direct(), and
 * without state.  Its temperature is a hint for strategies.
 *
 * `external-weighed` is the same for a loss with weights of negatives: the
 * program gets the weights of a sampler of struct train_negatives.  Its
 * temperature is the sampler's.
 */
extern const struct loss_objective train_external, train_external_weighed;

/* train_find_objective() is loss_objective_find() with these two added. */
const struct loss_objective *train_find_objective(const char *name,
                                                  struct err *err);

#endif
