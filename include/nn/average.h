#ifndef NN_AVERAGE_H
#define NN_AVERAGE_H

#include <stddef.h>

#include "nn/model.h"

/*
 * The mean of a net's weights over steps of its training: the noise that each
 * step adds to the last weights is averaged out.
 *
 *     m_k = m_(k-1) + (p_k - m_(k-1)) / k
 *
 * p_k are the parameters after the k-th of the steps that count.  Polyak and
 * Juditsky 1992, doi:10.1137/0330046; of the last part of a run: Rakhlin,
 * Shamir and Sridharan 2012, arXiv:1109.5647.  In double, for a step moves a
 * mean of many by less than floats can tell.  Running statistics, as those of
 * batch norm, are not averaged.
 *
 * In a checkpoint: average.safetensors, text-average.safetensors for an encoder
 * of texts; F64, named and shaped as the net's tensors, and "steps", an I64.
 * Not for two threads at once.
 */
struct nn_average {
    double *mean; /* [count] parameters; NULL: of none */
    long steps;   /* k */
};

/* nn_average_init() begins with no step; nn_average_release() frees the mean,
 * harmless on an empty one. */
void nn_average_init(struct nn_average *average, struct nn_net *net);
void nn_average_release(struct nn_average *average);

/* nn_average_add() takes in the weights that the net has now: O(count). */
void nn_average_add(struct nn_average *average, struct nn_net *net);

/*
 * nn_average_save() writes the file, of parameters as those in the blocks, if
 * there has been a step.
 * nn_average_load() reads it; without one there has been no step.  -1 where it
 * is not of such a net: then the mean is undefined.
 */
int nn_average_save(const char *folder, const struct nn_weights *blocks,
                    const struct nn_average *average, struct err *err);
int nn_average_load(const char *folder, struct nn_net *net,
                    struct nn_average *average, struct err *err);

/*
 * nn_average_use() gives an opened encoder the mean of its checkpoint instead
 * of the last weights, and says so in model->about: "average", the steps.  -1
 * where the checkpoint has none.
 */
int nn_average_use(struct nn_model *model, struct err *err);

#endif
