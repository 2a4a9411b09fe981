#pragma once

#include <stdlib.h>
#include <string.h>

#include "nn/run.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 3, WORDS = 7, CONTEXT = 9 };

static const size_t offsets[N + 1] = {0, 1, 4, 12};

/* A graph with its memory.  Its operators read a table, whose rows are
 * parameters like others: the gradient of an input is the gradient of a row.
 * Of tokens, three samples have one, three and eight of a vocabulary of seven.
 */
struct net {
    struct nn_graph graph;
    struct num_dnn *dnn;
    struct nn_plan *plan;
    size_t n, size; /* samples, and elements of the output */
    int winograd;   /* convolutions by the table, not as direct sums */
    int32_t *ids;
    struct nn_input input;
    float *params, *grads, *statistics, *weights, *dz;
    char *block;
};

/* A value of that shape with arbitrary numbers. */
static inline size_t
free_value(struct nn_graph *graph, size_t n, struct num_map map)
{
    size_t value = nn_graph_table(graph, 0, n, 1, map.c * map.h * map.w);

    graph->values[value].map = map;
    return value;
}

static inline struct net
net_start(size_t n, struct num_map map, int tokens, size_t *x)
{
    struct net net = {.n = n, .dnn = num_dnn_new()};
    size_t all = tokens ? offsets[n] : n;

    net.ids = mem_array(all, sizeof *net.ids);
    for (size_t i = 0; i < all; i++)
        net.ids[i] = (int32_t)(tokens ? i * i % WORDS : i);
    net.input = (struct nn_input){
        .n = n, .ids = net.ids, .offsets = tokens ? offsets : NULL};
    nn_graph_input(&net.graph, tokens ? NN_TOKENS : NN_IDS, nn_graph_rows(1));
    if (tokens)
        net.graph.context = CONTEXT;
    *x = free_value(&net.graph, tokens ? WORDS : n, map);
    return net;
}

static inline struct nn_plan *
plan_of(const struct net *net, const struct nn_input *input, int train)
{
    const size_t tokens = nn_graph_tokens(&net->graph, input);

    return nn_plan_new(&net->graph, (struct nn_plan){.dnn = net->dnn,
                                                     .n = input->n,
                                                     .tokens = tokens,
                                                     .train = train,
                                                     .direct = !net->winograd});
}

/* Spreads numbers over a grid at least .0125 from 0, and sums of two at least
 * .025: no maximum and no sign changes with a small step. */
static inline void
spread(size_t n, uint64_t use, float *x)
{
    struct rng rng;

    rng_init(&rng, 4, RNG_TEST, use, 0, 0);
    for (size_t i = 0; i < n; i++) {
        size_t j = rng_u32(&rng) % (i + 1);

        x[i] = x[j];
        x[j] = 0.05f * ((float)i - (float)(n / 2)) + 0.0125f;
    }
}

static inline void
net_fill(struct net *net)
{
    const struct nn_graph *graph = &net->graph;
    struct rng rng;

    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    for (size_t t = 0; t < graph->n_tensors; t++) {
        const struct nn_tensor *tensor = &graph->tensors[t];
        float *block = tensor->statistic ? net->statistics : net->params;

        for (size_t i = 0; i < tensor->count; i++) {
            float x = (float)rng_normal(&rng);

            block[tensor->offset + i] = tensor->statistic ? 1 + x * x : x / 2;
        }
        if (tensor->rank == 3) // of a table
            spread(tensor->count, t, block + tensor->offset);
    }
    for (size_t i = 0; i < net->size; i++)
        net->weights[i] = (float)rng_normal(&rng);
}

/* The net whose last value is y, ready to run. */
static inline void
net_end(struct net *net, size_t y)
{
    struct nn_graph *graph = &net->graph;
    struct num_map map = graph->values[y].map;

    graph->feature = graph->output = y;
    graph->feature_ops = graph->n_ops;
    map.n = net->n;
    net->size = num_map_size(&map);
    net->params = mem_array(graph->params, sizeof(float));
    net->grads = mem_array(graph->params, sizeof(float));
    net->statistics = mem_array(graph->statistics, sizeof(float));
    net->weights = mem_array(net->size, sizeof(float));
    net->plan = plan_of(net, &net->input, 1);
    net->block = mem_aligned(net->plan->bytes, 1);
    net_fill(net);
}

static inline void
net_free(struct net *net)
{
    nn_plan_free(net->plan);
    num_dnn_free(net->dnn);
    nn_graph_release(&net->graph);
    free(net->ids);
    free(net->params);
    free(net->grads);
    free(net->statistics);
    free(net->weights);
    free(net->block);
}

static inline struct nn_run
run_of(const struct net *net, enum nn_mode mode)
{
    return (struct nn_run){
        .graph = &net->graph,
        .plan = net->plan,
        .block = net->block,
        .params = net->params,
        .statistics = net->statistics,
        .grads = net->grads,
        .mode = mode,
    };
}

/* A linear function of the output. */
static inline double
value(const struct net *net, enum nn_mode mode)
{
    struct nn_run run = run_of(net, mode);

    nn_run_input(&run, &net->input, NULL, NULL);
    nn_run_forward(&(struct nn_runs){.n = 1, .run = &run});
    return num_dot(net->size, net->weights,
                   (const float *)(net->block + net->plan->output));
}

static inline void
backward(const struct net *net, int add)
{
    struct nn_run run = run_of(net, NN_ENCODE);
    size_t recomputed;

    run.add = add;
    memcpy(net->block + net->plan->dz, net->weights,
           net->size * sizeof *net->weights);
    nn_run_backward(
        &(struct nn_runs){.n = 1, .run = &run, .recomputed = &recomputed});
}

/* The largest difference between the gradient and central differences over
 * each parameter, in units of the gradient's rms. */
static inline double
slope_error(const struct net *net)
{
    const float step = 0.004f;
    const size_t n = net->graph.params;
    double most = 0;

    value(net, NN_ENCODE);
    backward(net, 0);
    for (size_t i = 0; i < n; i++) {
        float at = net->params[i], up = at + step, down = at - step;
        double side[2];

        net->params[i] = up;
        side[1] = value(net, NN_ENCODE);
        net->params[i] = down;
        side[0] = value(net, NN_ENCODE);
        net->params[i] = at;
        most = fmax(most, fabs((side[1] - side[0]) / ((double)up - down) -
                               net->grads[i]));
    }
    return most / sqrt(num_dot(n, net->grads, net->grads) / (double)n);
}

/* Whether backward with add doubles the gradients. */
static inline int
adds_up(const struct net *net)
{
    size_t n = net->graph.params;
    float *once = mem_array(n, sizeof *once), largest = 0;
    int twice = 1;

    value(net, NN_ENCODE);
    backward(net, 0);
    memcpy(once, net->grads, n * sizeof *once);
    value(net, NN_ENCODE);
    backward(net, 1);
    for (size_t i = 0; i < n; i++)
        largest = fmaxf(largest, fabsf(once[i]));
    // an element may be the small difference of large ones
    for (size_t i = 0; i < n; i++)
        twice &= fabsf(net->grads[i] - 2 * once[i]) <=
                 1e-5f * fabsf(once[i]) + 1e-6f * largest;
    free(once);
    return twice;
}

/* The error of the output of evaluation against training with fixed statistics,
 * in units of its rms; *merged counts the steps merged into others. */
static inline double
evaluation_error(struct net *net, size_t *merged)
{
    struct net other = *net;
    struct nn_run run;
    const float *want = (const float *)(net->block + net->plan->output);
    const float *got;
    double most = 0;

    value(net, NN_FIXED);
    other.plan = plan_of(net, &net->input, 0);
    other.block = mem_aligned(other.plan->bytes, 1);
    run = run_of(&other, NN_TRAIN);
    nn_run_input(&run, &net->input, NULL, NULL);
    nn_run_infer(&run, net->graph.n_ops);
    got = (const float *)(other.block + other.plan->output);
    for (size_t i = 0; i < net->size; i++)
        most = fmax(most, fabsf(got[i] - want[i]));
    *merged = 0;
    for (size_t i = 0; i < other.plan->n_steps; i++)
        *merged += (size_t)other.plan->steps[i].skip;
    nn_plan_free(other.plan);
    free(other.block);
    return most / sqrt(num_dot(net->size, want, want) / (double)net->size);
}

static inline size_t
conv_of(struct nn_graph *graph, size_t x, size_t kernel, size_t stride,
        int bias)
{
    const struct num_map *map = &graph->values[x].map;
    size_t c = map->block > 1 ? map->c : 4;

    return nn_graph_conv(
        graph, x, nn_graph_conv_tensors(graph, "c", c, map->c, kernel, bias, 0),
        map->block, stride);
}

static inline size_t
norm_of(struct nn_graph *graph, size_t x, enum num_norm_kind kind, size_t add,
        int relu)
{
    size_t c = graph->values[x].map.c;

    return nn_graph_norm(graph, x, nn_graph_norm_tensors(graph, "n", kind, c),
                         kind, add, relu);
}

static inline size_t
linear_of(struct nn_graph *graph, size_t x, size_t out)
{
    return nn_graph_linear(graph, x,
                           &(struct nn_linear){.name = "l", .out = out});
}

static inline size_t
layer_norm(struct nn_graph *graph, size_t x)
{
    size_t c = graph->values[x].map.c;

    return nn_graph_layer_norm(
        graph, x, nn_graph_layer_norm_tensors(graph, "ln", c), 1e-5);
}

static inline size_t
gelu_erf(struct nn_graph *graph, size_t x)
{
    return nn_graph_gelu(graph, x, NUM_GELU_ERF);
}
