#include <math.h>
#include <string.h>

#include "num/conv.h"
#include "num/vec.h"
#include "util/mem.h"

#include "operator.h"

struct conv {
    size_t stride;
    int bias;
};

/* Weights are Kaiming normal fan_out, a bias uniform within +-1 /
 * sqrt(fan_in). */
size_t
nn_graph_conv_tensors(struct nn_graph *graph, const char *name, size_t out,
                      size_t in, size_t kernel, int bias, int fixed)
{
    size_t first = nn_graph_tensor(graph, name, "weight", fixed, 4,
                                   (size_t[]){out, in, kernel, kernel});

    if (fixed)
        graph->fixed = graph->statistics;
    graph->initial[first].deviation = sqrt(2 / (double)(out * kernel * kernel));
    if (bias) {
        nn_graph_tensor(graph, name, "bias", 0, 1, &out);
        graph->initial[first + 1].bound =
            sqrt(1 / (double)(in * kernel * kernel));
    }
    return first;
}

size_t
nn_graph_conv(struct nn_graph *graph, size_t in, size_t tensor, size_t block,
              size_t stride)
{
    const struct nn_tensor *w = &graph->tensors[tensor];
    const int bias = tensor + 1 < graph->n_tensors &&
                     !strcmp(strrchr(w[1].name, '.'), ".bias");
    const struct conv set = {stride, bias};
    const struct num_conv_spec spec = {.in = graph->values[in].map,
                                       .out = w->shape[0],
                                       .block = block,
                                       .kernel = w->shape[2],
                                       .stride = stride,
                                       .pad = w->shape[2] / 2};

    return nn_graph_add_one(graph, &nn_op_conv, in, tensor, num_conv_out(&spec),
                            &set, sizeof set);
}

static int
conv_prepare(const struct nn_graph *graph, const struct nn_plan *plan,
             struct nn_step *step)
{
    const struct nn_op *op = &step->op;
    const struct nn_tensor *w = &graph->tensors[op->tensor];
    const struct num_map out = nn_map(graph, plan, op->out);
    const struct conv *set = op->set;
    struct nn_affine next = {0, 0};
    struct num_conv_spec spec = {
        .in = nn_map(graph, plan, op->in[0]),
        .out = out.c,
        .block = out.block,
        .kernel = w->shape[2],
        .stride = set->stride,
        .pad = w->shape[2] / 2,
        .bias = set->bias,
        .how = plan->direct ? NUM_CONV_DIRECT : NUM_CONV_TABLE,
        .train = plan->train,
        .back_data = plan->train && graph->values[op->in[0]].has_grad,
        .add = op->n_in == 2,
    };

    if (step->follower) {
        step->follower->is->affine(step->follower, &next);
        spec.bias |= next.scaled;
        spec.relu = next.relu;
    }
    step->made = num_conv_new(plan->dnn, &spec);
    if (!step->made)
        return -1;
    step->needs = (struct nn_needs){
        .scratch = num_conv_scratch(step->made),
        // of conv_infer(): merged weights, their scale and shift
        .state = next.scaled ? (w->count + 2 * out.c) * sizeof(float) : 0,
        .reads = !w->statistic,
        .over = 2, // the second input, which is added
        .fuses = plan->train && num_conv_fuses_norm(step->made),
        .by_image = num_conv_by_image(step->made, NUM_CONV_FORWARD),
        .back_by_image = num_conv_by_image(step->made, NUM_CONV_BACK_DATA),
    };
    return 0;
}

static void
conv_release(struct nn_step *step)
{
    num_conv_free(step->made);
}

static const float *
bias_of(const struct nn_call *call)
{
    const struct conv *set = call->step->op.set;

    return set->bias ? nn_param(call, 1) : NULL;
}

/* The arguments of a pass, with other work: *norm of the step before, and sums
 * of a neighbour. */
static struct num_conv_args
args_of(const struct nn_call *call, int back, struct num_conv_norm *norm)
{
    const struct nn_step *fused_input = call->step->fused_input;
    const struct nn_call *sums_for = call->sums_for;
    struct num_conv_args args = {.x = call->x[0],
                                 .w = nn_param(call, 0),
                                 .b = bias_of(call),
                                 .y = call->y,
                                 .scratch = call->scratch};

    if (fused_input) {
        *norm = fused_input->op.is->fused_norm(call);
        args.norm = norm;
    }
    if (sums_for)
        args.after = sums_for->step->op.is->sums(sums_for, back);
    return args;
}

static void
conv_forward(const struct nn_call *call)
{
    struct num_conv_norm norm;
    const struct num_conv_args args = args_of(call, 0, &norm);

    num_conv_run(call->step->made, NUM_CONV_FORWARD, &args);
}

/*
 * Merged with the next operator, which has constant statistics in evaluation:
 *
 *     scale (w x + b) + shift = (scale w) x + (scale b + shift)
 */
static void
conv_infer(const struct nn_call *call)
{
    const struct nn_tensor *t = nn_tensor(call, 0);
    const struct nn_op *next = call->step->follower;
    const float *b = bias_of(call);
    const size_t out = t->shape[0];
    float *fw = call->state, *scale, *shift;

    if (!fw) { // no next operator, or it does not scale
        conv_forward(call);
        return;
    }
    shift = fw + t->count;
    scale = shift + out;
    next->is->fold(call, next, scale, shift);
    num_scale_rows(out, t->count / out, scale, nn_param(call, 0), fw);
    for (size_t o = 0; b && o < out; o++)
        shift[o] += scale[o] * b[o];
    num_conv_run(call->step->made, NUM_CONV_FORWARD,
                 &(struct num_conv_args){.x = call->x[0],
                                         .w = fw,
                                         .b = shift,
                                         .y = call->y,
                                         .scratch = call->scratch});
}

static void
conv_backward(const struct nn_call *call)
{
    struct num_conv_norm norm;
    struct num_conv_args args = args_of(call, 1, &norm);

    if (nn_tensor(call, 0)->statistic)
        return;
    args.dy = call->dy;
    args.dw = nn_grad(call, 0);
    args.db = args.b ? nn_grad(call, 1) : NULL;
    args.accumulate = call->add;
    args.dx = call->dx[0];
    num_conv_run(call->step->made, NUM_CONV_BACK_WEIGHTS, &args);
    if (args.dx)
        num_conv_run(call->step->made, NUM_CONV_BACK_DATA, &args);
}

/* The algorithm of each pass. */
static char *
conv_describe(const struct nn_graph *graph, const struct nn_step *step)
{
    const struct num_map *in = &graph->values[step->op.in[0]].map;
    const struct num_map *out = &graph->values[step->op.out].map;

    return mem_format("%s %zux%zux%zu %zux%zux%zu %s %s %s\n",
                      graph->tensors[step->op.tensor].name, in->c, in->h, in->w,
                      out->c, out->h, out->w,
                      num_conv_name(step->made, NUM_CONV_FORWARD),
                      num_conv_name(step->made, NUM_CONV_BACK_DATA),
                      num_conv_name(step->made, NUM_CONV_BACK_WEIGHTS));
}

static int
conv_onnx(struct nn_onnx *to, const struct nn_op *op)
{
    const struct conv *set = op->set;
    const int64_t k = (int64_t)to->graph->tensors[op->tensor].shape[2],
                  s = (int64_t)set->stride, p = k / 2;

    nn_onnx_node(
        to,
        &(struct nn_onnx_node){
            "Conv",
            {nn_onnx_value(to, op->in[0]), nn_onnx_tensor(to, op->tensor),
             set->bias ? nn_onnx_tensor(to, op->tensor + 1) : NULL},
            {{"kernel_shape", 2, 0, {k, k}, 1},
             {"strides", 2, 0, {s, s}, 1},
             {"pads", 4, 0, {p, p, p, p}, 1}}},
        nn_onnx_value(to, op->out));
    return 0;
}

const struct nn_operator nn_op_conv = {
    .name = "conv",
    .onnx = conv_onnx,
    .prepare = conv_prepare,
    .release = conv_release,
    .forward = conv_forward,
    .backward = conv_backward,
    .infer = conv_infer,
    .merges = 1,
    .describe = conv_describe,
};
