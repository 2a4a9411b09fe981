#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/opt.h"

#include "operator.h"

/*
 * Protocol Buffers: a field is a key, number << 3 | type, and a value: a varint
 * (type 0), 4 bytes (5), or a length and as many bytes (2).  The numbers are
 * those of onnx.proto.
 */
enum { VARINT = 0, BYTES = 2, FIXED = 5 };

static void
put_bytes(struct nn_bytes *to, const void *data, size_t n)
{
    mem_grow(&to->data, &to->room, to->n + n, 1);
    if (n)
        memcpy(to->data + to->n, data, n);
    to->n += n;
}

static void
put_varint(struct nn_bytes *to, uint64_t x)
{
    uint8_t byte;

    for (; x >= 128; x >>= 7) {
        byte = (uint8_t)(x | 128);
        put_bytes(to, &byte, 1);
    }
    byte = (uint8_t)x;
    put_bytes(to, &byte, 1);
}

void
nn_bytes_whole(struct nn_bytes *to, unsigned field, int64_t x)
{
    put_varint(to, field << 3 | VARINT);
    put_varint(to, (uint64_t)x);
}

void
nn_bytes_put(struct nn_bytes *to, unsigned field, const void *data, size_t n)
{
    put_varint(to, field << 3 | BYTES);
    put_varint(to, n);
    put_bytes(to, data, n);
}

void
nn_bytes_text(struct nn_bytes *to, unsigned field, const char *text)
{
    nn_bytes_put(to, field, text, strlen(text));
}

void
nn_bytes_take(struct nn_bytes *to, unsigned field, struct nn_bytes *part)
{
    nn_bytes_put(to, field, part->data, part->n);
    free(part->data);
    *part = (struct nn_bytes){0};
}

const char *
nn_onnx_value(size_t value, char name[NN_ONNX_NAME])
{
    snprintf(name, NN_ONNX_NAME, "v%zu", value);
    return name;
}

const char *
nn_onnx_new(struct nn_onnx *onnx, char name[NN_ONNX_NAME])
{
    snprintf(name, NN_ONNX_NAME, "w%zu", onnx->made++);
    return name;
}

/* TensorProto: dims 1, data_type 2 (FLOAT is 1), name 8, raw_data 9. */
void
nn_onnx_floats(struct nn_onnx *onnx, const char *name, size_t rank,
               const size_t *shape, const float *x)
{
    struct nn_bytes tensor = {0};
    size_t n = 1;

    for (size_t i = 0; i < rank; i++) {
        nn_bytes_whole(&tensor, 1, (int64_t)shape[i]);
        n *= shape[i];
    }
    nn_bytes_whole(&tensor, 2, 1);
    nn_bytes_text(&tensor, 8, name);
    nn_bytes_put(&tensor, 9, x, n * sizeof *x);
    nn_bytes_take(&onnx->tensors, 5, &tensor); // GraphProto.initializer
}

const char *
nn_onnx_tensor(struct nn_onnx *onnx, size_t number)
{
    const struct nn_tensor *t = &onnx->graph->tensors[number];
    const float *block = t->statistic ? onnx->statistics : onnx->params;

    if (!onnx->stored[number])
        nn_onnx_floats(onnx, t->name, t->rank, t->shape, block + t->offset);
    onnx->stored[number] = 1;
    return t->name;
}

/* AttributeProto: name 1, f 2, i 3, ints 8, type 20 (FLOAT 1, INT 2, INTS 7).
 */
static void
put_attribute(struct nn_bytes *node, const struct nn_onnx_attribute *a)
{
    struct nn_bytes attribute = {0};

    nn_bytes_text(&attribute, 1, a->name);
    if (!a->n) {
        put_varint(&attribute, 2 << 3 | FIXED);
        put_bytes(&attribute, &a->real, sizeof a->real);
        nn_bytes_whole(&attribute, 20, 1);
    } else if (!a->list) {
        nn_bytes_whole(&attribute, 3, a->whole[0]);
        nn_bytes_whole(&attribute, 20, 2);
    } else {
        for (size_t i = 0; i < a->n; i++)
            nn_bytes_whole(&attribute, 8, a->whole[i]);
        nn_bytes_whole(&attribute, 20, 7);
    }
    nn_bytes_take(node, 5, &attribute); // NodeProto.attribute
}

/* NodeProto: input 1, output 2, op_type 4. */
void
nn_onnx_node(struct nn_onnx *onnx, const struct nn_onnx_node *node,
             const char *out)
{
    struct nn_bytes bytes = {0};

    for (size_t i = 0; node->in[i]; i++)
        nn_bytes_text(&bytes, 1, node->in[i]);
    nn_bytes_text(&bytes, 2, out);
    nn_bytes_text(&bytes, 4, node->type);
    for (size_t i = 0; i < 4 && node->attribute[i].name; i++)
        put_attribute(&bytes, &node->attribute[i]);
    nn_bytes_take(&onnx->nodes, 1, &bytes); // GraphProto.node
}

/* TypeProto: a tensor (1) of floats (elem_type 1) and shape (2); the first
 * dimension (1) is N by name (2), others by value (1).  ValueInfoProto: name 1,
 * type 2. */
static void
put_value(struct nn_bytes *graph, unsigned field, const char *name, size_t rank,
          const size_t *shape)
{
    struct nn_bytes info = {0}, type = {0}, tensor = {0}, dims = {0}, dim = {0};

    nn_bytes_text(&dim, 2, "N");
    nn_bytes_take(&dims, 1, &dim);
    for (size_t i = 0; i < rank; i++) {
        nn_bytes_whole(&dim, 1, (int64_t)shape[i]);
        nn_bytes_take(&dims, 1, &dim);
    }
    nn_bytes_whole(&tensor, 1, 1);
    nn_bytes_take(&tensor, 2, &dims);
    nn_bytes_take(&type, 1, &tensor);
    nn_bytes_text(&info, 1, name);
    nn_bytes_take(&info, 2, &type);
    nn_bytes_take(graph, field, &info);
}

/* v0 = (image - mean) / deviation, for each channel. */
static void
put_input(struct nn_onnx *onnx, const float *mean, const float *deviation)
{
    const size_t shape[3] = {onnx->graph->values[0].map.c, 1, 1};
    char centred[NN_ONNX_NAME], out[NN_ONNX_NAME];

    nn_onnx_floats(onnx, "mean", 3, shape, mean);
    nn_onnx_floats(onnx, "deviation", 3, shape, deviation);
    nn_onnx_node(onnx,
                 &(struct nn_onnx_node){.type = "Sub", .in = {"image", "mean"}},
                 nn_onnx_new(onnx, centred));
    nn_onnx_node(
        onnx,
        &(struct nn_onnx_node){.type = "Div", .in = {centred, "deviation"}},
        nn_onnx_value(0, out));
}

static int
put_operators(struct nn_onnx *onnx, struct err *err)
{
    const struct nn_graph *graph = onnx->graph;
    char feature[NN_ONNX_NAME];

    if (graph->input != NN_IMAGES)
        return err_set(err, "only encoders of images can be exported to ONNX");
    for (size_t i = 0; i < graph->feature_ops; i++) {
        const struct nn_op *op = &graph->ops[i];

        if (!op->is->onnx || op->is->onnx(onnx, op))
            return err_set(err,
                           "'%s' cannot be exported to ONNX: only ResNets with "
                           "norm batch or none can",
                           op->is->name);
    }
    nn_onnx_value(graph->feature, feature);
    nn_onnx_node(onnx,
                 &(struct nn_onnx_node){.type = "Identity", .in = {feature}},
                 "features");
    return 0;
}

/* GraphProto: node 1, name 2, initializer 5, input 11, output 12.  ModelProto:
 * ir_version 1, producer 2 and its version 3, graph 7, opset 8 (version 2). */
void *
nn_onnx_model(struct nn_onnx *onnx, const float mean[3],
              const float deviation[3], size_t *n, struct err *err)
{
    const struct num_map *image = &onnx->graph->values[0].map,
                         *feature =
                             &onnx->graph->values[onnx->graph->feature].map;
    struct nn_bytes model = {0}, graph = {0}, opset = {0};
    int rc;

    onnx->stored = mem_array(onnx->graph->n_tensors + 1, 1);
    put_input(onnx, mean, deviation);
    rc = put_operators(onnx, err);
    put_bytes(&graph, onnx->nodes.data, onnx->nodes.n);
    nn_bytes_text(&graph, 2, "encoder");
    put_bytes(&graph, onnx->tensors.data, onnx->tensors.n);
    put_value(&graph, 11, "image", 3, (size_t[]){image->c, image->h, image->w});
    put_value(&graph, 12, "features", 1, &feature->c);
    nn_bytes_whole(&model, 1, 8);
    nn_bytes_text(&model, 2, "foil");
    nn_bytes_text(&model, 3, FOIL_VERSION);
    nn_bytes_take(&model, 7, &graph);
    nn_bytes_whole(&opset, 2, 17);
    nn_bytes_take(&model, 8, &opset);
    free(onnx->nodes.data);
    free(onnx->tensors.data);
    free(onnx->stored);
    if (!rc) {
        *n = model.n;
        return model.data;
    }
    free(model.data);
    return NULL;
}
