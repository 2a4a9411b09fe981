#include <math.h>
#include <string.h>

#include "num/gemm.h"
#include "num/vec.h"
#include "util/err.h"

#include "run.h"

static const float momentum = 0.1f; // of the running statistics
static const double epsilon = 1e-5; // as in num/norm.h

/* What is at a place of the block; NULL at none. */
static void *
at(const struct nn_run *run, size_t place)
{
    return place == nn_none ? NULL : run->block + place;
}

/* The i-th tensor of an operator in a block laid out as the parameters are. */
static float *
tensor(const struct nn_run *run, const struct nn_op *op, size_t i,
       const float *block)
{
    if (op->tensor == nn_none)
        return NULL;
    return (float *)block + run->graph->tensors[op->tensor + i].offset;
}

/* The same where its numbers are: those of a fixed basis are statistics. */
static float *
numbers(const struct nn_run *run, const struct nn_op *op, size_t i)
{
    int fixed = run->graph->tensors[op->tensor + i].statistic;

    return tensor(run, op, i, fixed ? run->statistics : run->params);
}

static const float *
bias_of(const struct nn_run *run, const struct nn_op *op)
{
    return op->bias ? tensor(run, op, 1, run->params) : NULL;
}

static void
linear_forward(const struct nn_run *run, const struct nn_op *op,
               const struct nn_step *step)
{
    const struct nn_tensor *w = &run->graph->tensors[op->tensor];
    size_t n = run->plan->n, out = w->shape[0], in = w->shape[1];
    const float *b = numbers(run, op, 1);
    float *y = at(run, step->out);

    for (size_t i = 0; i < n; i++)
        memcpy(y + i * out, b, out * sizeof *y);
    num_gemm_nt(n, out, in, 1, at(run, step->in), numbers(run, op, 0), 1, y);
}

/* Elements of a row of a table. */
static size_t
table_width(const struct nn_run *run, const struct nn_op *op)
{
    return run->graph->tensors[op->tensor].shape[2];
}

static void
table_forward(const struct nn_run *run, const struct nn_op *op,
              const struct nn_step *step)
{
    const size_t d = table_width(run, op);
    const float *table = tensor(run, op, 0, run->params);
    float *y = at(run, step->out);

    for (size_t i = 0; i < run->plan->n; i++) {
        REQUIRE(run->keys[i] * d < run->graph->tensors[op->tensor].count);
        memcpy(y + i * d, table + run->keys[i] * d, d * sizeof *y);
    }
}

/* A row that was picked twice gets both gradients. */
static void
table_backward(const struct nn_run *run, const struct nn_op *op,
               const struct nn_step *step)
{
    const size_t d = table_width(run, op);
    float *grads = tensor(run, op, 0, run->grads);
    const float *dy = at(run, step->dy);

    if (!run->add)
        memset(grads, 0, run->graph->tensors[op->tensor].count * sizeof *grads);
    for (size_t i = 0; i < run->plan->n; i++)
        num_axpy(d, 1, dy + i * d, grads + run->keys[i] * d);
}

/* running = 0.9 running + 0.1 batch, of the unbiased variance. */
static void
move_statistics(const struct nn_run *run, const struct nn_op *op,
                const struct nn_step *step)
{
    const struct num_map *map = &step->norm.map;
    float *mean = tensor(run, op, 2, run->statistics);
    float *variance = tensor(run, op, 3, run->statistics);
    const float *m = at(run, step->mean), *v = at(run, step->variance);
    double count = (double)(map->n * map->h * map->w);
    float unbiased = (float)(count / fmax(count - 1, 1));

    for (size_t k = 0; k < map->c; k++) {
        mean[k] += momentum * (m[k] - mean[k]);
        variance[k] += momentum * (unbiased * v[k] - variance[k]);
    }
}

/* A norm in the run's mode; where that fixes the statistics, with them. */
static struct num_norm
norm_of(const struct nn_run *run, const struct nn_step *step)
{
    struct num_norm norm = step->norm;

    if (norm.kind == NUM_NORM_BATCH && run->mode == NN_FIXED)
        norm.kind = NUM_NORM_FIXED;
    return norm;
}

static void
norm_forward(const struct nn_run *run, const struct nn_op *op,
             const struct nn_step *step)
{
    const float *gamma = tensor(run, op, 0, run->params);
    const struct num_norm norm = norm_of(run, step);
    size_t bytes = num_norm_counts(&norm) * sizeof(float);

    if (norm.kind == NUM_NORM_FIXED) { // where the way back looks for them
        memcpy(at(run, step->mean), tensor(run, op, 2, run->statistics), bytes);
        memcpy(at(run, step->variance), tensor(run, op, 3, run->statistics),
               bytes);
    }
    num_norm_forward(
        &norm, at(run, step->in), gamma,
        op->tensor == nn_none ? NULL : tensor(run, op, 1, run->params),
        at(run, step->add), at(run, step->out), at(run, step->mean),
        at(run, step->variance), at(run, step->scratch));
    if (op->norm == NUM_NORM_BATCH && run->mode == NN_MOVE)
        move_statistics(run, op, step);
}

/* What is the same in training and inference. */
static void
plain_forward(const struct nn_run *run, const struct nn_op *op,
              const struct nn_step *step)
{
    struct num_map map;

    switch (op->kind) {
    case NN_OP_MAX:
        num_pool_forward(step->pool, at(run, step->in), at(run, step->out),
                         at(run, step->largest), at(run, step->scratch));
        break;
    case NN_OP_MEAN:
        map = nn_plan_map(run->graph, run->plan, op->in);
        num_mean(&map, at(run, step->in), at(run, step->out));
        break;
    case NN_OP_TABLE:
        table_forward(run, op, step);
        break;
    default:
        REQUIRE(op->kind == NN_OP_LINEAR);
        linear_forward(run, op, step);
    }
}

void
nn_run_forward(const struct nn_run *run)
{
    for (size_t i = 0; i < run->graph->n_ops; i++) {
        const struct nn_op *op = &run->graph->ops[i];
        const struct nn_step *step = &run->plan->steps[i];

        if (op->kind == NN_OP_CONV)
            num_conv_forward(step->conv, at(run, step->in),
                             tensor(run, op, 0, run->params), bias_of(run, op),
                             at(run, step->out), at(run, step->scratch));
        else if (op->kind == NN_OP_NORM)
            norm_forward(run, op, step);
        else
            plain_forward(run, op, step);
    }
}

/* The input of a convolution, made again where it was not kept. */
static const void *
input_of(const struct nn_run *run, const struct nn_op *op,
         const struct nn_step *step)
{
    const struct nn_op *norm = op - 1;
    const struct nn_step *made = step - 1;

    if (step->remade == nn_none)
        return at(run, step->in);
    num_norm_apply(&made->norm, at(run, made->in),
                   tensor(run, norm, 0, run->params),
                   tensor(run, norm, 1, run->params), NULL, at(run, made->mean),
                   at(run, made->variance), at(run, step->remade));
    return at(run, step->remade);
}

static void
conv_backward(const struct nn_run *run, const struct nn_op *op,
              const struct nn_step *step)
{
    void *scratch = at(run, step->back_scratch);

    num_conv_back_weights(step->conv, input_of(run, op, step),
                          at(run, step->dy), tensor(run, op, 0, run->grads),
                          op->bias ? tensor(run, op, 1, run->grads) : NULL,
                          run->add, scratch);
    if (step->dx != nn_none)
        num_conv_back_data(step->conv, at(run, step->dy),
                           tensor(run, op, 0, run->params), at(run, step->dx),
                           scratch);
}

static void
norm_backward(const struct nn_run *run, const struct nn_op *op,
              const struct nn_step *step)
{
    int none = op->tensor == nn_none, remake = !none && op->add == nn_none;
    const struct num_norm norm = norm_of(run, step);

    num_norm_backward(
        &norm, at(run, step->in), remake ? NULL : at(run, step->out),
        tensor(run, op, 0, run->params),
        none ? NULL : tensor(run, op, 1, run->params), at(run, step->mean),
        at(run, step->variance), at(run, step->dy), at(run, step->dy2),
        at(run, step->dx), at(run, step->dadd), tensor(run, op, 0, run->grads),
        none ? NULL : tensor(run, op, 1, run->grads), run->add,
        at(run, step->back_scratch));
}

static void
linear_backward(const struct nn_run *run, const struct nn_op *op,
                const struct nn_step *step)
{
    const struct nn_tensor *w = &run->graph->tensors[op->tensor];
    size_t n = run->plan->n, out = w->shape[0], in = w->shape[1];
    const float *dy = at(run, step->dy);
    float *db = tensor(run, op, 1, run->grads);

    if (w->statistic) // the fixed basis of images: nothing is wanted
        return;
    num_gemm_tn(out, in, n, 1, dy, at(run, step->in), run->add ? 1 : 0,
                tensor(run, op, 0, run->grads));
    for (size_t o = 0; o < out; o++) {
        double sum = 0;

        for (size_t i = 0; i < n; i++)
            sum += dy[i * out + o];
        db[o] = (run->add ? db[o] : 0) + (float)sum;
    }
    if (step->dx != nn_none)
        num_gemm_nn(n, in, out, 1, dy, tensor(run, op, 0, run->params), 0,
                    at(run, step->dx));
}

/* dy += dy2, for operators that want it in one. */
static void
join(const struct nn_run *run, const struct nn_op *op,
     const struct nn_step *step)
{
    struct num_norm none = {NUM_NORM_NONE,
                            nn_plan_map(run->graph, run->plan, op->out), 0, 0};

    num_norm_backward(&none, NULL, NULL, NULL, NULL, NULL, NULL,
                      at(run, step->dy), at(run, step->dy2), at(run, step->dy),
                      NULL, NULL, NULL, 0, NULL);
}

void
nn_run_backward(const struct nn_run *run)
{
    for (size_t i = run->graph->n_ops; i-- > 0;) {
        const struct nn_op *op = &run->graph->ops[i];
        const struct nn_step *step = &run->plan->steps[i];
        struct num_map map;

        if (op->kind != NN_OP_NORM && step->dy2 != nn_none)
            join(run, op, step);
        switch (op->kind) {
        case NN_OP_CONV:
            conv_backward(run, op, step);
            break;
        case NN_OP_NORM:
            norm_backward(run, op, step);
            break;
        case NN_OP_MAX:
            num_pool_backward(step->pool, at(run, step->dy),
                              at(run, step->largest), at(run, step->dx),
                              at(run, step->back_scratch));
            break;
        case NN_OP_MEAN:
            map = nn_plan_map(run->graph, run->plan, op->in);
            num_mean_back(&map, at(run, step->dy), at(run, step->dx));
            break;
        case NN_OP_LINEAR:
            linear_backward(run, op, step);
            break;
        case NN_OP_TABLE:
            table_backward(run, op, step);
            break;
        }
    }
}

/*
 * A convolution with the norm behind it, whose statistics are constants now:
 *
 *     gamma (w x - m) / s + beta = (gamma / s) w x + (beta - gamma m / s)
 */
static void
merged_forward(const struct nn_run *run, const struct nn_op *op,
               const struct nn_step *step)
{
    const struct nn_op *norm = op + 1;
    const struct nn_tensor *t = &run->graph->tensors[op->tensor];
    const float *w = tensor(run, op, 0, run->params), *b = bias_of(run, op);
    size_t out = t->shape[0], each = t->count / out;

    if (norm->norm == NUM_NORM_BATCH) {
        const float *gamma = tensor(run, norm, 0, run->params);
        const float *beta = tensor(run, norm, 1, run->params);
        const float *mean = tensor(run, norm, 2, run->statistics);
        const float *variance = tensor(run, norm, 3, run->statistics);
        float *fw = at(run, run->plan->folded), *fb = fw + t->count;

        for (size_t o = 0; o < out; o++) {
            float scale = (float)(gamma[o] / sqrt(variance[o] + epsilon));

            for (size_t j = 0; j < each; j++)
                fw[o * each + j] = scale * w[o * each + j];
            fb[o] = beta[o] - scale * mean[o];
        }
        w = fw;
        b = fb;
    }
    num_conv_forward(step->conv, at(run, step->in), w, b, at(run, step[1].out),
                     at(run, step->scratch));
}

/* A norm that could not be merged. */
static void
norm_infer(const struct nn_run *run, const struct nn_op *op,
           const struct nn_step *step)
{
    const float *gamma = tensor(run, op, 0, run->params);
    const float *beta = gamma ? tensor(run, op, 1, run->params) : NULL;
    float *mean = at(run, run->plan->counts);
    const void *x = at(run, step->in), *add = at(run, step->add);

    if (op->norm == NUM_NORM_BATCH)
        num_norm_apply(&step->norm, x, gamma, beta, add,
                       tensor(run, op, 2, run->statistics),
                       tensor(run, op, 3, run->statistics), at(run, step->out));
    else
        num_norm_forward(&step->norm, x, gamma, beta, add, at(run, step->out),
                         mean, mean + num_norm_counts(&step->norm),
                         at(run, step->scratch));
}

void
nn_run_infer(const struct nn_run *run, size_t n_ops)
{
    for (size_t i = 0; i < n_ops; i++) {
        const struct nn_op *op = &run->graph->ops[i];
        const struct nn_step *step = &run->plan->steps[i];

        if (step->skip)
            continue;
        if (op->kind == NN_OP_CONV && i + 1 < run->graph->n_ops && step[1].skip)
            merged_forward(run, op, step);
        else if (op->kind == NN_OP_CONV)
            num_conv_forward(step->conv, at(run, step->in),
                             tensor(run, op, 0, run->params), bias_of(run, op),
                             at(run, step->out), at(run, step->scratch));
        else if (op->kind == NN_OP_NORM)
            norm_infer(run, op, step);
        else
            plain_forward(run, op, step);
    }
}
