#include "graphs.h"
#include "num/threads.h"

/*
 * A norm with ReLU that only a convolution by Winograd reads is fused into
 * that: in training it is not written, and nothing else changes, to the bit.
 */
enum { CHANNELS = 32, SIDE = 9, MANY = 5 };

/* conv(act(norm(conv(x)))); where the norm is the feature, it is written. */
static struct net
net_of(int fused, int relu, size_t stride)
{
    const struct num_map map = {N, CHANNELS, SIDE, SIDE, num_map_block(16), 0};
    size_t x, y;
    struct net net = net_start(N, map, 0, &x);

    net.winograd = 1;
    x = conv_of(&net.graph, x, 3, 1, 0);
    x = norm_of(&net.graph, x, NUM_NORM_BATCH, nn_none, relu);
    y = conv_of(&net.graph, x, 3, stride, 1);
    net_end(&net, y);
    if (!fused) {
        net.graph.feature = x;
        nn_plan_free(net.plan);
        free(net.block);
        net.plan = plan_of(&net, &net.input, 1);
        net.block = mem_aligned(net.plan->bytes, 1);
    }
    return net;
}

static int
fuses(const struct net *net)
{
    int any = 0;

    for (size_t i = 0; i < net->plan->n_steps; i++)
        any |= net->plan->steps[i].fused;
    return any;
}

static int
same_output(const struct net *a, const struct net *b)
{
    return !memcmp(a->block + a->plan->output, b->block + b->plan->output,
                   a->size * sizeof(float));
}

/* A pass in two halves, as for a batch in parts. */
static void
run_halves(const struct net *net, int back)
{
    double sums[2 * CHANNELS];
    size_t recomputed;
    const struct nn_parts parts = {.n = 1, .rows = N};
    struct nn_run run = run_of(net, NN_ENCODE);
    const struct nn_runs runs = {.n = 1,
                                 .run = &run,
                                 .recomputed = &recomputed,
                                 .parts = &parts,
                                 .sums = sums};

    run.rows = N;
    if (back) {
        memcpy(net->block + net->plan->dz, net->weights,
               net->size * sizeof *net->weights);
        nn_run_backward(&runs);
    } else {
        nn_run_input(&run, &net->input, NULL, NULL);
        nn_run_forward(&runs);
    }
}

static void
bits_are_the_same(void)
{
    struct net fused = net_of(1, 1, 1), written = net_of(0, 1, 1);
    const size_t bytes = fused.graph.params * sizeof(float);

    T(fuses(&fused) && !fuses(&written), "a norm with ReLU is fused");
    for (int mode = 0; mode < 2; mode++) {
        value(&fused, mode ? NN_FIXED : NN_ENCODE);
        value(&written, mode ? NN_FIXED : NN_ENCODE);
        T(same_output(&fused, &written), "the same output, %s",
          mode ? "fixed" : "of the batch");
    }
    value(&fused, NN_ENCODE);
    value(&written, NN_ENCODE);
    backward(&fused, 0);
    backward(&written, 0);
    T(!memcmp(fused.grads, written.grads, bytes), "the same gradients");
    run_halves(&fused, 0);
    run_halves(&written, 0);
    T(same_output(&fused, &written), "the same output of a batch in parts");
    run_halves(&fused, 1);
    run_halves(&written, 1);
    T(!memcmp(fused.grads, written.grads, bytes),
      "a batch in parts has the same gradients");
    T(fused.plan->bytes < written.plan->bytes, "in %zu bytes, not %zu",
      fused.plan->bytes, written.plan->bytes);
    net_free(&fused);
    net_free(&written);
}

static void
others_are_written(void)
{
    struct net plain = net_of(1, 0, 1), strided = net_of(1, 1, 2);

    T(!fuses(&plain), "a norm without ReLU is written");
    T(!fuses(&strided), "a norm before a stride is written");
    net_free(&plain);
    net_free(&strided);
}

/* A residual block between convolutions: norms with two, one and one readers,
 * the second one fused, the third one with a sum. */
static struct net
block_of(int neighbours)
{
    const struct num_map map = {MANY, 16, SIDE, SIDE, num_map_block(16), 0};
    size_t x, y;
    struct net net = net_start(MANY, map, 0, &x);

    net.winograd = 1;
    x = conv_of(&net.graph, x, 3, 1, 0);
    x = norm_of(&net.graph, x, NUM_NORM_BATCH, nn_none, 1);
    y = conv_of(&net.graph, x, 3, 1, 0);
    y = norm_of(&net.graph, y, NUM_NORM_BATCH, nn_none, 1);
    y = conv_of(&net.graph, y, 3, 1, 0);
    y = norm_of(&net.graph, y, NUM_NORM_BATCH, x, 1);
    net_end(&net, conv_of(&net.graph, y, 3, 1, 1));
    for (size_t i = 0; i < net.plan->n_steps && !neighbours; i++)
        net.plan->steps[i].sums_by_previous =
            net.plan->steps[i].back_sums_by_next = 0;
    return net;
}

/* Sums of images by neighbouring operators are those of the norm itself. */
static void
sums_are_the_same(void)
{
    struct net neighbours = block_of(1), alone = block_of(0);
    int sums = 0;

    for (size_t i = 0; i < neighbours.plan->n_steps; i++)
        sums += neighbours.plan->steps[i].sums_by_previous +
                neighbours.plan->steps[i].back_sums_by_next;
    T(sums == 6, "neighbours compute all sums of three norms");
    for (int mode = 0; mode < 2; mode++) {
        value(&neighbours, mode ? NN_FIXED : NN_ENCODE);
        value(&alone, mode ? NN_FIXED : NN_ENCODE);
        T(same_output(&neighbours, &alone), "the same output, %s",
          mode ? "fixed" : "of the batch");
        backward(&neighbours, 0);
        backward(&alone, 0);
        T(!memcmp(neighbours.grads, alone.grads,
                  neighbours.graph.params * sizeof(float)),
          "neighbours compute the same gradients");
    }
    net_free(&neighbours);
    net_free(&alone);
}

int
main(void)
{
    num_threads(1);
    sums_are_the_same();
    bits_are_the_same();
    others_are_written();
    return t_done();
}
