#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/mem.h"
#include "util/opt.h"

#include "operator.h"

/* Protocol Buffers: a field is a key, number << 3 | type, and a value: a varint
 * (type 0), 4 bytes (5), or a length and as many bytes (2).  The numbers are
 * those of onnx.proto. */
enum { VARINT = 0, BYTES = 2, FIXED = 5 };

static void
put_bytes(struct data_bytes *to, const void *data, size_t n)
{
    mem_grow(&to->data, &to->room, to->len + n, 1);
    if (n)
        memcpy(to->data + to->len, data, n);
    to->len += n;
}

static void
put_varint(struct data_bytes *to, uint64_t x)
{
    uint8_t byte;

    for (; x >= 128; x >>= 7) {
        byte = (uint8_t)(x | 128);
        put_bytes(to, &byte, 1);
    }
    byte = (uint8_t)x;
    put_bytes(to, &byte, 1);
}

static void
put_whole(struct data_bytes *to, unsigned field, int64_t x)
{
    put_varint(to, field << 3 | VARINT);
    put_varint(to, (uint64_t)x);
}

static void
put_onnx_field(struct data_bytes *to, unsigned field, const void *data,
               size_t n)
{
    put_varint(to, field << 3 | BYTES);
    put_varint(to, n);
    put_bytes(to, data, n);
}

static void
put_text(struct data_bytes *to, unsigned field, const char *text)
{
    put_onnx_field(to, field, text, strlen(text));
}

/* Appends a message and frees it. */
static void
put_message(struct data_bytes *to, unsigned field, struct data_bytes *part)
{
    put_onnx_field(to, field, part->data, part->len);
    data_bytes_release(part);
}

static const char *
make_name(struct nn_onnx *onnx, char first, size_t number)
{
    enum { NAME = 32 };
    char *name = arena_take(&onnx->names, NAME, 1);

    snprintf(name, NAME, "%c%zu", first, number);
    return name;
}

const char *
nn_onnx_value(struct nn_onnx *onnx, size_t value)
{
    return make_name(onnx, 'v', value);
}

const char *
nn_onnx_new(struct nn_onnx *onnx)
{
    return make_name(onnx, 'w', onnx->made++);
}

/* TensorProto: dims 1, data_type 2 (FLOAT is 1), name 8, raw_data 9. */
static void
put_tensor(struct nn_onnx *onnx, const char *name, size_t rank,
           const size_t *shape, const float *x)
{
    struct data_bytes tensor = {0};
    size_t n = 1;

    for (size_t i = 0; i < rank; i++) {
        put_whole(&tensor, 1, (int64_t)shape[i]);
        n *= shape[i];
    }
    put_whole(&tensor, 2, 1);
    put_text(&tensor, 8, name);
    put_onnx_field(&tensor, 9, x, n * sizeof *x);
    put_message(&onnx->tensors, 5, &tensor); // GraphProto.initializer
}

const char *
nn_onnx_tensor(struct nn_onnx *onnx, size_t number)
{
    const struct nn_tensor *t = &onnx->graph->tensors[number];
    const float *block = t->statistic ? onnx->statistics : onnx->params;

    if (!onnx->stored[number])
        put_tensor(onnx, t->name, t->rank, t->shape, block + t->offset);
    onnx->stored[number] = 1;
    return t->name;
}

/* AttributeProto: name 1, f 2, i 3, ints 8, type 20 (FLOAT 1, INT 2, INTS 7).
 */
static void
put_attribute(struct data_bytes *node, const struct nn_onnx_attribute *a)
{
    struct data_bytes attribute = {0};

    put_text(&attribute, 1, a->name);
    if (!a->n) {
        put_varint(&attribute, 2 << 3 | FIXED);
        put_bytes(&attribute, &a->real, sizeof a->real);
        put_whole(&attribute, 20, 1);
    } else if (!a->list) {
        put_whole(&attribute, 3, a->whole[0]);
        put_whole(&attribute, 20, 2);
    } else {
        for (size_t i = 0; i < a->n; i++)
            put_whole(&attribute, 8, a->whole[i]);
        put_whole(&attribute, 20, 7);
    }
    put_message(node, 5, &attribute); // NodeProto.attribute
}

/* NodeProto: input 1, output 2, op_type 4. */
const char *
nn_onnx_node(struct nn_onnx *onnx, const struct nn_onnx_node *node,
             const char *out)
{
    struct data_bytes bytes = {0};

    for (size_t i = 0; node->in[i]; i++)
        put_text(&bytes, 1, node->in[i]);
    put_text(&bytes, 2, out);
    put_text(&bytes, 4, node->type);
    for (size_t i = 0; i < 4 && node->attribute[i].name; i++)
        put_attribute(&bytes, &node->attribute[i]);
    put_message(&onnx->nodes, 1, &bytes); // GraphProto.node
    return out;
}

/* TypeProto: a tensor (1) of floats (elem_type 1) and shape (2); the first
 * dimension (1) is N by name (2), others by value (1).  ValueInfoProto: name 1,
 * type 2. */
static void
put_value(struct data_bytes *graph, unsigned field, const char *name,
          size_t rank, const size_t *shape)
{
    struct data_bytes info = {0}, type = {0}, tensor = {0}, dims = {0},
                      dim = {0};

    put_text(&dim, 2, "N");
    put_message(&dims, 1, &dim);
    for (size_t i = 0; i < rank; i++) {
        put_whole(&dim, 1, (int64_t)shape[i]);
        put_message(&dims, 1, &dim);
    }
    put_whole(&tensor, 1, 1);
    put_message(&tensor, 2, &dims);
    put_message(&type, 1, &tensor);
    put_text(&info, 1, name);
    put_message(&info, 2, &type);
    put_message(graph, field, &info);
}

static int
put_operators(struct nn_onnx *onnx, struct err *err)
{
    const struct nn_graph *graph = onnx->graph;

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
    nn_onnx_node(
        onnx,
        &(struct nn_onnx_node){.type = "Identity",
                               .in = {nn_onnx_value(onnx, graph->feature)}},
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
    struct data_bytes model = {0}, graph = {0}, opset = {0};
    const size_t shape[3] = {image->c, 1, 1};
    const char *centred;
    int rc;

    onnx->stored = mem_array(onnx->graph->n_tensors + 1, 1);
    // v0 = (image - mean) / deviation, for each channel
    put_tensor(onnx, "mean", 3, shape, mean);
    put_tensor(onnx, "deviation", 3, shape, deviation);
    centred = nn_onnx_node(
        onnx, &(struct nn_onnx_node){.type = "Sub", .in = {"image", "mean"}},
        nn_onnx_new(onnx));
    nn_onnx_node(
        onnx,
        &(struct nn_onnx_node){.type = "Div", .in = {centred, "deviation"}},
        nn_onnx_value(onnx, 0));
    rc = put_operators(onnx, err);
    put_bytes(&graph, onnx->nodes.data, onnx->nodes.len);
    put_text(&graph, 2, "encoder");
    put_bytes(&graph, onnx->tensors.data, onnx->tensors.len);
    put_value(&graph, 11, "image", 3, (size_t[]){image->c, image->h, image->w});
    put_value(&graph, 12, "features", 1, &feature->c);
    put_whole(&model, 1, 8);
    put_text(&model, 2, "foil");
    put_text(&model, 3, FOIL_VERSION);
    put_message(&model, 7, &graph);
    put_whole(&opset, 2, 17);
    put_message(&model, 8, &opset);
    data_bytes_release(&onnx->nodes);
    data_bytes_release(&onnx->tensors);
    arena_release(&onnx->names);
    free(onnx->stored);
    *n = model.len;
    if (rc)
        data_bytes_release(&model);
    return model.data;
}
