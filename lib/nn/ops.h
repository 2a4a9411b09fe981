#ifndef NN_OPS_H
#define NN_OPS_H

#include "num/gelu.h"
#include "num/norm.h"

#include "graph.h"

/*
 * The operators: a row for each kind, and below it the functions that put one
 * into a graph.  Row `conv` is the struct nn_operator nn_op_conv in
 * lib/nn/op_conv.c.
 */
#define NN_OPERATORS(ROW) \
    ROW(conv)             \
    ROW(norm)             \
    ROW(max)              \
    ROW(mean)             \
    ROW(linear)           \
    ROW(table)            \
    ROW(layer_norm)       \
    ROW(gelu)             \
    ROW(token_mean)

#define NN_DECLARE(row) extern const struct nn_operator nn_op_##row;
NN_OPERATORS(NN_DECLARE)
#undef NN_DECLARE

/*
 * Those ending in _tensors() add an operator's tensors and return the number
 * of the first; `name` is what stands before ".weight".  The others add the
 * operator and return the value that it writes.
 *
 * nn_graph_conv() convolves with padding kernel / 2 (num/conv.h).
 *     weight [out,in,kernel,kernel], with `bias` also bias [out]
 *   block  of the map that it writes
 */
size_t nn_graph_conv_tensors(struct nn_graph *graph, const char *name,
                             size_t out, size_t in, size_t kernel, int bias);
size_t nn_graph_conv(struct nn_graph *graph, size_t in, size_t tensor,
                     size_t block, size_t stride);

/*
 * nn_graph_norm() normalises (num/norm.h): act(norm(in) + add).
 *     batch: weight bias running_mean running_var, all [c]; group: weight
 *     bias, with up to 32 groups; none: no tensors
 *   add   a value or nn_none; in has parameters before it then
 *   relu  act is max(., 0), else nothing
 */
size_t nn_graph_norm_tensors(struct nn_graph *graph, const char *name,
                             enum num_norm_kind kind, size_t c);
size_t nn_graph_norm(struct nn_graph *graph, size_t in, size_t tensor,
                     enum num_norm_kind kind, size_t add, int relu);

/* nn_graph_max() is max-pooling with padding kernel / 2, nn_graph_mean() the
 * mean over all pixels (num/pool.h). */
size_t nn_graph_max(struct nn_graph *graph, size_t in, size_t kernel,
                    size_t stride);
size_t nn_graph_mean(struct nn_graph *graph, size_t in);

/*
 * nn_graph_linear() is W x + b of each row.
 *     weight [out,in], bias [out]; with `fixed` both are statistics
 *
 * nn_graph_set_basis() is nn_net_set_basis(): fills the fixed one that reads
 * the input.
 */
size_t nn_graph_linear_tensors(struct nn_graph *graph, const char *name,
                               size_t out, size_t in, int fixed);
size_t nn_graph_linear(struct nn_graph *graph, size_t in, size_t tensor);
void nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                        float *statistics);

/*
 * nn_graph_table() looks up the rows of a table that ids name: id / views is
 * the sample, id % views the view.
 *     weight [samples,views,out]
 */
size_t nn_graph_table(struct nn_graph *graph, size_t in, size_t samples,
                      size_t views, size_t out);

/*
 * nn_graph_layer_norm() normalises each row (num/layer_norm.h), nn_graph_gelu()
 * is the activation of transformers (num/gelu.h).
 *     layer norm: weight bias, both [c]
 */
size_t nn_graph_layer_norm_tensors(struct nn_graph *graph, const char *name,
                                   size_t c);
size_t nn_graph_layer_norm(struct nn_graph *graph, size_t in, size_t tensor,
                           double epsilon);
size_t nn_graph_gelu(struct nn_graph *graph, size_t in, enum num_gelu form);

/* nn_graph_token_mean() is the mean over the tokens of each sample, in f32. */
size_t nn_graph_token_mean(struct nn_graph *graph, size_t in);

#endif
