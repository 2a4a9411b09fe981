#ifndef NN_GRAPH_H
#define NN_GRAPH_H

#include "nn/net.h"
#include "num/norm.h"

/*
 * A network as a list of operators on values.  A value is a map (num/map.h)
 * without its number of images; value 0 is the normalised images.  Operators
 * stand in an order in which they can run; each has the numbers of the values
 * it reads and of the one it writes, and of the first of its tensors:
 *
 *     CONV     weight [out,in,k,k], with `bias` also bias [out]
 *     NORM     batch: weight bias running_mean running_var, all [c];
 *              group: weight bias; none: no tensors
 *     LINEAR   weight [out,in], bias [out]; fixed ones are statistics
 *     TABLE    weight [samples,views,out]; the rows that run->keys names
 *
 * A value is read by at most two operators.
 */
enum nn_op_kind {
    NN_OP_CONV,
    NN_OP_NORM,
    NN_OP_MAX,
    NN_OP_MEAN,
    NN_OP_LINEAR,
    NN_OP_TABLE
};

static const size_t nn_none = (size_t)-1; /* no value, no tensor, no place */

struct nn_op {
    enum nn_op_kind kind;
    size_t in, add, out; /* values; add: of a norm, or nn_none */
    size_t tensor;       /* the first one, or nn_none */
    size_t kernel, stride, pad;
    int bias;
    int relu;
    enum num_norm_kind norm;
    size_t groups;
};

struct nn_graph {
    struct num_map *values;
    struct nn_op *ops;
    struct nn_tensor *tensors;
    size_t n_values, n_ops, n_tensors;
    size_t values_room, ops_room, tensors_room;
    size_t params, statistics; /* floats in the two blocks */
    size_t feature, output;    /* values h and z */
    size_t feature_ops;        /* so many operators lead to h */
};

void nn_graph_release(struct nn_graph *graph);

/* lib/nn/init.c: what nn_net_init(), nn_net_set_basis() write to the blocks. */
void nn_graph_init(const struct nn_graph *graph, uint64_t seed, float *params,
                   float *statistics);
void nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                        float *statistics);

size_t nn_graph_value(struct nn_graph *graph, struct num_map map);

/* Tensors, in the order of the state_dict: nn_graph_conv_tensors() and so on
 * return the number of the first.  `name` is what stands before ".weight". */
size_t nn_graph_conv_tensors(struct nn_graph *graph, const char *name,
                             size_t out, size_t in, size_t kernel, int bias);
size_t nn_graph_norm_tensors(struct nn_graph *graph, const char *name,
                             enum num_norm_kind kind, size_t c);
size_t nn_graph_linear_tensors(struct nn_graph *graph, const char *name,
                               size_t out, size_t in, int fixed);

/* Operators; each returns the value it writes.  Padding keeps h and w at
 * stride 1: kernel / 2. */
size_t nn_graph_conv(struct nn_graph *graph, size_t in, size_t tensor,
                     size_t block, size_t stride);
size_t nn_graph_norm(struct nn_graph *graph, size_t in, size_t tensor,
                     enum num_norm_kind kind, size_t add, int relu);
size_t nn_graph_max(struct nn_graph *graph, size_t in, size_t kernel,
                    size_t stride);
size_t nn_graph_mean(struct nn_graph *graph, size_t in);
size_t nn_graph_linear(struct nn_graph *graph, size_t in, size_t tensor);
size_t nn_graph_table(struct nn_graph *graph, size_t in, size_t samples,
                      size_t views, size_t out);

/* The parts of a network, from value `in` on; each returns the last value.
 * The spec was judged before. */
size_t nn_resnet(struct nn_graph *graph, const struct nn_spec *spec, size_t in);
size_t nn_perceptron(struct nn_graph *graph, const struct nn_spec *spec,
                     size_t in);
size_t nn_head(struct nn_graph *graph, const char *head, size_t in);

/* nn_resnet_depth() returns 1 for the name of a ResNet; nn_resnet_width() its
 * own width. */
int nn_resnet_known(const char *arch);
size_t nn_resnet_width(const struct nn_spec *spec);

/* nn_head_judge() returns 0, or -1 with a sentence. */
int nn_head_judge(const char *head, struct err *err);

#endif
