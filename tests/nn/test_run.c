/* How a run treats large values, and its inputs. */
#include "graphs.h"
#include "num/threads.h"

/* Where a value takes 8 MB and one operator alone reads it. */
static void
large_values_are_recomputed(void)
{
    enum { ROWS = 2048, WIDTH = 1024 };
    size_t x, y, recomputed = 0;
    struct net net = net_start(ROWS, nn_graph_rows(2), 0, &x);
    double want, side[2], scale;
    const float step = 1e-3f;
    float *at;

    y = layer_norm(&net.graph, linear_of(&net.graph, x, WIDTH));
    y = linear_of(&net.graph, y, WIDTH);
    net_end(&net, linear_of(&net.graph, gelu_erf(&net.graph, y), 2));
    for (size_t i = 0; i < net.plan->n_steps; i++)
        recomputed += net.plan->steps[i].recomputed[0] != nn_none;
    T(recomputed == 2, "%zu of two values of 8 MB are recomputed", recomputed);
    for (size_t i = 0; i < net.graph.params; i++) // the largest that are stored
        net.params[i] *= i < net.graph.tensors[0].count ? 0.02f : 0.1f;
    value(&net, NN_ENCODE);
    backward(&net, 0);
    want = num_dot(net.graph.params, net.grads, net.grads);
    scale = step / sqrt(want);
    at = mem_array(net.graph.params, sizeof *at);
    memcpy(at, net.params, net.graph.params * sizeof *at);
    for (int s = 0; s < 2; s++) {
        num_axpy(net.graph.params, (float)(s ? scale : -scale), net.grads,
                 net.params);
        side[s] = value(&net, NN_ENCODE);
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

    net_end(&net,
            linear_of(
                &net.graph,
                layer_norm(&net.graph, nn_graph_token_mean(&net.graph, x)), 3));
    value(&net, NN_ENCODE);
    part = net;
    part.input.n = 2;
    part.input.offsets++;
    part.plan = plan_of(&part, &part.input, 1);
    part.block = mem_aligned(part.plan->bytes, 1);
    run = run_of(&part, NN_ENCODE);
    nn_run_input(&run, &part.input, NULL, NULL);
    nn_run_forward(&(struct nn_runs){.n = 1, .run = &run});
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

/* y = W x + b of the same numbers as f32 rows and as image bytes. */
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
        run = run_of(&net, NN_ENCODE);
        nn_run_input(&run, &net.input, mean, deviation);
        nn_run_forward(&(struct nn_runs){.n = 1, .run = &run});
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
    large_values_are_recomputed();
    a_part_of_a_batch_is_a_batch();
    rows_and_images_are_read();
    return t_done();
}
