/*
 * Every operator of the table, in small graphs: the shape of its output, its
 * gradients against central differences over all inputs and parameters,
 * evaluation against training; and values that many operators read.
 */
#include "graphs.h"
#include "num/threads.h"

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

/* Its input is read again later: the sum must not overwrite it. */
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

/* All of them exist at the same time before they are added. */
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

/* Each reads the value twice, and a norm accepts two gradients itself. */
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
transposed(struct nn_graph *graph, size_t x)
{
    return nn_graph_linear(
        graph, x,
        &(struct nn_linear){
            .name = "l", .out = 5, .transposed = 1, .no_bias = 1});
}

static size_t
no_bias(struct nn_graph *graph, size_t x)
{
    return nn_graph_linear(
        graph, x, &(struct nn_linear){.name = "l", .out = 5, .no_bias = 1});
}

/* x + W relu(x), where x is read by another operator later, or by none. */
static size_t
in_place(struct nn_graph *graph, size_t x)
{
    const struct nn_linear what = {.name = "l", .out = 4};
    size_t y = norm_of(graph, x, NUM_NORM_NONE, nn_none, 1);

    return nn_graph_linear_onto(graph, y, x, &what);
}

static size_t
in_place_and_reader(struct nn_graph *graph, size_t x)
{
    const struct nn_linear what = {.name = "m", .out = 4, .no_bias = 1};
    size_t y = nn_graph_linear_onto(graph, in_place(graph, x), x, &what);

    return norm_of(graph, y, NUM_NORM_NONE, gelu_erf(graph, x), 0);
}

/* A row for each sample that depends differently on each token. */
static size_t
pooled(struct nn_graph *graph, size_t x)
{
    return nn_graph_token_mean(graph, gelu_erf(graph, x));
}

static size_t
embedding(struct nn_graph *graph, size_t x)
{
    size_t y = nn_graph_embedding(graph, 0, "e", WORDS, 4, 0.02, 0);

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

/* Queries, keys and values in one array. */
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

/* Images of 4x6 in patches of 2x2, through a linear layer. */
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
    const char *shape; /* of its output */
    size_t merged;     /* operators merged into others in evaluation */
    int tokens;        /* it reads a row for each token */
} tests[] = {
    {"conv", "strided", {0, 3, 5, 4, 1, 0}, strided_conv, "4x3x2", 0, 0},
    {"conv", "of blocks", {0, 16, 3, 3, 16, 0}, conv, "16x3x3", 0, 0},
    {"conv", "with norm", {0, 4, 4, 4, 1, 0}, conv_and_norm, "4x4x4", 1, 0},
    {"conv", "with sum", {0, 4, 3, 3, 1, 0}, conv_and_none, "4x3x3", 1, 0},
    {"conv", "with both", {0, 4, 4, 4, 1, 0}, convs_and_sum, "4x4x4", 1, 0},
    {"conv", "plus its input", {0, 4, 4, 4, 1, 0}, conv_and_sum, "4x4x4", 0, 0},
    {"conv", "2 readers", {0, 4, 4, 4, 1, 0}, conv_and_reader, "4x4x4", 0, 0},
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
    {"linear", "across", {0, 4, 1, 1, 1, 0}, transposed, "5x1x1", 0, 0},
    {"linear", "no bias", {0, 4, 1, 1, 1, 0}, no_bias, "5x1x1", 0, 0},
    {"linear", "onto x", {0, 4, 1, 1, 1, 0}, in_place, "4x1x1", 0, 0},
    {"linear",
     "2 readers",
     {0, 4, 1, 1, 1, 0},
     in_place_and_reader,
     "4x1x1",
     0,
     0},
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
    off = slope_error(&net);
    T(off < 3e-3, "%s: the gradient is the slope, error %.1e", name, off);
    T(adds_up(&net), "%s: a second backward adds the same", name);
    off = evaluation_error(&net, &merged);
    T(off < 1e-5 && merged == test->merged,
      "%s: evaluation is training with fixed statistics, error %.1e, "
      "%zu merged",
      name, off, merged);
    net_free(&net);
}

#define ROW(row) &nn_op_##row,

static void
each_operator_is_tested(void)
{
    static const struct nn_operator *const all[] = {NN_OPERATORS(ROW)};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        size_t n = 0;

        for (size_t k = 0; k < TESTS; k++)
            n += !strcmp(tests[k].operator, all[i]->name);
        T(n > 0, "the operator %s of the table has a test", all[i]->name);
    }
}

int
main(void)
{
    num_threads(1);
    each_operator_is_tested();
    for (size_t i = 0; i < TESTS; i++)
        shape_gradient_and_evaluation_are_right(&tests[i]);
    return t_done();
}
