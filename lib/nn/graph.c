#include <stdlib.h>
#include <string.h>

#include "util/mem.h"

#include "graph.h"

void
nn_graph_release(struct nn_graph *graph)
{
    for (size_t i = 0; i < graph->n_tensors; i++)
        free((char *)graph->tensors[i].name);
    free(graph->tensors);
    free(graph->values);
    free(graph->ops);
    *graph = (struct nn_graph){0};
}

size_t
nn_graph_value(struct nn_graph *graph, struct num_map map)
{
    mem_grow(&graph->values, &graph->values_room, graph->n_values + 1,
             sizeof *graph->values);
    graph->values[graph->n_values] = map;
    return graph->n_values++;
}

/* Appends the tensor NAME.LAST to one of the blocks. */
static size_t
add_tensor(struct nn_graph *graph, const char *name, const char *last,
           int statistic, size_t rank, const size_t *shape)
{
    size_t *block = statistic ? &graph->statistics : &graph->params;
    struct nn_tensor t = {
        .name = mem_format("%s.%s", name, last),
        .rank = rank,
        .offset = *block,
        .count = 1,
        .statistic = statistic,
    };

    for (size_t i = 0; i < rank; i++) {
        t.shape[i] = shape[i];
        t.count *= shape[i];
    }
    *block += t.count;
    mem_grow(&graph->tensors, &graph->tensors_room, graph->n_tensors + 1,
             sizeof *graph->tensors);
    graph->tensors[graph->n_tensors] = t;
    return graph->n_tensors++;
}

size_t
nn_graph_conv_tensors(struct nn_graph *graph, const char *name, size_t out,
                      size_t in, size_t kernel, int bias)
{
    size_t first = add_tensor(graph, name, "weight", 0, 4,
                              (size_t[]){out, in, kernel, kernel});

    if (bias)
        add_tensor(graph, name, "bias", 0, 1, &out);
    return first;
}

size_t
nn_graph_norm_tensors(struct nn_graph *graph, const char *name,
                      enum num_norm_kind kind, size_t c)
{
    size_t first;

    if (kind == NUM_NORM_NONE)
        return nn_none;
    first = add_tensor(graph, name, "weight", 0, 1, &c);
    add_tensor(graph, name, "bias", 0, 1, &c);
    if (kind == NUM_NORM_BATCH) {
        add_tensor(graph, name, "running_mean", 1, 1, &c);
        add_tensor(graph, name, "running_var", 1, 1, &c);
    }
    return first;
}

size_t
nn_graph_linear_tensors(struct nn_graph *graph, const char *name, size_t out,
                        size_t in, int fixed)
{
    size_t first =
        add_tensor(graph, name, "weight", fixed, 2, (size_t[]){out, in});

    add_tensor(graph, name, "bias", fixed, 1, &out);
    return first;
}

static size_t
add_op(struct nn_graph *graph, struct nn_op op, struct num_map out)
{
    op.out = nn_graph_value(graph, out);
    mem_grow(&graph->ops, &graph->ops_room, graph->n_ops + 1,
             sizeof *graph->ops);
    graph->ops[graph->n_ops++] = op;
    return op.out;
}

size_t
nn_graph_conv(struct nn_graph *graph, size_t in, size_t tensor, size_t block,
              size_t stride)
{
    const struct nn_tensor *w = &graph->tensors[tensor];
    struct num_map map = graph->values[in];
    struct nn_op op = {
        .kind = NN_OP_CONV,
        .in = in,
        .add = nn_none,
        .tensor = tensor,
        .kernel = w->shape[2],
        .stride = stride,
        .pad = w->shape[2] / 2,
        .bias = tensor + 1 < graph->n_tensors &&
                !strcmp(strrchr(graph->tensors[tensor + 1].name, '.'), ".bias"),
    };

    map.c = w->shape[0];
    map.block = block;
    map.h = (map.h + 2 * op.pad - op.kernel) / stride + 1;
    map.w = (map.w + 2 * op.pad - op.kernel) / stride + 1;
    return add_op(graph, op, map);
}

/* 32 groups, or as many as go into c channels. */
static size_t
groups_of(size_t c)
{
    size_t groups = 32;

    while (c % groups)
        groups--;
    return groups;
}

size_t
nn_graph_norm(struct nn_graph *graph, size_t in, size_t tensor,
              enum num_norm_kind kind, size_t add, int relu)
{
    struct num_map map = graph->values[in];
    struct nn_op op = {
        .kind = NN_OP_NORM,
        .in = in,
        .add = add,
        .tensor = tensor,
        .relu = relu,
        .norm = kind,
        .groups = groups_of(map.c),
    };

    return add_op(graph, op, map);
}

size_t
nn_graph_max(struct nn_graph *graph, size_t in, size_t kernel, size_t stride)
{
    struct num_map map = graph->values[in];
    struct nn_op op = {
        .kind = NN_OP_MAX,
        .in = in,
        .add = nn_none,
        .tensor = nn_none,
        .kernel = kernel,
        .stride = stride,
        .pad = kernel / 2,
    };

    map.h = (map.h + 2 * op.pad - kernel) / stride + 1;
    map.w = (map.w + 2 * op.pad - kernel) / stride + 1;
    return add_op(graph, op, map);
}

/* What lies behind the pool: rows of f32, where every block is the same. */
static struct num_map
rows_of(size_t c)
{
    return (struct num_map){
        .c = c, .h = 1, .w = 1, .block = c % 16 == 0 ? 16 : 1};
}

size_t
nn_graph_mean(struct nn_graph *graph, size_t in)
{
    struct nn_op op = {
        .kind = NN_OP_MEAN, .in = in, .add = nn_none, .tensor = nn_none};

    return add_op(graph, op, rows_of(graph->values[in].c));
}

size_t
nn_graph_linear(struct nn_graph *graph, size_t in, size_t tensor)
{
    struct nn_op op = {.kind = NN_OP_LINEAR,
                       .in = in,
                       .add = nn_none,
                       .tensor = tensor,
                       .bias = 1};

    return add_op(graph, op, rows_of(graph->tensors[tensor].shape[0]));
}

size_t
nn_graph_table(struct nn_graph *graph, size_t in, size_t samples, size_t views,
               size_t out)
{
    struct nn_op op = {
        .kind = NN_OP_TABLE,
        .in = in,
        .add = nn_none,
        .tensor = add_tensor(graph, "table", "weight", 0, 3,
                             (size_t[]){samples, views, out}),
    };

    return add_op(graph, op, rows_of(out));
}
