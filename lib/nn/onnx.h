#ifndef NN_ONNX_H
#define NN_ONNX_H

#include <stddef.h>
#include <stdint.h>

#include "graph.h"

/*
 * A network in evaluation as an ONNX model (opset 17), a Protocol Buffers
 * message: nodes, tensors and, by name, the values between them.
 *
 * The values of a graph are "v0", "v1", ...; tensors have their own names.  An
 * operator writes its nodes with the functions below (nn_operator.onnx).
 */
struct nn_bytes {
    uint8_t *data;
    size_t n, room;
};

/* Each function appends a field to a message; nn_bytes_take() appends a message
 * and frees it. */
void nn_bytes_whole(struct nn_bytes *to, unsigned field, int64_t x);
void nn_bytes_put(struct nn_bytes *to, unsigned field, const void *data,
                  size_t n);
void nn_bytes_text(struct nn_bytes *to, unsigned field, const char *text);
void nn_bytes_take(struct nn_bytes *to, unsigned field, struct nn_bytes *part);

struct nn_onnx {
    const struct nn_graph *graph;
    const float *params, *statistics;
    struct nn_bytes nodes, tensors; /* fields of the message GraphProto */
    size_t made;                    /* number of new values, "w0", "w1", ... */
    char *stored;                   /* [n_tensors] 1: it is in `tensors` */
};

/* A node: its inputs by name, terminated by NULL, and up to four attributes. */
struct nn_onnx_attribute {
    const char *name; /* NULL: none */
    size_t n;         /* integers; 0: it is `real` */
    float real;
    int64_t whole[4];
    int list; /* integers are a list, even if n is 1 */
};

struct nn_onnx_node {
    const char *type, *in[6];
    struct nn_onnx_attribute attribute[4];
};

/* nn_onnx_value() writes the name of a value of the graph, nn_onnx_new() that
 * of a new value. */
enum { NN_ONNX_NAME = 32 };
const char *nn_onnx_value(size_t value, char name[NN_ONNX_NAME]);
const char *nn_onnx_new(struct nn_onnx *onnx, char name[NN_ONNX_NAME]);

/* nn_onnx_tensor() stores a tensor of the graph, once, and returns its name. */
const char *nn_onnx_tensor(struct nn_onnx *onnx, size_t number);

/* nn_onnx_floats() stores another tensor. */
void nn_onnx_floats(struct nn_onnx *onnx, const char *name, size_t rank,
                    const size_t *shape, const float *x);

/* nn_onnx_node() writes a node; `out` is the name of its output. */
void nn_onnx_node(struct nn_onnx *onnx, const struct nn_onnx_node *node,
                  const char *out);

/*
 * nn_onnx_model() returns the encoder of the graph as a model, as in
 * nn_export_onnx(): *n bytes, which the caller frees; NULL on error.  The
 * caller sets graph, params and statistics of `onnx`.
 */
void *nn_onnx_model(struct nn_onnx *onnx, const float mean[3],
                    const float deviation[3], size_t *n, struct err *err);

#endif
