#include <math.h>
#include <string.h>

#include "util/err.h"
#include "util/mem.h"

#include "operator.h"

static const double epsilon = 1e-5; // as in num/norm.h

struct norm {
    enum num_norm_kind kind;
    int relu;
};

size_t
nn_graph_norm_tensors(struct nn_graph *graph, const char *name,
                      enum num_norm_kind kind, size_t c)
{
    size_t first;

    if (kind == NUM_NORM_NONE)
        return nn_none;
    first = nn_graph_tensor(graph, name, "weight", 0, 1, &c);
    graph->initial[first].value = 1;
    nn_graph_tensor(graph, name, "bias", 0, 1, &c);
    if (kind == NUM_NORM_BATCH) {
        nn_graph_tensor(graph, name, "running_mean", 1, 1, &c);
        nn_graph_tensor(graph, name, "running_var", 1, 1, &c);
        graph->initial[first + 3].value = 1;
    }
    return first;
}

size_t
nn_graph_norm(struct nn_graph *graph, size_t in, size_t tensor,
              enum num_norm_kind kind, size_t add, int relu)
{
    const struct norm set = {kind, relu};

    REQUIRE(add == nn_none || graph->values[in].has_grad);
    return nn_graph_add(graph,
                        (struct nn_op){.is = &nn_op_norm,
                                       .n_in = add == nn_none ? 1 : 2,
                                       .in = {in, add},
                                       .tensor = tensor},
                        graph->values[in].map, &set, sizeof set);
}

static int
norm_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
             struct nn_step *step)
{
    const struct nn_op *op = &step->op;
    const struct norm *set = op->set;
    const struct num_map map = nn_map(graph, plan, op->out);
    int none = set->kind == NUM_NORM_NONE, add = op->n_in == 2;
    int has_grad = add && graph->values[op->in[1]].has_grad;
    int batch = set->kind == NUM_NORM_BATCH;
    int fusable = batch && set->relu && !add;
    struct num_norm *norm = mem_array(1, sizeof *norm);

    *norm = (struct num_norm){
        .kind = set->kind, .map = map, .groups = 32, .relu = set->relu};
    while (map.c % norm->groups)
        norm->groups--; // or the next smaller number that divides c
    step->made = norm;
    step->needs = (struct nn_needs){
        .sums = num_norm_work(norm) * sizeof(double),
        // mean, variance and, for neighbouring convolutions, scale
        .state = (batch ? 3 : 2) * num_norm_counts(norm) * sizeof(float),
        .reads = none ? 0 : 1,
        .over = 1,
        // the gradient of an added input stays in dy
        .over_dy = has_grad ? 2 : 1,
        .over_dy2 = has_grad ? 1 : 0,
        .takes_two = 1,
        .recompute = !none,
        .fusable = fusable,
        .sums_by_image = batch,
    };
    // otherwise backward recomputes the sign of y from x
    if (set->relu && (none || add))
        step->needs.reads |= NN_READS_OUT;
    return 0;
}

/* The norm of a call, by its mode, with the arrays of both passes. */
static struct num_norm
norm_of(const struct nn_call *call)
{
    struct num_norm norm = *(const struct num_norm *)call->step->made;

    if (norm.kind == NUM_NORM_BATCH && call->mode == NN_FIXED)
        norm.kind = NUM_NORM_FIXED;
    norm.rows = call->rows;
    norm.x = call->x[0];
    norm.add = call->x[1];
    norm.y = call->step->fused ? NULL : call->y;
    norm.work = call->sums;
    if (norm.kind == NUM_NORM_NONE)
        return norm;
    norm.gamma = nn_param(call, 0);
    norm.beta = nn_param(call, 1);
    norm.mean = call->state;
    norm.variance =
        norm.mean ? norm.mean + num_norm_counts(call->step->made) : NULL;
    return norm;
}

/* Stores the scales for neighbouring convolutions. */
static void
store_scales(const struct num_norm *norm)
{
    if (norm->kind == NUM_NORM_BATCH || norm->kind == NUM_NORM_FIXED)
        num_norm_scales(norm, norm->variance + norm->map.c);
}

static struct num_conv_norm
norm_fused(const struct nn_call *call)
{
    const struct nn_op *op = &call->step->fused_input->op;
    const size_t c = call->graph->tensors[op->tensor].count;
    const float *mean = call->fused_input;

    return (struct num_conv_norm){.scale = mean + 2 * c,
                                  .centre = mean,
                                  .shift = nn_param_of(call, op, 1)};
}

static void
norm_forward(const struct nn_call *call)
{
    struct num_norm norm = norm_of(call);
    size_t bytes = num_norm_counts(&norm) * sizeof(float);

    if (norm.kind == NUM_NORM_FIXED) { // backward reads the state
        memcpy(norm.mean, nn_param(call, 2), bytes);
        memcpy(norm.variance, nn_param(call, 3), bytes);
    }
    norm.measured = call->step->sums_by_previous;
    num_norm_forward(&norm);
    store_scales(&norm);
}

static size_t
norm_shared(const struct nn_call *call)
{
    const struct num_norm norm = norm_of(call);

    return norm.kind == NUM_NORM_BATCH ? 2 * norm.map.c : 0;
}

static void
norm_forward_begin(const struct nn_call *call, double *sums)
{
    struct num_norm norm = norm_of(call);

    norm.measured = call->step->sums_by_previous;
    num_norm_sums(&norm, sums);
}

static void
norm_forward_end(const struct nn_call *call, const double *sums)
{
    const struct num_norm norm = norm_of(call);

    num_norm_finish(&norm, sums);
    if (norm.y)
        num_norm_apply(&norm);
    store_scales(&norm);
}

/* Writes the statistics of the rows, with unbiased variance. */
static void
norm_measure(const struct nn_call *call)
{
    const struct num_norm norm = norm_of(call);
    const struct num_map map = norm.map;
    const size_t rows = norm.rows ? norm.rows : map.n;
    const double count = (double)(rows * map.h * map.w);
    const float unbiased = (float)(count / fmax(count - 1, 1));

    if (norm.kind != NUM_NORM_BATCH)
        return;
    memcpy(nn_param(call, 2), norm.mean, map.c * sizeof(float));
    for (size_t k = 0; k < map.c; k++)
        nn_param(call, 3)[k] = unbiased * norm.variance[k];
}

static struct num_norm
back_norm_of(const struct nn_call *call)
{
    struct num_norm norm = norm_of(call);

    norm.dy = call->dy;
    norm.dy2 = call->dy2;
    norm.dx = call->dx[0] ? call->dx[0] : (void *)call->dy;
    norm.dadd = call->dx[1];
    norm.accumulate = call->add;
    norm.measured = call->step->back_sums_by_next;
    if (norm.kind != NUM_NORM_NONE) {
        norm.dgamma = nn_grad(call, 0);
        norm.dbeta = nn_grad(call, 1);
    }
    return norm;
}

static void
norm_backward(const struct nn_call *call)
{
    const struct num_norm norm = back_norm_of(call);

    num_norm_backward(&norm);
}

static void
sum_image(const void *call, size_t i)
{
    const struct num_norm norm = norm_of(call);

    if (norm.kind == NUM_NORM_BATCH)
        num_norm_measure(&norm, i);
}

static void
sum_back_image(const void *call, size_t i)
{
    struct num_norm norm = back_norm_of(call);

    norm.scale = norm.variance + norm.map.c;
    num_norm_back_measure(&norm, i);
}

static struct num_conv_task
norm_sums(const struct nn_call *call, int back)
{
    const struct num_map map = nn_map_out(call);
    struct num_conv_task task = {.run = back ? sum_back_image : sum_image,
                                 .self = call,
                                 .bytes = num_map_bytes(&map) / map.n};

    if (back) {
        const struct num_norm norm = back_norm_of(call);

        task.prefetch[0] = norm.x;
        task.prefetch[1] = norm.dy2 ? norm.dy2 : norm.y;
        task.prefetch[2] = norm.dy2 ? norm.y : NULL;
    }
    return task;
}

static void
norm_backward_begin(const struct nn_call *call, double *sums)
{
    const struct num_norm norm = back_norm_of(call);

    num_norm_back_sums(&norm, sums);
}

static void
norm_backward_end(const struct nn_call *call, const double *sums)
{
    const struct num_norm norm = back_norm_of(call);

    num_norm_back_finish(&norm, sums);
}

static void
norm_recompute(const struct nn_call *call)
{
    const struct num_norm norm = norm_of(call);

    num_norm_apply(&norm);
}

static void
norm_infer(const struct nn_call *call)
{
    const struct norm *set = call->step->op.set;
    struct num_norm norm = norm_of(call);

    if (set->kind == NUM_NORM_BATCH) {
        norm.mean = nn_param(call, 2);
        norm.variance = nn_param(call, 3);
        num_norm_apply(&norm);
    } else {
        num_norm_forward(&norm);
    }
}

static int
norm_affine(const struct nn_op *op, struct nn_affine *form)
{
    const struct norm *set = op->set;

    *form = (struct nn_affine){set->kind == NUM_NORM_BATCH, set->relu};
    return set->kind != NUM_NORM_GROUP;
}

/* gamma (x - m) / s + beta = (gamma / s) x + (beta - gamma m / s). */
static void
norm_fold(const struct nn_call *call, const struct nn_op *op, float *scale,
          float *shift)
{
    const float *gamma = nn_param_of(call, op, 0);
    const float *beta = nn_param_of(call, op, 1);
    const float *mean = nn_param_of(call, op, 2);
    const float *variance = nn_param_of(call, op, 3);
    const size_t c = call->graph->tensors[op->tensor].count;

    for (size_t k = 0; k < c; k++) {
        scale[k] = (float)(gamma[k] / sqrt(variance[k] + epsilon));
        shift[k] = beta[k] - scale[k] * mean[k];
    }
}

/* Adds a node, the last one of the operator if `last`; returns its output. */
static const char *
add_node(struct nn_onnx *to, const struct nn_onnx_node *node, int last,
         const struct nn_op *op)
{
    return nn_onnx_node(to, node,
                        last ? nn_onnx_value(to, op->out) : nn_onnx_new(to));
}

static int
norm_onnx(struct nn_onnx *to, const struct nn_op *op)
{
    const struct norm *set = op->set;
    const int adds = op->n_in > 1;
    const char *x = nn_onnx_value(to, op->in[0]);

    if (set->kind == NUM_NORM_GROUP)
        return -1;
    if (set->kind == NUM_NORM_BATCH)
        x = add_node(
            to,
            &(struct nn_onnx_node){"BatchNormalization",
                                   {x, nn_onnx_tensor(to, op->tensor),
                                    nn_onnx_tensor(to, op->tensor + 1),
                                    nn_onnx_tensor(to, op->tensor + 2),
                                    nn_onnx_tensor(to, op->tensor + 3)},
                                   {{"epsilon", 0, (float)epsilon, {0}, 0}}},
            !adds && !set->relu, op);
    if (adds)
        x = add_node(
            to,
            &(struct nn_onnx_node){.type = "Add",
                                   .in = {x, nn_onnx_value(to, op->in[1])}},
            !set->relu, op);
    if (set->relu)
        add_node(to, &(struct nn_onnx_node){.type = "Relu", .in = {x}}, 1, op);
    else if (set->kind == NUM_NORM_NONE && !adds)
        add_node(to, &(struct nn_onnx_node){.type = "Identity", .in = {x}}, 1,
                 op);
    return 0;
}

const struct nn_operator nn_op_norm = {
    .name = "norm",
    .onnx = norm_onnx,
    .prepare = norm_prepare,
    .forward = norm_forward,
    .backward = norm_backward,
    .shared = norm_shared,
    .forward_halves = {norm_forward_begin, norm_forward_end},
    .backward_halves = {norm_backward_begin, norm_backward_end},
    .infer = norm_infer,
    .recompute = norm_recompute,
    .measure = norm_measure,
    .affine = norm_affine,
    .fold = norm_fold,
    .sums = norm_sums,
    .fused_norm = norm_fused,
};
