#ifndef NN_ONNX_H
#define NN_ONNX_H

#include <stddef.h>
#include <stdint.h>

#include "graph.h"

/*
 * A network in evaluation as an ONNX model (opset 17), which is a message of
 * Protocol Buffers: nodes, tensors and the values between them by name.
 *
 * The values of a graph are "v0", "v1", ...; tensors have their own names.  An
 * operator writes its nodes by the functions below (nn_operator.onnx).
 */
struct nn_bytes {
    uint8_t *data;
    size_t n, room;
};

/* Each of these appends a field of a message; nn_bytes_take() one that is a
 * message, which is released. */
void nn_bytes_whole(struct nn_bytes *to, unsigned field, int64_t x);
void nn_bytes_put(struct nn_bytes *to, unsigned field, const void *data,
                  size_t n);
void nn_bytes_text(struct nn_bytes *to, unsigned field, const char *text);
void nn_bytes_take(struct nn_bytes *to, unsigned field, struct nn_bytes *part);

struct nn_onnx {
    const struct nn_graph *graph;
    const float *params, *statistics;
    struct nn_bytes nodes, tensors; /* fields of the message GraphProto */
    size_t made;                    /* values that the graph does not have */
    char *stored;                   /* [n_tensors] is in `tensors` already */
};

/* A node: its inputs by name, ended by NULL, and up to four attributes. */
struct nn_onnx_attribute {
    const char *name; /* NULL: there is none */
    size_t n;         /* 0: the real, else so many whole numbers */
    float real;
    int64_t whole[4];
    int list; /* whole numbers are a list, also where n is 1 */
};

struct nn_onnx_node {
    const char *type, *in[6];
    struct nn_onnx_attribute attribute[4];
};

/* nn_onnx_value() writes the name of a value; nn_onnx_new() that of a further
 * one. */
enum { NN_ONNX_NAME = 32 };
const char *nn_onnx_value(size_t value, char name[NN_ONNX_NAME]);
const char *nn_onnx_new(struct nn_onnx *onnx, char name[NN_ONNX_NAME]);

/* nn_onnx_tensor() stores a tensor of the graph, once, and returns its name. */
const char *nn_onnx_tensor(struct nn_onnx *onnx, size_t number);

/* nn_onnx_floats() stores further numbers by a name. */
void nn_onnx_floats(struct nn_onnx *onnx, const char *name, size_t rank,
                    const size_t *shape, const float *x);

/* nn_onnx_node() writes a node whose output has that name. */
void nn_onnx_node(struct nn_onnx *onnx, const struct nn_onnx_node *node,
                  const char *out);

/*
 * nn_onnx_model() returns the encoder of the graph as a model, as
 * nn_export_onnx() describes it: *n bytes, to be given to free().  Of `onnx`
 * graph and blocks are set.  NULL with a sentence.
 */
void *nn_onnx_model(struct nn_onnx *onnx, const float mean[3],
                    const float deviation[3], size_t *n, struct err *err);

#endif
