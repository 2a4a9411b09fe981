/* Encoders of texts, and the vision transformer: gradients of whole nets,
 * packing, initial values, names and decay. */
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { N = 3, IDS = 11, TOKENS = 12, DIM = 6 };

static const size_t offsets[N + 1] = {0, 1, 4, 12};
static const int32_t ids[TOKENS] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};

static struct nn_net *
text_net(const char *arch, int train)
{
    const struct nn_spec spec = {
        .arch = arch,
        .stem = "small",
        .norm = "batch",
        .head = "project:6",
        .vocabulary = IDS,
        .context = 8,
    };
    struct err err = {""};
    struct nn_net *net = nn_net_new(&spec, N, train, &err);

    T(net != NULL, "%s is made %s", arch, err.msg);
    nn_net_init(net, 1);
    return net;
}

static const struct nn_input texts = {.n = N, .ids = ids, .offsets = offsets};

/* A linear function of the embeddings. */
static double
value(struct nn_net *net, const float *weights)
{
    float z[N * DIM];

    nn_net_forward(net, NN_TRAIN, &texts, NULL, z);
    return num_dot(N * DIM, z, weights);
}

/* Central differences along a random direction against the gradient, in units
 * of that of a typical direction. */
static double
slope_error(struct nn_net *net, uint64_t trial)
{
    size_t n;
    float *p = nn_net_params(net, &n), *at = mem_array(n, sizeof *at);
    float *u = mem_array(n, sizeof *u), weights[N * DIM];
    const float *g = nn_net_grads(net);
    const double step = 2e-3;
    double side[2], want, scale;
    struct rng rng;

    rng_init(&rng, 7, RNG_TEST, trial, 0, 0);
    for (size_t i = 0; i < N * DIM; i++)
        weights[i] = (float)rng_normal(&rng);
    memcpy(at, p, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        u[i] = (float)rng_normal(&rng);
    value(net, weights);
    nn_net_backward(net, weights, 0);
    want = num_dot(n, g, u);
    scale = sqrt(num_dot(n, g, g));
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < n; i++)
            p[i] = at[i] + (float)(s ? step : -step) * u[i];
        side[s] = value(net, weights);
    }
    memcpy(p, at, n * sizeof *p);
    free(at);
    free(u);
    return fabs((side[1] - side[0]) / (2 * step) - want) / scale;
}

/* Larger than initial ones, so that scores and norms matter. */
static void
fill(struct nn_net *net)
{
    size_t n;
    float *p = nn_net_params(net, &n);
    struct rng rng;

    rng_init(&rng, 8, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < n; i++)
        p[i] += 0.2f * (float)rng_normal(&rng);
}

static void
gradient_is_the_slope(const char *arch)
{
    struct nn_net *net = text_net(arch, 1);
    double off = 0;

    fill(net);
    for (uint64_t trial = 0; trial < 3; trial++)
        off = fmax(off, slope_error(net, trial));
    T(off < 3e-3, "%s: the gradient is the slope, error %.1e", arch, off);
    nn_net_free(net);
}

/* The largest difference of two texts in a batch from each alone, and of
 * training from inference. */
static void
packing_changes_nothing(const char *arch)
{
    struct nn_net *net = text_net(arch, 1);
    float all[N * DIM], alone[DIM], infer[N * DIM];
    double off = 0, mode = 0;

    fill(net);
    nn_net_forward(net, NN_TRAIN, &texts, NULL, all);
    nn_net_infer(net, &texts, NULL, infer);
    for (size_t i = 0; i < N; i++) {
        const struct nn_input one = {
            .n = 1, .ids = ids, .offsets = offsets + i};

        nn_net_forward(net, NN_TRAIN, &one, NULL, alone);
        for (size_t k = 0; k < DIM; k++)
            off = fmax(off, fabs((double)alone[k] - all[i * DIM + k]));
    }
    for (size_t i = 0; i < N * DIM; i++)
        mode = fmax(mode, fabs((double)infer[i] - all[i]));
    T(off < 2e-6, "%s: a text alone gives the same, error %.1e", arch, off);
    T(mode < 2e-6, "%s: as does inference, error %.1e", arch, mode);
    nn_net_free(net);
}

static const struct nn_tensor *
named(const struct nn_net *net, const char *name)
{
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(net, &n);

    for (size_t i = 0; i < n; i++)
        if (!strcmp(t[i].name, name))
            return t + i;
    return NULL;
}

static double
deviation_of(struct nn_net *net, const char *name)
{
    const struct nn_tensor *t = named(net, name);
    const float *p = nn_net_params(net, NULL);

    return t ? sqrt(num_dot(t->count, p + t->offset, p + t->offset) /
                    (double)t->count)
             : NAN;
}

/* image-text.md 2.2, of W = 256 and L = 2. */
static void
clip_begins_as_published(void)
{
    static const struct {
        const char *name;
        double deviation;
    } want[] = {
        {"token_embedding.weight", .02},
        {"positional_embedding", .01},
        {"transformer.resblocks.1.attn.in_proj_weight", .0625},
        {"transformer.resblocks.1.attn.in_proj_bias", 0},
        {"transformer.resblocks.0.attn.out_proj.weight", .03125},
        {"transformer.resblocks.1.mlp.c_fc.weight", .0441942},
        {"transformer.resblocks.0.mlp.c_proj.weight", .03125},
        {"transformer.resblocks.0.mlp.c_proj.bias", 0},
        {"transformer.resblocks.0.ln_2.weight", 1},
        {"ln_final.bias", 0},
        {"text_projection", .0625},
    };
    struct nn_net *net = text_net("clip:256x2", 0);

    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        T_NEAR(deviation_of(net, want[i].name), want[i].deviation,
               want[i].deviation * .08 + 1e-9, "%s starts with deviation %g",
               want[i].name, want[i].deviation);
    nn_net_free(net);
}

/* Only matrices other than vectors of positions decay. */
static void
positions_and_vectors_do_not_decay(void)
{
    static const struct nn_spec vit = {
        .arch = "vit:16x1x4",
        .stem = "small",
        .norm = "batch",
        .head = "project:6",
        .height = 8,
        .image_width = 8,
        .channels = 3,
        .deviation = {1, 1, 1},
    };
    static const char *const spared[] = {
        "positional_embedding", "embeddings.position_embeddings.weight",
        "encoder.pos_embedding", "class_token"};
    struct err err;
    struct nn_net *nets[] = {text_net("clip:16x1", 0),
                             text_net("distilbert:16x1", 0),
                             nn_net_new(&vit, 1, 0, &err)};
    int right = 1;
    size_t found = 0;

    for (size_t k = 0; k < 3; k++) {
        size_t n;
        const struct nn_tensor *t = nn_net_tensors(nets[k], &n);

        for (size_t i = 0; i < n; i++) {
            int want = t[i].rank > 1;

            for (size_t j = 0; j < sizeof spared / sizeof *spared; j++)
                if (!strcmp(t[i].name, spared[j])) {
                    want = 0;
                    found++;
                }
            right &= t[i].decays == want;
        }
        nn_net_free(nets[k]);
    }
    T(right && found == 4,
      "matrices decay; vectors, positions and class token do not");
}

int
main(void)
{
    static const char *const archs[] = {"bow:16", "clip:16x2x2",
                                        "distilbert:12x2x3"};

    num_threads(1);
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        gradient_is_the_slope(archs[i]);
        packing_changes_nothing(archs[i]);
    }
    clip_begins_as_published();
    positions_and_vectors_do_not_decay();
    return t_done();
}
