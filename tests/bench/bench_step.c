#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loss/objective.h"
#include "nn/encoder.h"
#include "nn/operator.h"
#include "nn/optim.h"
#include "num/threads.h"
#include "peak.h"
#include "shortest.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_step [--size=PIXELSxPAIRS] ARCH train|features f32|bf16 THREADS STEPS:
 * the shortest time of a step, in ms, which is what it takes when nothing else
 * disturbs, the peak memory, in MB, and how many percent that is of the most
 * multiply-adds that THREADS reach in f32, counting convolutions, as direct
 * sums, and linear layers (0: not known for this processor).  Training is 32
 * pairs of 32x32 images, or as many of that size, through the encoder (small
 * stem, but from 64 pixels on that of ImageNet), a head of two layers to 128,
 * SimCLR, and SGD with momentum; features are as many images in evaluation
 * mode.  The first step is not counted.  scripts/benchmarks/step_peer.py is the
 * same in PyTorch.
 */
enum { DIM = 128, LARGE = 64 };

struct bench {
    size_t side, pairs;
    struct nn_net *net;
    struct nn_optim *optim;
    const struct loss_objective *simclr;
    uint8_t *images;
    float *h, *z, *dz, *work;
    double gflop; /* of a step */
};

static void
train_step(struct bench *b, const struct nn_input *input)
{
    struct loss_batch batch = {.b = b->pairs, .dim = DIM};
    const struct loss_settings set = loss_settings_of(b->simclr);
    struct loss_report report;

    nn_net_forward(b->net, NN_TRAIN, input, NULL, b->z);
    loss_objective_run(b->simclr, &set, &batch, b->z, NULL, b->dz, b->work,
                       &report);
    nn_net_backward(b->net, b->dz, 0);
    nn_optim_step(b->optim, 0.01, nn_net_params(b->net, NULL),
                  nn_net_grads(b->net));
}

static void
step(void *bench, size_t i)
{
    struct bench *b = bench;
    const struct nn_input input = {.n = 2 * b->pairs, .images = b->images};

    (void)i;
    if (b->optim)
        train_step(b, &input);
    else
        nn_net_infer(b->net, &input, b->h, NULL);
}

/* Multiply-adds of a step, in GFLOP. */
static double
gflop_of(const struct nn_spec *spec, size_t rows, int train)
{
    struct nn_graph graph = {0};
    struct err err;
    const struct nn_encoder *encoder = nn_encoder_find(spec->arch, &err);
    const struct num_map images = {.c = spec->channels,
                                   .h = spec->height,
                                   .w = spec->image_width,
                                   .block = 1};
    double sum = 0;

    graph.feature = nn_encoder_build(&graph, encoder, spec,
                                     nn_graph_input(&graph, NN_IMAGES, images));
    if (train)
        nn_head(&graph, spec->head, graph.feature);
    for (size_t i = 0; i < graph.n_ops; i++) {
        const struct nn_op *op = &graph.ops[i];
        const struct nn_value *out = &graph.values[op->out];
        const size_t pixels =
            out->tokens ? graph.each : out->map.h * out->map.w;
        const int passes = !train                             ? 1
                           : graph.values[op->in[0]].has_grad ? 3
                                                              : 2;

        if (op->is == &nn_op_conv || op->is == &nn_op_linear)
            sum += 2e-9 * passes * (double)(rows * pixels) *
                   (double)graph.tensors[op->tensor].count;
    }
    nn_graph_release(&graph);
    return sum;
}

static int
setup(struct bench *b, const char *arch, int train, int bf16, struct err *err)
{
    const int large = strcmp(arch, "resnet20") && strncmp(arch, "vit:", 4);
    const size_t rows = 2 * b->pairs;
    struct nn_spec spec = {.arch = arch,
                           .stem = b->side < LARGE ? "small" : "imagenet",
                           .norm = "batch",
                           .head = large ? "512-128" : "64-128",
                           .height = b->side,
                           .image_width = b->side,
                           .channels = 3,
                           .mean = {.5f, .5f, .5f},
                           .deviation = {.25f, .25f, .25f},
                           .bf16 = bf16};
    struct nn_optim_spec sgd = {"sgd", 0.9, 0, 1e-4, 0, 0, 0, 0};
    struct loss_batch batch = {.b = b->pairs, .dim = DIM};
    const struct nn_tensor *tensors;
    size_t n, count, pixels = rows * b->side * b->side * 3;
    struct rng rng;

    b->net = nn_net_new(&spec, rows, train, err);
    if (!b->net)
        return -1;
    b->gflop = gflop_of(&spec, rows, train);
    nn_net_init(b->net, 1);
    tensors = nn_net_tensors(b->net, &n);
    nn_net_params(b->net, &count);
    if (train)
        b->optim = nn_optim_new(&sgd, tensors, n, count, err);
    b->simclr = loss_objective_find("simclr", err);
    b->images = mem_array(pixels, 1);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < pixels; i++)
        b->images[i] = (uint8_t)rng_u32(&rng);
    b->h = mem_array(rows * nn_net_features(b->net), sizeof *b->h);
    b->z = mem_array(rows * DIM, sizeof *b->z);
    b->dz = mem_array(rows * DIM, sizeof *b->dz);
    b->work =
        mem_array(loss_objective_size(b->simclr, &batch), sizeof *b->work);
    return b->simclr && (b->optim || !train) ? 0 : -1;
}

int
main(int argc, char **argv)
{
    struct bench b = {.side = 32, .pairs = 32};
    struct err err;
    double ms, most;

    num_threads_sleep(argv); // as foil-train does
    if (argc > 1 && sscanf(argv[1], "--size=%zux%zu", &b.side, &b.pairs) == 2) {
        argc--;
        argv++;
    }
    if (argc != 6)
        return 2;
    num_threads(atoi(argv[4]));
    if (setup(&b, argv[1], !strcmp(argv[2], "train"), !strcmp(argv[3], "bf16"),
              &err)) {
        fprintf(stderr, "bench_step: %s\n", err.msg);
        return 1;
    }
    ms = shortest(step, &b, strtoul(argv[5], NULL, 10), clock_for(argv[4]));
    most = peak() * atoi(argv[4]);
    printf("%.2f %.0f %.0f\n", ms, peak_memory(),
           most > 0 ? 1e5 * b.gflop / ms / most : 0);
    nn_optim_free(b.optim);
    nn_net_free(b.net);
    free(b.images);
    free(b.h);
    free(b.z);
    free(b.dz);
    free(b.work);
    return 0;
}
