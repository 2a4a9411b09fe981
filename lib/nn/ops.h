#ifndef NN_OPS_H
#define NN_OPS_H

#include "num/norm.h"
#include "num/tokens.h"

#include "graph.h"

/*
 * The operators: a row for each kind, and below the functions that add one to a
 * graph.  Row `conv` is the struct nn_operator nn_op_conv in lib/nn/op_conv.c;
 * max and mean are in op_pool.c, operators on tokens in op_tokens.c.
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
 * Functions named _tensors add an operator's tensors and return the number of
 * the first; `name` is the part before ".weight".  The others add the operator
 * and return the value that it writes.
 *
 * nn_graph_conv() is a convolution with padding kernel / 2 (num/conv.h).
 *     weight [out,in,kernel,kernel], with `bias` also bias [out]
 *   block  of the output map
 */
size_t nn_graph_conv_tensors(struct nn_graph *graph, const char *name,
                             size_t out, size_t in, size_t kernel, int bias);
size_t nn_graph_conv(struct nn_graph *graph, size_t in, size_t tensor,
                     size_t block, size_t stride);

/*
 * nn_graph_norm() normalises (num/norm.h): act(norm(in) + add).
 *     batch: weight bias running_mean running_var, all [c]; group: weight
 *     bias, with up to 32 groups; none: no tensors
 *   add   a value, or nn_none; with a value, `in` must depend on parameters
 *   relu  1: act is max(., 0), else the identity
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
 * nn_graph_linear() is W x + b for each row, and adds its tensors;
 * nn_graph_linear_onto() is y + W x + b, with value `onto` as y.
 *     NAME.weight [out,in], NAME.bias [out]; with `fixed` both are statistics
 *
 * nn_graph_set_basis() is nn_net_set_basis(): it fills the fixed layer that
 * reads the input.
 */
struct nn_linear {
    const char *name;
    size_t out;
    int joined;     /* names are NAME_weight, NAME_bias */
    int transposed; /* stores W', [in,out], with the name NAME */
    int no_bias;
    int fixed;
    size_t patch;     /* for images of p x p pixels: W is [out,in / p p,p,p] */
    double deviation; /* initial W is normal, b zero; 0: both are uniform within
                         +-1 / sqrt(in) */
};

size_t nn_graph_linear(struct nn_graph *graph, size_t in,
                       const struct nn_linear *what);
size_t nn_graph_linear_onto(struct nn_graph *graph, size_t in, size_t onto,
                            const struct nn_linear *what);
void nn_graph_set_basis(const struct nn_graph *graph, const float *rows,
                        float *statistics);

/*
 * nn_graph_table() looks up rows of a table by id: id / views is the sample,
 * id % views the view.
 *     table.weight [samples,views,out], initially standard normal
 *
 * nn_graph_embedding() is the same for tokens; rows may be bfloat16.
 *     NAME.weight [ids,out], initially normal with that deviation
 *
 * nn_graph_rows_of() looks up fixed rows, which are statistics.
 *     rows.weight [samples,views,out], zero until they are loaded
 */
size_t nn_graph_rows_of(struct nn_graph *graph, size_t in, size_t samples,
                        size_t views, size_t out);
size_t nn_graph_table(struct nn_graph *graph, size_t in, size_t samples,
                      size_t views, size_t out);
size_t nn_graph_embedding(struct nn_graph *graph, size_t in, const char *name,
                          size_t ids, size_t out, double deviation, int bf16);

/*
 * nn_graph_position() adds the vector of its position in the sample to each
 * token (num/tokens.h).
 *     NAME [context of the graph,c], with `one` [1,context,c]; initially normal
 *     with that deviation; no weight decay
 */
size_t nn_graph_position(struct nn_graph *graph, size_t in, const char *name,
                         int one, double deviation);

/*
 * nn_graph_attention() is attention among the tokens of a sample
 * (num/attention.h).
 *   in    queries, keys and values: one value with rows of 3 c numbers, or
 *         three with rows of c; c is a multiple of `heads`
 */
size_t nn_graph_attention(struct nn_graph *graph, size_t n_in, const size_t *in,
                          size_t heads, int causal);

/*
 * nn_graph_patches() cuts each image into patches of p x p pixels, row by row:
 * the tokens of a sample, of c p p numbers each; h and w are multiples of p.
 * The first token is a row of zeros, for nn_graph_class_token(), which writes
 * its vector over the first token of each sample.
 *     NAME [1,1,c], initially zero; no weight decay
 */
size_t nn_graph_patches(struct nn_graph *graph, size_t in, size_t p);
size_t nn_graph_class_token(struct nn_graph *graph, size_t in,
                            const char *name);

/*
 * nn_graph_layer_norm() normalises each row; nn_graph_gelu()
 * is the activation of transformers (num/tokens.h).
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
