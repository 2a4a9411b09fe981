#ifndef TRAIN_OWN_H
#define TRAIN_OWN_H

#include "loss/objective.h"

/*
 * The objective `own`: a loss that the program of an encoder computes itself
 * (train/process.h), with its gradient by the embeddings.  Its row is one as in
 * the table loss_objectives, with by_encoder in place of run() and direct(),
 * and no state; its temperature is a hint for strategies.
 *
 * `own-weighed` is the same for a loss that weighs negatives: the program gets
 * the weights of any sampler of struct train_negatives.  Its temperature is
 * that of the sampler.
 */
extern const struct loss_objective train_own, train_own_weighed;

/* train_find_objective() is loss_objective_find(), and finds these two, too. */
const struct loss_objective *train_find_objective(const char *name,
                                                  struct err *err);

#endif
