#pragma once

#include "nn/net.h"
#include "num/map.h"
#include "num/norm.h"
#include "num/tokens.h"

/*
 * A network as a list of operators on values.  A value is a map (num/map.h)
 * without its number of rows: it has one for each sample of the batch, or one
 * for each token of all samples, packed.  Value 0 is the input (struct
 * nn_input): normalised images, rows, or ids as i32.  Operators are in an order
 * in which they can run.  Each writes one value, and any number of operators
 * may read it.  Each kind of operator has a file lib/nn/op_*.c with its struct
 * nn_operator (lib/nn/operator.h).
 */
struct nn_operator;

enum { NN_INPUTS = 3 }; /* maximum values that one operator reads */

static const size_t nn_none =
    (size_t)-1; /* no value, tensor, place, operator */

struct nn_value {
    struct num_map map;
    int tokens;           /* 1: a row for each token, else for each sample */
    int has_grad;         /* 1: it depends on parameters, so has a gradient */
    size_t writer;        /* operator; nn_none for the input */
    size_t readers, last; /* number of operators that read it; the last one */
};

struct nn_op {
    const struct nn_operator *is;
    size_t n_in, in[NN_INPUTS], out; /* values */
    size_t tensor;                   /* its first tensor, or nn_none */
    void *set; /* settings, a struct of its file; owned by the graph */
};

/* The initial values of a tensor: uniform within +-bound, if that is not 0;
 * else normal with the deviation, if that is not 0; else all `value`. */
struct nn_initial {
    double bound, deviation;
    float value;
};

struct nn_graph {
    enum nn_input_kind input;
    int rows;  /* 1: its images are rows of f4 */
    int texts; /* 1: it is the encoder of texts, by tokens or rows */
    struct nn_value *values;
    struct nn_op *ops;
    struct nn_tensor *tensors;
    struct nn_initial *initial; /* [n_tensors] */
    size_t n_values, n_ops, n_tensors;
    size_t values_room, ops_room, tensors_room, initial_room;
    size_t params, statistics; /* floats in the two blocks */
    size_t fixed;   /* floats at the start of statistics that never change */
    size_t ids;     /* number of ids, if it reads ids */
    size_t context; /* maximum tokens of a sample; 0: no tokens */
    size_t each;    /* tokens of each sample, if an operator makes them */
    size_t feature, output; /* values h and z */
    size_t feature_ops;     /* the first `feature_ops` operators compute h */
};

void nn_graph_release(struct nn_graph *graph);

/* nn_graph_input() adds value 0: images or rows of this map, or ids. */
size_t nn_graph_input(struct nn_graph *graph, enum nn_input_kind kind,
                      struct num_map map);

/*
 * nn_graph_tensor() appends the tensor NAME.LAST, or NAME if `last` is NULL, to
 * one of the two blocks and returns its number; its initial values are 0 unless
 * the caller sets graph->initial.  Tensors are in the order of the state_dict.
 */
size_t nn_graph_tensor(struct nn_graph *graph, const char *name,
                       const char *last, int statistic, size_t rank,
                       const size_t *shape);

/*
 * nn_graph_add() appends an operator and the value that it writes, and returns
 * the number of the value; nn_graph_add_one() appends an operator that reads
 * one value, `in`.
 *   op      without `out` and `set`; its inputs have all a row for each sample,
 *           or all a row for each token
 *   tensor  its first tensor, or nn_none
 *   map     of the value, which has as many rows (except with
 *           nn_operator.pools)
 *   set     [bytes] settings of the operator, copied; NULL: none
 */
size_t nn_graph_add(struct nn_graph *graph, struct nn_op op, struct num_map map,
                    const void *set, size_t bytes);
size_t nn_graph_add_one(struct nn_graph *graph, const struct nn_operator *is,
                        size_t in, size_t tensor, struct num_map map,
                        const void *set, size_t bytes);

/* nn_graph_tokens() returns the number of tokens of a batch. */
size_t nn_graph_tokens(const struct nn_graph *graph,
                       const struct nn_input *input);

/* nn_graph_is_result() returns 1 for h and z, which the caller reads. */
int nn_graph_is_result(const struct nn_graph *graph, size_t value);

/* nn_graph_rows() returns the map of rows of c f32 numbers; their layout does
 * not depend on the block. */
struct num_map nn_graph_rows(size_t c);

/* nn_graph_init() is nn_net_init() on the blocks. */
void nn_graph_init(const struct nn_graph *graph, uint64_t seed, float *params,
                   float *statistics);

/* nn_head() adds a projection head after value `in` and returns the last value.
 * The spec is valid.  "project:N" has another name and layout for a text tower
 * than for an image tower. */
size_t nn_head(struct nn_graph *graph, const char *head, size_t in);

/* nn_head_check() returns 0 for a valid head, else -1 with the reason. */
int nn_head_check(const char *head, struct err *err);

/* The operators: a row for each kind, and below the functions that add one to a
 * graph.  Row `conv` is the struct nn_operator nn_op_conv in lib/nn/op_conv.c;
 * max and mean are in op_pool.c, operators on tokens in op_tokens.c. */
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
 *     weight [out,in,kernel,kernel], a statistic if `fixed`; with `bias` also
 *     bias [out]
 *   block  of the output map
 */
size_t nn_graph_conv_tensors(struct nn_graph *graph, const char *name,
                             size_t out, size_t in, size_t kernel, int bias,
                             int fixed);
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
 * nn_graph_set_basis() is nn_net_set_basis(): it fills the fixed layer or
 * filters that read the input.
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
 * nn_graph_layer_norm() normalises each row ; nn_graph_gelu()
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
