#pragma once

#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/mem.h"

#include "graph.h"

/*
 * A network in evaluation as an ONNX model (opset 17), a Protocol Buffers
 * message: nodes, tensors and, by name, the values between them.
 *
 * The values of a graph are "v0", "v1", ...; tensors have their own names.  An
 * operator writes its nodes with the functions below (nn_operator.onnx).
 */
struct nn_onnx {
    const struct nn_graph *graph;
    const float *params, *statistics;
    struct data_bytes nodes, tensors; /* fields of the message GraphProto */
    struct arena names;
    size_t made;  /* number of new values, "w0", "w1", ... */
    char *stored; /* [n_tensors] 1: it is in `tensors` */
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

/* nn_onnx_value() returns the name of a value of the graph, nn_onnx_new() that
 * of a new value; both are valid as long as `onnx`. */
const char *nn_onnx_value(struct nn_onnx *onnx, size_t value);
const char *nn_onnx_new(struct nn_onnx *onnx);

/* nn_onnx_tensor() stores a tensor of the graph, once, and returns its name. */
const char *nn_onnx_tensor(struct nn_onnx *onnx, size_t number);

/* nn_onnx_node() writes a node, and returns `out`, the name of its output. */
const char *nn_onnx_node(struct nn_onnx *onnx, const struct nn_onnx_node *node,
                         const char *out);

/* nn_onnx_model() returns the encoder of the graph as a model, as in
 * nn_export_onnx(): *n bytes, which the caller frees; NULL on error.  The
 * caller sets graph, params and statistics of `onnx`. */
void *nn_onnx_model(struct nn_onnx *onnx, const float mean[3],
                    const float deviation[3], size_t *n, struct err *err);
