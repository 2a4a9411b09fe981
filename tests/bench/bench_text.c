#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "nn/optim.h"
#include "num/threads.h"
#include "shortest.h"
#include "util/mem.h"
#include "util/rng.h"

/*
 * bench_text ARCH train|features f32|bf16 ROWS THREADS STEPS: the shortest time
 * of a step on ROWS texts, in ms, and the peak memory, in MB.  Texts have 3 to
 * 15 tokens of a vocabulary of 4,096, packed; how many they are in all differs
 * from step to step, as in training.  Training is forward, backward of a fixed
 * gradient, and AdamW.  The first step is not counted.
 * scripts/benchmarks/text_peer.py is the same in PyTorch.
 */
enum { IDS = 4096, CONTEXT = 32, LEAST = 3, MOST = 15, DIM = 128 };

struct bench {
    struct nn_net *net;
    struct nn_optim *optim;
    size_t rows, *offsets;
    int32_t *ids;
    float *z, *dz;
};

static int
setup(struct bench *b, const char *arch, int train, int bf16, struct err *err)
{
    const struct nn_spec spec = {.arch = arch,
                                 .stem = "small",
                                 .norm = "batch",
                                 .head = "project:128",
                                 .vocabulary = IDS,
                                 .context = CONTEXT,
                                 .bf16 = bf16};
    const struct nn_optim_spec adamw = {"adamw", 0.9, 0, 0.05, 0, 0, 0, 0};
    const struct nn_tensor *tensors;
    size_t n, count;
    struct rng rng;

    b->net = nn_net_new(&spec, b->rows, train, err);
    if (!b->net)
        return -1;
    nn_net_init(b->net, 1);
    tensors = nn_net_tensors(b->net, &n);
    nn_net_params(b->net, &count);
    if (train)
        b->optim = nn_optim_new(&adamw, tensors, n, count, err);
    b->offsets = mem_array(b->rows + 1, sizeof *b->offsets);
    b->ids = mem_array(b->rows * MOST, sizeof *b->ids);
    b->z = mem_array(b->rows * DIM, sizeof *b->z);
    b->dz = mem_array(b->rows * DIM, sizeof *b->dz);
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < b->rows * MOST; i++)
        b->ids[i] = (int32_t)rng_below(&rng, IDS);
    for (size_t i = 0; i < b->rows * DIM; i++)
        b->dz[i] = (float)rng_normal(&rng);
    return train && !b->optim ? -1 : 0;
}

/* Lengths in turn, from another one on in each step. */
static struct nn_input
texts_of(struct bench *b, size_t step)
{
    for (size_t i = 0; i < b->rows; i++)
        b->offsets[i + 1] =
            b->offsets[i] + LEAST + (i + step) % (MOST - LEAST + 1);
    return (struct nn_input){
        .n = b->rows, .ids = b->ids, .offsets = b->offsets};
}

static void
step(void *bench, size_t i)
{
    struct bench *b = bench;
    const struct nn_input input = texts_of(b, i);

    if (!b->optim) {
        nn_net_infer(b->net, &input, NULL, b->z);
        return;
    }
    nn_net_forward(b->net, NN_TRAIN, &input, NULL, b->z);
    nn_net_backward(b->net, b->dz, 0);
    nn_optim_step(b->optim, 1e-4, nn_net_params(b->net, NULL),
                  nn_net_grads(b->net));
}

int
main(int argc, char **argv)
{
    struct bench b = {0};
    struct err err;

    if (argc != 7)
        return 2;
    num_threads_sleep(argv); // as foil-train does
    b.rows = strtoul(argv[4], NULL, 10);
    num_threads(atoi(argv[5]));
    if (setup(&b, argv[1], !strcmp(argv[2], "train"), !strcmp(argv[3], "bf16"),
              &err)) {
        fprintf(stderr, "bench_text: %s\n", err.msg);
        return 1;
    }
    print_shortest(step, &b, strtoul(argv[6], NULL, 10), clock_for(argv[5]));
    nn_optim_free(b.optim);
    nn_net_free(b.net);
    free(b.offsets);
    free(b.ids);
    free(b.z);
    free(b.dz);
    return 0;
}
