/*
 * Every operator of the table, in small graphs of its own: the shape of what it
 * writes, its gradients against central differences over all inputs and
 * parameters, evaluation against training; and values that many operators
 * read.
 */
#include <stdlib.h>
#include <string.h>

#include "nn/run.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 3, WORDS = 7, CONTEXT = 9 };

static const size_t offsets[N + 1] = {0, 1, 4, 12};

/* A graph with its memory.  What its operators read is a table, whose rows are
 * parameters as others are: the gradient of an input is the gradient of one.
 * Of tokens, three samples have one, three and eight of a vocabulary of seven.
 */
struct net {
    struct nn_graph graph;
    struct num_dnn *dnn;
    struct nn_plan *plan;
    size_t n, size; /* samples, and elements of the output */
    int32_t *ids;
    struct nn_input input;
    float *params, *grads, *statistics, *weights, *dz;
    char *block;
};

/* A value of that shape that is free to be anything. */
static size_t
free_value(struct nn_graph *graph, size_t n, struct num_map map)
{
    size_t value = nn_graph_table(graph, 0, n, 1, map.c * map.h * map.w);

    graph->values[value].map = map;
    return value;
}

static struct net
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

static struct nn_plan *
plan_of(const struct net *net, const struct nn_input *input, int train)
{
    const size_t tokens = nn_graph_tokens(&net->graph, input);

    return nn_plan_new(&net->graph, (struct nn_plan){.dnn = net->dnn,
                                                     .n = input->n,
                                                     .tokens = tokens,
                                                     .train = train,
                                                     .direct = 1});
}

/* Spreads numbers over a grid that keeps clear of 0 by .0125, and sums of two
 * by .025: no maximum and no sign changes with a small step. */
static void
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

static void
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
static void
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

static void
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

static struct nn_run
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
static double
value(const struct net *net, enum nn_mode mode)
{
    struct nn_run run = run_of(net, mode);

    nn_run_input(&run, &net->input, NULL, NULL);
    nn_run_forward(&run);
    return num_dot(net->size, net->weights,
                   (const float *)(net->block + net->plan->output));
}

static void
backward(const struct net *net, int add)
{
    struct nn_run run = run_of(net, NN_LOOK);

    run.add = add;
    memcpy(net->block + net->plan->dz, net->weights,
           net->size * sizeof *net->weights);
    nn_run_backward(&run);
}

/* The largest difference between the gradient and central differences over
 * each parameter, in units of the gradient's rms. */
static double
slope_off(const struct net *net)
{
    const float step = 0.004f;
    const size_t n = net->graph.params;
    double most = 0;

    value(net, NN_LOOK);
    backward(net, 0);
    for (size_t i = 0; i < n; i++) {
        float at = net->params[i], up = at + step, down = at - step;
        double side[2];

        net->params[i] = up;
        side[1] = value(net, NN_LOOK);
        net->params[i] = down;
        side[0] = value(net, NN_LOOK);
        net->params[i] = at;
        most = fmax(most, fabs((side[1] - side[0]) / ((double)up - down) -
                               net->grads[i]));
    }
    return most / sqrt(num_dot(n, net->grads, net->grads) / (double)n);
}

/* Whether backward with add doubles the gradients. */
static int
adds_up(const struct net *net)
{
    size_t n = net->graph.params;
    float *once = mem_array(n, sizeof *once), largest = 0;
    int twice = 1;

    value(net, NN_LOOK);
    backward(net, 0);
    memcpy(once, net->grads, n * sizeof *once);
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

/* How far the output of evaluation is from that of training with fixed
 * statistics, in units of its rms; *merged counts the steps that another one
 * does. */
static double
evaluation_off(struct net *net, size_t *merged)
{
    struct net other = *net;
    struct nn_run run;
    const float *want = (const float *)(net->block + net->plan->output);
    const float *got;
    double most = 0;

    value(net, NN_FIXED);
    other.plan = plan_of(net, &net->input, 0);
    other.block = mem_aligned(other.plan->bytes, 1);
    run = run_of(&other, NN_MOVE);
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

static size_t
conv_of(struct nn_graph *graph, size_t x, size_t kernel, size_t stride,
        int bias)
{
    const struct num_map *map = &graph->values[x].map;
    size_t c = map->block > 1 ? map->c : 4;

    return nn_graph_conv(
        graph, x, nn_graph_conv_tensors(graph, "c", c, map->c, kernel, bias),
        map->block, stride);
}

static size_t
norm_of(struct nn_graph *graph, size_t x, enum num_norm_kind kind, size_t add,
        int relu)
{
    size_t c = graph->values[x].map.c;

    return nn_graph_norm(graph, x, nn_graph_norm_tensors(graph, "n", kind, c),
                         kind, add, relu);
}

static size_t
linear_of(struct nn_graph *graph, size_t x, size_t out)
{
    return nn_graph_linear(graph, x,
                           &(struct nn_linear){.name = "l", .out = out});
}

static size_t
strided_conv(struct nn_graph *graph, size_t x)
{
    return conv_of(graph, x, 3, 2, 1);
}

static size_t
conv(struct nn_graph *graph, size_t x)
{
    return conv_of(graph, x, 3, 1, 0);
}

static size_t
conv_and_norm(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, conv(graph, x), NUM_NORM_BATCH, nn_none, 0);
}

static size_t
conv_and_sum(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, conv(graph, x), NUM_NORM_BATCH, x, 0);
}

static size_t
convs_and_sum(struct nn_graph *graph, size_t x)
{
    size_t y = conv(graph, conv(graph, x));

    return norm_of(graph, y, NUM_NORM_BATCH, x, 0);
}

static size_t
conv_and_none(struct nn_graph *graph, size_t x)
{
    size_t y = conv_of(graph, conv(graph, x), 1, 1, 1);

    return norm_of(graph, y, NUM_NORM_NONE, x, 0);
}

/* Its input is read once more, later: the sum must not take its place. */
static size_t
conv_and_reader(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, convs_and_sum(graph, x), NUM_NORM_NONE, x, 0);
}

static size_t
batch(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, x, NUM_NORM_BATCH, nn_none, 0);
}

static size_t
batch_and_sum(struct nn_graph *graph, size_t x)
{
    size_t other = free_value(graph, N, graph->values[x].map);

    return norm_of(graph, x, NUM_NORM_BATCH, other, 0);
}

static size_t
group(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, x, NUM_NORM_GROUP, nn_none, 0);
}

static size_t
relu(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, x, NUM_NORM_NONE, nn_none, 1);
}

static size_t
sum_and_relu(struct nn_graph *graph, size_t x)
{
    size_t other = free_value(graph, N, graph->values[x].map);

    return norm_of(graph, x, NUM_NORM_NONE, other, 1);
}

static size_t
twice_itself(struct nn_graph *graph, size_t x)
{
    return norm_of(graph, x, NUM_NORM_NONE, x, 0);
}

static size_t
max_pool(struct nn_graph *graph, size_t x)
{
    return nn_graph_max(graph, x, 3, 2);
}

static size_t
linear(struct nn_graph *graph, size_t x)
{
    return linear_of(graph, x, 5);
}

static size_t
nothing(struct nn_graph *graph, size_t x)
{
    (void)graph;
    return x;
}

static size_t
layer_norm(struct nn_graph *graph, size_t x)
{
    size_t c = graph->values[x].map.c;

    return nn_graph_layer_norm(
        graph, x, nn_graph_layer_norm_tensors(graph, "ln", c), 1e-5);
}

static size_t
gelu_erf(struct nn_graph *graph, size_t x)
{
    return nn_graph_gelu(graph, x, NUM_GELU_ERF);
}

static size_t
gelu_tanh(struct nn_graph *graph, size_t x)
{
    return nn_graph_gelu(graph, x, NUM_GELU_TANH);
}

static size_t
gelu_quick(struct nn_graph *graph, size_t x)
{
    return nn_graph_gelu(graph, x, NUM_GELU_QUICK);
}

/* The three that attention has: f(W_q x) + g(W_k x) + W_v x. */
static size_t
three_readers(struct nn_graph *graph, size_t x)
{
    size_t q = gelu_erf(graph, linear_of(graph, x, 6));
    size_t k = layer_norm(graph, linear_of(graph, x, 6));
    size_t v = linear_of(graph, x, 6);

    q = norm_of(graph, q, NUM_NORM_NONE, k, 0);
    return norm_of(graph, q, NUM_NORM_NONE, v, 0);
}

/* All of them are there at the same time, and only then added up. */
static size_t
many_readers(struct nn_graph *graph, size_t x)
{
    enum { MANY = 24 };
    size_t part[MANY];

    for (size_t i = 0; i < MANY; i++)
        part[i] = gelu_erf(graph, linear_of(graph, x, 3));
    for (size_t i = 1; i < MANY; i++)
        part[i] = norm_of(graph, part[i], NUM_NORM_NONE, part[i - 1], 0);
    return part[MANY - 1];
}

/* Each reads the one value twice, and a norm takes two gradients itself. */
static size_t
readers_of_norm(struct nn_graph *graph, size_t x)
{
    size_t y = batch(graph, x);
    size_t z = norm_of(graph, gelu_erf(graph, y), NUM_NORM_NONE, y, 0);

    return norm_of(graph, z, NUM_NORM_NONE, gelu_tanh(graph, y), 0);
}

/* Blocks of a transformer without attention, x + W gelu(W ln(x)). */
static size_t
transformer(struct nn_graph *graph, size_t x, int layers)
{
    for (int layer = 0; layer < layers; layer++) {
        size_t y = linear_of(graph, layer_norm(graph, x), 12);

        y = linear_of(graph, gelu_erf(graph, y), 4);
        x = norm_of(graph, y, NUM_NORM_NONE, x, 0);
    }
    return x;
}

static size_t
deep(struct nn_graph *graph, size_t x)
{
    return transformer(graph, x, 12);
}

static size_t
across(struct nn_graph *graph, size_t x)
{
    return nn_graph_linear(
        graph, x,
        &(struct nn_linear){.name = "l", .out = 5, .across = 1, .no_bias = 1});
}

static size_t
no_bias(struct nn_graph *graph, size_t x)
{
    return nn_graph_linear(
        graph, x, &(struct nn_linear){.name = "l", .out = 5, .no_bias = 1});
}

/* x + W relu(x), where x is read by another later, or by nobody. */
static size_t
onto(struct nn_graph *graph, size_t x)
{
    const struct nn_linear what = {.name = "l", .out = 4};
    size_t y = norm_of(graph, x, NUM_NORM_NONE, nn_none, 1);

    return nn_graph_linear_onto(graph, y, x, &what);
}

static size_t
onto_and_reader(struct nn_graph *graph, size_t x)
{
    const struct nn_linear what = {.name = "m", .out = 4, .no_bias = 1};
    size_t y = nn_graph_linear_onto(graph, onto(graph, x), x, &what);

    return norm_of(graph, y, NUM_NORM_NONE, gelu_erf(graph, x), 0);
}

/* A row for each sample, on which every token bears differently. */
static size_t
pooled(struct nn_graph *graph, size_t x)
{
    return nn_graph_token_mean(graph, gelu_erf(graph, x));
}

static size_t
embedding(struct nn_graph *graph, size_t x)
{
    size_t y = nn_graph_embedding(graph, 0, "e", WORDS, 4, 0.02);

    return pooled(graph, norm_of(graph, y, NUM_NORM_NONE, x, 0));
}

static size_t
position(struct nn_graph *graph, size_t x)
{
    return pooled(graph, nn_graph_position(graph, x, "p", 0, 0.01));
}

static size_t
first(struct nn_graph *graph, size_t x)
{
    return nn_graph_token_pick(graph, x, NN_FIRST);
}

static size_t
last(struct nn_graph *graph, size_t x)
{
    return nn_graph_token_pick(graph, x, NN_LAST);
}

/* Queries, keys and values side by side. */
static size_t
attention(struct nn_graph *graph, size_t x)
{
    return pooled(graph, nn_graph_attention(graph, 1, &x, 2, 1));
}

static size_t
attention_of_three(struct nn_graph *graph, size_t x)
{
    const size_t in[] = {linear_of(graph, x, 6), linear_of(graph, x, 6), x};

    return pooled(graph, nn_graph_attention(graph, 3, in, 3, 0));
}

/* Images of 4x6 in patches of 2x2, and what a linear layer makes of them. */
static size_t
patches(struct nn_graph *graph, size_t x)
{
    x = nn_graph_linear(graph, nn_graph_patches(graph, x, 2),
                        &(struct nn_linear){.name = "l", .out = 3, .patch = 2});
    return nn_graph_token_pick(graph, x, NN_LAST);
}

/* Each token of an image, and so the one over which the class is written: the
 * bias before it has no gradient of that one. */
static size_t
class_token(struct nn_graph *graph, size_t x)
{
    x = linear_of(graph, nn_graph_patches(graph, x, 2), 4);
    return pooled(graph, nn_graph_class_token(graph, x, "class"));
}

/* linear(ln(mean of the token vectors)). */
static size_t
bag_of_words(struct nn_graph *graph, size_t x)
{
    return linear_of(graph, layer_norm(graph, nn_graph_token_mean(graph, x)),
                     3);
}

static size_t
text(struct nn_graph *graph, size_t x)
{
    return nn_graph_token_mean(graph, transformer(graph, x, 2));
}

static const struct graph_test {
    const char *operator; /* of the table, or a graph of several */
    const char *name;
    struct num_map in;
    size_t (*build)(struct nn_graph *graph, size_t x);
    const char *shape; /* of what it writes */
    size_t merged;     /* operators in evaluation that another one does */
    int tokens;        /* it reads a row for each token */
} tests[] = {
    {"conv", "strided", {0, 3, 5, 4, 1, 0}, strided_conv, "4x3x2", 0, 0},
    {"conv", "of blocks", {0, 16, 3, 3, 16, 0}, conv, "16x3x3", 0, 0},
    {"conv", "with norm", {0, 4, 4, 4, 1, 0}, conv_and_norm, "4x4x4", 1, 0},
    {"conv", "with sum", {0, 4, 3, 3, 1, 0}, conv_and_none, "4x3x3", 1, 0},
    {"conv", "with both", {0, 4, 4, 4, 1, 0}, convs_and_sum, "4x4x4", 1, 0},
    {"conv", "plus its input", {0, 4, 4, 4, 1, 0}, conv_and_sum, "4x4x4", 0, 0},
    {"conv", "and later", {0, 4, 4, 4, 1, 0}, conv_and_reader, "4x4x4", 0, 0},
    {"norm", "batch", {0, 5, 3, 3, 1, 0}, batch, "5x3x3", 0, 0},
    {"norm", "batch, sum", {0, 8, 2, 3, 8, 0}, batch_and_sum, "8x2x3", 0, 0},
    {"norm", "group", {0, 34, 2, 2, 1, 0}, group, "34x2x2", 0, 0},
    {"norm", "relu", {0, 4, 3, 3, 1, 0}, relu, "4x3x3", 0, 0},
    {"norm", "sum, relu", {0, 4, 3, 3, 1, 0}, sum_and_relu, "4x3x3", 0, 0},
    {"norm", "x + x", {0, 4, 3, 3, 1, 0}, twice_itself, "4x3x3", 0, 0},
    {"max", "3x3", {0, 4, 5, 6, 1, 0}, max_pool, "4x3x3", 0, 0},
    {"mean", "of 3x5", {0, 8, 3, 5, 8, 0}, nn_graph_mean, "8x1x1", 0, 0},
    {"linear", "of an image", {0, 3, 2, 4, 1, 0}, linear, "5x1x1", 0, 0},
    {"table", "rows", {0, 7, 1, 1, 1, 0}, nothing, "7x1x1", 0, 0},
    {"layer_norm", "rows", {0, 6, 1, 1, 1, 0}, layer_norm, "6x1x1", 0, 0},
    {"gelu", "erf", {0, 16, 1, 1, 1, 0}, gelu_erf, "16x1x1", 0, 0},
    {"gelu", "tanh", {0, 4, 2, 2, 1, 0}, gelu_tanh, "4x2x2", 0, 0},
    {"gelu", "quick", {0, 16, 1, 1, 1, 0}, gelu_quick, "16x1x1", 0, 0},
    {"graph", "3 readers", {0, 5, 1, 1, 1, 0}, three_readers, "6x1x1", 0, 0},
    {"graph", "a norm's 3", {0, 5, 2, 2, 1, 0}, readers_of_norm, "5x2x2", 0, 0},
    {"graph", "24 readers", {0, 4, 1, 1, 1, 0}, many_readers, "3x1x1", 0, 0},
    {"graph", "12 layers", {0, 4, 1, 1, 1, 0}, deep, "4x1x1", 0, 0},
    {"linear", "across", {0, 4, 1, 1, 1, 0}, across, "5x1x1", 0, 0},
    {"linear", "no bias", {0, 4, 1, 1, 1, 0}, no_bias, "5x1x1", 0, 0},
    {"linear", "onto x", {0, 4, 1, 1, 1, 0}, onto, "4x1x1", 0, 0},
    {"linear", "and later", {0, 4, 1, 1, 1, 0}, onto_and_reader, "4x1x1", 0, 0},
    {"table", "of words", {0, 4, 1, 1, 1, 0}, embedding, "4x1x1", 0, 1},
    {"position", "in a text", {0, 4, 1, 1, 1, 0}, position, "4x1x1", 0, 1},
    {"token_pick", "first", {0, 4, 1, 1, 1, 0}, first, "4x1x1", 0, 1},
    {"token_pick", "last", {0, 4, 1, 1, 1, 0}, last, "4x1x1", 0, 1},
    {"attention", "causal", {0, 12, 1, 1, 1, 0}, attention, "4x1x1", 0, 1},
    {"attention",
     "of three",
     {0, 6, 1, 1, 1, 0},
     attention_of_three,
     "6x1x1",
     0,
     1},
    {"patches", "of 2x2", {0, 2, 4, 6, 1, 0}, patches, "3x1x1", 0, 0},
    {"class_token", "", {0, 1, 4, 4, 1, 0}, class_token, "4x1x1", 0, 0},
    {"token_mean",
     "1, 3 and 8",
     {0, 4, 1, 1, 1, 0},
     nn_graph_token_mean,
     "4x1x1",
     0,
     1},
    {"graph", "words", {0, 4, 1, 1, 1, 0}, bag_of_words, "3x1x1", 0, 1},
    {"graph", "text", {0, 4, 1, 1, 1, 0}, text, "4x1x1", 0, 1},
};

enum { TESTS = sizeof tests / sizeof *tests };

static void
shape_gradient_and_evaluation_are_right(const struct graph_test *test)
{
    size_t x, y, merged;
    struct net net = net_start(N, test->in, test->tokens, &x);
    const struct num_map *map;
    char name[64], shape[64];
    double off;

    snprintf(name, sizeof name, "%s %s", test->operator, test->name);
    y = test->build(&net.graph, x);
    map = &net.graph.values[y].map;
    snprintf(shape, sizeof shape, "%zux%zux%zu", map->c, map->h, map->w);
    T(!strcmp(shape, test->shape), "%s: writes %s", name, shape);
    net_end(&net, y);
    off = slope_off(&net);
    T(off < 3e-3, "%s: the gradient is the slope, off by %.1e", name, off);
    T(adds_up(&net), "%s: a second backward adds the same", name);
    off = evaluation_off(&net, &merged);
    T(off < 1e-5 && merged == test->merged,
      "%s: evaluation is training with fixed statistics, off by %.1e, "
      "%zu merged",
      name, off, merged);
    net_free(&net);
}

static void
each_operator_is_tested(void)
{
    for (size_t i = 0; i < nn_operators_count; i++) {
        size_t n = 0;

        for (size_t k = 0; k < TESTS; k++)
            n += !strcmp(tests[k].operator, nn_operators[i]->name);
        T(n > 0, "the operator %s of the table has a test",
          nn_operators[i]->name);
    }
}

/* Where a value takes 8 MB and one operator alone reads it. */
static void
large_values_are_made_again(void)
{
    enum { ROWS = 2048, WIDTH = 1024 };
    size_t x, y, again = 0;
    struct net net = net_start(ROWS, nn_graph_rows(2), 0, &x);
    double want, side[2], scale;
    const float step = 1e-3f;
    float *at;

    y = layer_norm(&net.graph, linear_of(&net.graph, x, WIDTH));
    y = linear_of(&net.graph, y, WIDTH);
    net_end(&net, linear_of(&net.graph, gelu_erf(&net.graph, y), 2));
    for (size_t i = 0; i < net.plan->n_steps; i++)
        again += net.plan->steps[i].again[0] != nn_none;
    T(again == 2, "%zu of two values of 8 MB are made again", again);
    for (size_t i = 0; i < net.graph.params; i++) // as large as one keeps them
        net.params[i] *= i < net.graph.tensors[0].count ? 0.02f : 0.1f;
    value(&net, NN_LOOK);
    backward(&net, 0);
    want = num_dot(net.graph.params, net.grads, net.grads);
    scale = step / sqrt(want);
    at = mem_array(net.graph.params, sizeof *at);
    memcpy(at, net.params, net.graph.params * sizeof *at);
    for (int s = 0; s < 2; s++) {
        num_axpy(net.graph.params, (float)(s ? scale : -scale), net.grads,
                 net.params);
        side[s] = value(&net, NN_LOOK);
        memcpy(net.params, at, net.graph.params * sizeof *at);
    }
    T_NEAR((side[1] - side[0]) / (2 * scale) / want, 1, 0.01,
           "the slope along the gradient is its square");
    free(at);
    net_free(&net);
}

/* Rows 1 and 2 of three, whose offsets do not begin at 0. */
static void
a_part_of_a_batch_is_a_batch(void)
{
    size_t x;
    struct net net = net_start(N, nn_graph_rows(4), 1, &x), part;
    const float *whole, *two;
    struct nn_run run;
    double off = 0;

    net_end(&net, bag_of_words(&net.graph, x));
    value(&net, NN_LOOK);
    part = net;
    part.input.n = 2;
    part.input.offsets++;
    part.plan = plan_of(&part, &part.input, 1);
    part.block = mem_aligned(part.plan->bytes, 1);
    run = run_of(&part, NN_LOOK);
    nn_run_input(&run, &part.input, NULL, NULL);
    nn_run_forward(&run);
    whole = (const float *)(net.block + net.plan->output) + 3;
    two = (const float *)(part.block + part.plan->output);
    T(part.plan->tokens == 11, "the part has the tokens of its texts");
    for (size_t i = 0; i < 6; i++)
        off = fmax(off, fabs((double)two[i] - (double)whole[i]));
    // a product of fewer rows may add in another order
    T(off < 1e-6,
      "two of three texts, packed from the second on, give the same: %g", off);
    nn_plan_free(part.plan);
    free(part.block);
    net_free(&net);
}

/* y = W x + b of the same numbers as f32 rows and as bytes of an image. */
static void
rows_and_images_are_read(void)
{
    static const float mean[] = {0.5f, 0.25f}, deviation[] = {1, 2};
    static const uint8_t bytes[] = {0, 51, 102, 255, 1, 2, 3, 4};
    const enum nn_input_kind kinds[] = {NN_ROWS, NN_IMAGES};
    float rows[8], y[2][6];

    for (size_t p = 0; p < 8; p++) // pixels to planes, two of each image
        rows[p / 4 * 4 + p % 2 * 2 + p % 4 / 2] =
            (float)((bytes[p] / 255. - mean[p % 2]) / deviation[p % 2]);
    for (int i = 0; i < 2; i++) {
        struct net net = {.n = 2, .dnn = num_dnn_new()};
        struct num_map map = {.c = 2, .h = 1, .w = 2, .block = 1};
        size_t x =
            nn_graph_input(&net.graph, kinds[i], i ? map : nn_graph_rows(4));
        struct nn_run run;

        net.input = (struct nn_input){.n = 2, .images = bytes, .rows = rows};
        net_end(&net, linear_of(&net.graph, x, 3));
        run = run_of(&net, NN_LOOK);
        nn_run_input(&run, &net.input, mean, deviation);
        nn_run_forward(&run);
        memcpy(y[i], net.block + net.plan->output, sizeof y[i]);
        net_free(&net);
    }
    T(!memcmp(y[0], y[1], sizeof y[0]) && y[0][0] != y[0][3],
      "f32 rows and normalised bytes give the same bits");
}

int
main(void)
{
    num_threads(1);
    each_operator_is_tested();
    for (size_t i = 0; i < TESTS; i++)
        shape_gradient_and_evaluation_are_right(&tests[i]);
    large_values_are_made_again();
    a_part_of_a_batch_is_a_batch();
    rows_and_images_are_read();
    return t_done();
}
