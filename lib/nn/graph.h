#ifndef NN_GRAPH_H
#define NN_GRAPH_H

#include "nn/net.h"
#include "num/map.h"

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

enum { NN_INPUTS = 3 }; /* the most values that one operator reads */

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
    struct nn_value *values;
    struct nn_op *ops;
    struct nn_tensor *tensors;
    struct nn_initial *initial; /* [n_tensors] */
    size_t n_values, n_ops, n_tensors;
    size_t values_room, ops_room, tensors_room, initial_room;
    size_t params, statistics; /* floats in the two blocks */
    size_t fixed;   /* floats at the start of statistics that never change */
    size_t ids;     /* number of ids, if it reads ids */
    size_t context; /* the most tokens of a sample; 0: no tokens */
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

#endif
