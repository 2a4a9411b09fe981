#pragma once

#include <stddef.h>

#include "nn/model.h"

/*
 * The mean of a net's weights over training steps, which averages out the noise
 * of single steps:
 *
 *     m_k = m_(k-1) + (p_k - m_(k-1)) / k
 *
 * p_k are the parameters after the k-th step that was added (Polyak and
 * Juditsky 1992, doi:10.1137/0330046; over the last part of a run: Rakhlin,
 * Shamir and Sridharan 2012, arXiv:1109.5647).  The mean is in double, because
 * one step may change the mean of many by less than a float resolves.  Running
 * statistics of batch norm are not averaged.
 *
 * In a checkpoint: average.safetensors, text-average.safetensors for a text
 * encoder; F64, named and shaped as the net's tensors, and "steps", an I64.
 * Not thread-safe.
 */
struct nn_average {
    double *mean; /* [parameters of the net]; NULL: empty */
    long steps;   /* k */
};

/* nn_average_init() starts with no step; nn_average_release() frees the mean,
 * also that of a zeroed struct. */
void nn_average_init(struct nn_average *average, struct nn_net *net);
void nn_average_release(struct nn_average *average);

/* nn_average_add() adds the current weights of the net, as one step. */
void nn_average_add(struct nn_average *average, struct nn_net *net);

/*
 * nn_average_save() writes the file into a checkpoint's folder, unless there
 * was no step; `blocks` has the names and shapes of its tensors.
 * nn_average_load() reads it, and starts with no step if there is no file.  It
 * returns -1 if the file has other tensors; then the mean is undefined.
 */
int nn_average_save(const char *folder, const struct nn_weights *blocks,
                    const struct nn_average *average, struct err *err);
int nn_average_load(const char *folder, const struct nn_weights *blocks,
                    struct nn_average *average, struct err *err);

/* nn_average_use() replaces the weights of an opened encoder, `blocks`, by the
 * mean in its checkpoint, and adds "average", the number of steps, to
 * model->about.  Returns -1 if the checkpoint has no mean. */
int nn_average_use(struct nn_model *model, const struct nn_weights *blocks,
                   struct err *err);
