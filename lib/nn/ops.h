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
    ROW(token_mean)       \
    ROW(token_pick)       \
    ROW(position)         \
    ROW(attention)        \
    ROW(patches)          \
    ROW(class_token)

#define NN_DECLARE(row) extern const struct nn_operator nn_op_##row;
NN_OPERATORS(NN_DECLARE)
#undef NN_DECLARE

/*
 * Functions whose names end in _tensors add an operator's tensors and return
 * the number of the first; `name` is what stands before ".weight".  The others
 * add the operator and return the value that it writes.
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
 * nn_graph_linear() adds W x + b of each row, with its tensors;
 * nn_graph_linear_onto() adds that to another value, of as many numbers.
 *     NAME.weight [out,in], NAME.bias [out]; with `fixed` both are statistics
 *
 * nn_graph_set_basis() is nn_net_set_basis(): fills the fixed one that reads
 * the input.
 */
struct nn_linear {
    const char *name;
    size_t out;
    int joined; /* NAME_weight, NAME_bias */
    int across; /* W' is kept, [in,out], and NAME is all of its name */
    int no_bias;
    int fixed;
    size_t patch;     /* of images of p x p pixels: W is [out,in / p p,p,p] */
    double deviation; /* W begins normal, b zero; 0: both uniform within
                         +-1 / sqrt(in) */
};

size_t nn_graph_linear(struct nn_graph *graph, size_t in,
                       const struct nn_linear *what);
size_t nn_graph_linear_onto(struct nn_graph *graph, size_t in, size_t onto,
                            const struct nn_linear *what);
void nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                        float *statistics);

/*
 * nn_graph_table() looks up the rows of a table that ids name: id / views is
 * the sample, id % views the view.
 *     table.weight [samples,views,out], from a standard normal distribution
 *
 * nn_graph_embedding() is the same for tokens, whose rows may be bfloat16.
 *     NAME.weight [ids,out], normal of that deviation
 *
 * nn_graph_rows_of() looks up rows that are given and stay: a statistic.
 *     rows.weight [samples,views,out], zero until they are loaded
 */
size_t nn_graph_rows_of(struct nn_graph *graph, size_t in, size_t samples,
                        size_t views, size_t out);
size_t nn_graph_table(struct nn_graph *graph, size_t in, size_t samples,
                      size_t views, size_t out);
size_t nn_graph_embedding(struct nn_graph *graph, size_t in, const char *name,
                          size_t ids, size_t out, double deviation, int bf16);

/*
 * nn_graph_position() adds to each token the vector of its place in the sample
 * (num/tokens.h).
 *     NAME [context of the graph,c], with `one` [1,context,c]; normal of that
 *     deviation; no weight decay
 */
size_t nn_graph_position(struct nn_graph *graph, size_t in, const char *name,
                         int one, double deviation);

/*
 * nn_graph_attention() lets the tokens of a sample see each other
 * (num/attention.h).
 *   in    queries, keys and values: one value of 3 c numbers a row, or three
 *         of c; c is a multiple of `heads`
 */
size_t nn_graph_attention(struct nn_graph *graph, size_t n_in, const size_t *in,
                          size_t heads, int causal);

/*
 * nn_graph_patches() cuts each image into patches of p x p pixels, which are
 * the tokens of a sample, row by row, as c p p numbers; h and w are multiples
 * of p.  In front of them is a row of zeros, for nn_graph_class_token(), which
 * writes its vector over the first token of each sample.
 *     NAME [1,1,c], zeros to begin with; no weight decay
 */
size_t nn_graph_patches(struct nn_graph *graph, size_t in, size_t p);
size_t nn_graph_class_token(struct nn_graph *graph, size_t in,
                            const char *name);

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

/* nn_graph_token_pick() is the first token of each sample, or the last. */
enum nn_pick { NN_FIRST, NN_LAST };
size_t nn_graph_token_pick(struct nn_graph *graph, size_t in,
                           enum nn_pick which);

#endif
