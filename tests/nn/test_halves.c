/* Transformers in bfloat16: outputs and gradients against those of f32, which
 * results are independent of batch and threads, and memory.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "num/dnn.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 8, IDS = 11, CONTEXT = 12, DIM = 6, SIDE = 8 };
enum { IMAGE = SIDE * SIDE * 3 };

static const char *const archs[] = {"bow:24", "clip:32x3x2", "clip:15x1x3",
                                    "distilbert:24x2x3", "vit:32x2x4x2"};

enum { ARCHS = sizeof archs / sizeof *archs };

/* Texts of 1 to 12 tokens, and images: the net reads one kind. */
struct batch {
    struct nn_input input;
    int32_t ids[N * CONTEXT];
    size_t offsets[N + 1];
    uint8_t images[N * IMAGE];
    float dz[N * DIM];
};

static void
fill_batch(struct batch *b)
{
    static const size_t lengths[N] = {1, 3, 8, 12, 2, 5, 1, 7};
    struct rng rng;

    rng_init(&rng, 3, RNG_TEST, 0, 0, 0);
    b->offsets[0] = 0;
    for (size_t i = 0; i < N; i++)
        b->offsets[i + 1] = b->offsets[i] + lengths[i];
    for (size_t i = 0; i < N * CONTEXT; i++)
        b->ids[i] = (int32_t)rng_below(&rng, IDS);
    for (size_t i = 0; i < N * IMAGE; i++)
        b->images[i] = (uint8_t)rng_below(&rng, 256);
    for (size_t i = 0; i < N * DIM; i++)
        b->dz[i] = (float)rng_normal(&rng);
    b->input = (struct nn_input){
        .n = N, .images = b->images, .ids = b->ids, .offsets = b->offsets};
}

/* The same weights, larger than initial ones, in either precision. */
static struct nn_net *
net_of(const char *arch, int bf16)
{
    const struct nn_spec spec = {
        .arch = arch,
        .stem = "small",
        .norm = "batch",
        .head = "project:6",
        .vocabulary = IDS,
        .context = CONTEXT,
        .height = SIDE,
        .image_width = SIDE,
        .channels = 3,
        .mean = {.5, .5, .5},
        .deviation = {.3f, .3f, .3f},
        .bf16 = bf16,
    };
    struct err err = {""};
    struct nn_net *net = nn_net_new(&spec, N, 1, &err);
    struct rng rng;
    size_t n;
    float *p;

    T(net != NULL, "%s in %s is made %s", arch, bf16 ? "bfloat16" : "f32",
      err.msg);
    nn_net_init(net, 1);
    p = nn_net_params(net, &n);
    rng_init(&rng, 8, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        p[i] += 0.1f * (float)rng_normal(&rng);
    return net;
}

/* |x - y| / |y|. */
static double
apart(size_t n, const float *x, const float *y)
{
    double square = 0;

    for (size_t i = 0; i < n; i++)
        square += (x[i] - y[i]) * (double)(x[i] - y[i]);
    return sqrt(square / num_dot(n, y, y));
}

static void
halves_are_near_f32(const char *arch, struct batch *b)
{
    struct nn_net *net[2] = {net_of(arch, 0), net_of(arch, 1)};
    float z[2][N * DIM], infer[N * DIM];
    double off, slope;
    size_t n;

    nn_net_params(net[0], &n);
    for (int k = 0; k < 2; k++) {
        nn_net_forward(net[k], NN_TRAIN, &b->input, NULL, z[k]);
        nn_net_backward(net[k], b->dz, 0);
    }
    off = apart(N * DIM, z[1], z[0]);
    slope = apart(n, nn_net_grads(net[1]), nn_net_grads(net[0]));
    T(off > 0 && off < 0.02, "%s: embeddings as in f32, error %.4f", arch, off);
    T(slope > 0 && slope < 0.03, "%s: gradients, error %.4f", arch, slope);
    T(nn_net_memory(net[1]) < nn_net_memory(net[0]),
      "%s: in less memory, %zu bytes for %zu", arch, nn_net_memory(net[1]),
      nn_net_memory(net[0]));
    nn_net_infer(net[1], &b->input, NULL, infer);
    T(!memcmp(infer, z[1], sizeof infer), "%s: inference has training's bits",
      arch);
    nn_net_free(net[0]);
    nn_net_free(net[1]);
}

/* A sample alone, and all with another number of threads. */
static void
a_sample_is_independent_of_others(const char *arch, struct batch *b)
{
    struct nn_net *one = net_of(arch, 1), *three;
    float all[N * DIM], z[N * DIM];
    double most = 0;
    size_t n;

    nn_net_forward(one, NN_TRAIN, &b->input, NULL, all);
    for (size_t i = 0; i < N; i++) {
        const struct nn_input input = {.n = 1,
                                       .images = b->images + i * IMAGE,
                                       .ids = b->ids,
                                       .offsets = b->offsets + i};

        nn_net_forward(one, NN_TRAIN, &input, NULL, z);
        most = fmax(most, apart(DIM, z, all + i * DIM));
    }
    // the head is f32, and sums in another order for one row
    T(most < 1e-6, "%s: a sample alone has the same, error %.1e", arch, most);
    nn_net_forward(one, NN_TRAIN, &b->input, NULL, all);
    nn_net_backward(one, b->dz, 0);
    num_threads(3);
    three = net_of(arch, 1);
    nn_net_forward(three, NN_TRAIN, &b->input, NULL, z);
    nn_net_backward(three, b->dz, 0);
    num_threads(1);
    nn_net_params(one, &n);
    T(!memcmp(z, all, sizeof z) &&
          apart(n, nn_net_grads(three), nn_net_grads(one)) < 1e-6,
      "%s: and with three threads", arch);
    nn_net_free(one);
    nn_net_free(three);
}

/* Weights are f32: a step below a bfloat16's last digit counts. */
static void
weights_stay_f32(struct batch *b)
{
    struct nn_net *net = net_of("clip:32x3x2", 1);
    float *p, before[N * DIM], after[N * DIM];
    size_t n;

    p = nn_net_params(net, &n);
    nn_net_forward(net, NN_TRAIN, &b->input, NULL, before);
    for (int step = 0; step < 64; step++)
        for (size_t i = 0; i < n; i++)
            p[i] *= 1 + 0x1p-12f;
    nn_net_forward(net, NN_TRAIN, &b->input, NULL, after);
    T(apart(N * DIM, after, before) > 5e-3,
      "64 steps of 2^-12 of a weight add up");
    nn_net_free(net);
}

int
main(void)
{
    struct batch *b = mem_array(1, sizeof *b);

    num_threads(1);
    fill_batch(b);
    if (!num_dnn_bf16()) {
        T_SKIP("halves", "no AVX-512");
    } else {
        for (size_t i = 0; i < ARCHS; i++) {
            halves_are_near_f32(archs[i], b);
            a_sample_is_independent_of_others(archs[i], b);
        }
        weights_stay_f32(b);
    }
    free(b);
    return t_done();
}
