#ifndef NN_GRAPH_H
#define NN_GRAPH_H

#include "nn/net.h"
#include "num/map.h"

/*
 * A network as a list of operators on values.  A value is a map (num/map.h)
 * without its number of rows: one for each sample of the batch, or one for each
 * token of all samples, packed end to end.  Value 0 is the input (struct
 * nn_input): normalised images, rows, or ids as i32.  Operators are listed
 * in an order in which they can run.  Each writes one value, and any number of
 * operators may read it.  What an operator does is written in a file of its
 * own (lib/nn/op_*.c) behind struct nn_operator (lib/nn/operator.h).
 */
struct nn_operator;

enum { NN_INPUTS = 3 }; /* the most values that one operator reads */

static const size_t nn_none =
    (size_t)-1; /* no value, tensor, place, operator */

struct nn_value {
    struct num_map map;
    int tokens;           /* a row for each token, else for each sample */
    int learnt;           /* it depends on parameters: it has a gradient */
    size_t writer;        /* operator; nn_none of the input */
    size_t readers, last; /* how many operators read it, and the last one */
};

struct nn_op {
    const struct nn_operator *is;
    size_t n_in, in[NN_INPUTS], out; /* values */
    size_t tensor;                   /* the first of its own, or nn_none */
    void *set; /* its settings, a struct of its file; owned by the graph */
};

struct nn_graph {
    enum nn_input_kind input;
    struct nn_value *values;
    struct nn_op *ops;
    struct nn_tensor *tensors;
    size_t n_values, n_ops, n_tensors;
    size_t values_room, ops_room, tensors_room;
    size_t params, statistics; /* floats in the two blocks */
    size_t given;   /* of the statistics the first, which never move */
    size_t ids;     /* how many there are, where it reads them */
    size_t context; /* the most tokens of a sample; 0 without any */
    size_t each;    /* tokens of every sample, where an operator makes them */
    size_t feature, output; /* values h and z */
    size_t feature_ops;     /* so many operators lead to h */
};

void nn_graph_release(struct nn_graph *graph);

/* nn_graph_input() adds value 0: images or rows of that map, or ids. */
size_t nn_graph_input(struct nn_graph *graph, enum nn_input_kind kind,
                      struct num_map map);

/*
 * nn_graph_tensor() appends the tensor NAME.LAST, or NAME where `last` is NULL,
 * to one of the two blocks and returns its number.  Tensors stand in the order
 * of the state_dict.
 */
size_t nn_graph_tensor(struct nn_graph *graph, const char *name,
                       const char *last, int statistic, size_t rank,
                       const size_t *shape);

/*
 * nn_graph_add() appends an operator and the value that it writes, and returns
 * the number of the value.
 *   op   without `out`; all its inputs have a row for each sample, or all one
 *        for each token
 *   map  of the value, which has as many rows (but see nn_operator.pools)
 */
size_t nn_graph_add(struct nn_graph *graph, struct nn_op op,
                    struct num_map map);

/* nn_graph_tokens() returns how many rows of tokens a batch has. */
size_t nn_graph_tokens(const struct nn_graph *graph,
                       const struct nn_input *input);

/* nn_graph_is_given() returns 1 for values that are given to the caller. */
int nn_graph_is_given(const struct nn_graph *graph, size_t value);

/* nn_graph_rows() describes rows of c f32 numbers, where every block is the
 * same. */
struct num_map nn_graph_rows(size_t c);

/*
 * nn_graph_init() is nn_net_init() on the blocks.  Operators fill theirs with
 * nn_draw(): tensor `number` uniform within +-bound, or with bound 0 normal of
 * that deviation; and nn_fill().
 */
void nn_graph_init(const struct nn_graph *graph, uint64_t seed, float *params,
                   float *statistics);
void nn_draw(const struct nn_graph *graph, size_t number, uint64_t seed,
             double deviation, double bound, float *block);
void nn_fill(const struct nn_graph *graph, size_t number, float value,
             float *block);

/* nn_head() adds a projection head behind value `in` and returns the last
 * value.  The spec was checked before.  Of a text tower "project:N" has another
 * name and layout than of an image tower. */
size_t nn_head(struct nn_graph *graph, const char *head, size_t in);

/* nn_head_judge() returns 0, or -1 with a sentence. */
int nn_head_judge(const char *head, struct err *err);

#endif
