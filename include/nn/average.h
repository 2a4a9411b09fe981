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
 * where p_k are the parameters after the k-th of the steps that count (Polyak
 * and Juditsky 1992, doi:10.1137/0330046; over the last part of a run: Rakhlin,
 * Shamir and Sridharan 2012, arXiv:1109.5647).  The mean is in double, for one
 * step changes a mean of many by less than a float resolves.  Running
 * statistics, as those of batch norm, are not averaged.
 *
 * In a checkpoint: average.safetensors, text-average.safetensors for an encoder
 * of texts; F64, named and shaped as the net's tensors, and "steps", an I64.
 * Not for two threads at once.
 */
struct nn_average {
    double *mean; /* [parameters of the net]; NULL: empty */
    long steps;   /* k */
};

/* nn_average_init() begins with no step; nn_average_release() frees the mean,
 * harmless on an empty one. */
void nn_average_init(struct nn_average *average, struct nn_net *net);
void nn_average_release(struct nn_average *average);

/* nn_average_add() adds the weights that the net has now, as one step. */
void nn_average_add(struct nn_average *average, struct nn_net *net);

/*
 * nn_average_save() writes the file into a checkpoint's folder, if there has
 * been a step; `blocks` names and shapes its tensors.  nn_average_load() reads
 * it, and begins with no step where there is none.  -1 where the file is not of
 * such a net: then the mean is undefined.
 */
int nn_average_save(const char *folder, const struct nn_weights *blocks,
                    const struct nn_average *average, struct err *err);
int nn_average_load(const char *folder, struct nn_net *net,
                    struct nn_average *average, struct err *err);

/*
 * nn_average_use() gives an opened encoder the mean of its checkpoint in place
 * of the last weights, and adds "average", the number of steps, to
 * model->about.  -1 where the checkpoint has none.
 */
int nn_average_use(struct nn_model *model, struct err *err);

#endif
