#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "num/dnn.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

static const struct nn_spec tiny = {
    .arch = "resnet8",
    .stem = "small",
    .norm = "batch",
    .head = "24-8",
    .width = 16,
    .height = 12,
    .image_width = 10,
    .channels = 3,
    .mean = {.5f, .5f, .5f},
    .deviation = {.25f, .25f, .25f},
};

/* A net with a batch of images and what comes out of it. */
struct fixture {
    struct nn_net *net;
    enum nn_mode mode; /* of value() */
    size_t n, params, statistics, dim, features;
    uint8_t *images;
    float *h, *z, *dz;
};

static struct fixture
setup(const struct nn_spec *spec, size_t n, int train)
{
    size_t pixels = n * spec->height * spec->image_width * spec->channels;
    struct fixture f = {.n = n, .images = mem_array(pixels, 1)};
    struct rng rng;
    struct err err = {""};

    f.net = nn_net_new(spec, n, train, &err);
    if (!f.net)
        printf("# %s\n", err.msg);
    nn_net_init(f.net, 1);
    nn_net_params(f.net, &f.params);
    nn_net_statistics(f.net, &f.statistics);
    f.dim = nn_net_dim(f.net);
    f.features = nn_net_features(f.net);
    f.h = mem_array(n * f.features, sizeof *f.h);
    f.z = mem_array(n * f.dim, sizeof *f.z);
    f.dz = mem_array(n * f.dim, sizeof *f.dz);
    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < pixels; i++)
        f.images[i] = (uint8_t)rng_u32(&rng);
    for (size_t i = 0; i < n * f.dim; i++)
        f.dz[i] = (float)rng_normal(&rng);
    return f;
}

static void
teardown(struct fixture *f)
{
    nn_net_free(f->net);
    free(f->images);
    free(f->h);
    free(f->z);
    free(f->dz);
}

/* The largest difference, in units of the rms of b. */
static double
apart(size_t n, const float *a, const float *b)
{
    double off = 0;

    for (size_t i = 0; i < n; i++)
        off = fmax(off, fabs((double)a[i] - b[i]));
    return off / sqrt(num_dot(n, b, b) / (double)n);
}

static const struct nn_tensor *
named(const struct fixture *f, const char *name)
{
    size_t n;
    const struct nn_tensor *t = nn_net_tensors(f->net, &n);

    while (n-- && strcmp(t->name, name))
        t++;
    return t;
}

/* nn_net_forward() and nn_net_infer() of n images. */
static void
forward(struct nn_net *net, enum nn_mode mode, size_t n, const uint8_t *images,
        float *h, float *z)
{
    const struct nn_input input = {.n = n, .images = images};

    nn_net_forward(net, mode, &input, h, z);
}

static void
infer(struct nn_net *net, size_t n, const uint8_t *images, float *h, float *z)
{
    const struct nn_input input = {.n = n, .images = images};

    nn_net_infer(net, &input, h, z);
}

/* A linear function of z, whose gradient is dz. */
static double
value(struct fixture *f)
{
    forward(f->net, f->mode, f->n, f->images, NULL, f->z);
    return num_dot(f->n * f->dim, f->z, f->dz);
}

/*
 * The slope of value() along a direction u in n parameters from `first` on, |u|
 * their size: central differences against <grads, u>, in units of what it would
 * be for a direction like any other, |grads| |u| / sqrt(n).
 */
static double
slope_error(struct fixture *f, size_t first, size_t n, uint64_t trial)
{
    float *p = nn_net_params(f->net, NULL) + first;
    float *g = nn_net_grads(f->net) + first;
    float *at = mem_array(n, sizeof *at), *u = mem_array(n, sizeof *u);
    double side[2], want, scale, step = 2e-5, size = sqrt(num_dot(n, p, p));
    struct rng rng;

    rng_init(&rng, 3, RNG_TEST, trial, 0, 0);
    memcpy(at, p, n * sizeof *p);
    for (size_t i = 0; i < n; i++)
        u[i] = (float)(rng_normal(&rng) * size / sqrt((double)n));
    value(f);
    nn_net_backward(f->net, f->dz, 0);
    want = num_dot(n, g, u);
    scale = sqrt(num_dot(n, g, g) * num_dot(n, u, u) / (double)n);
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < n; i++)
            p[i] = at[i] + (float)(s ? step : -step) * u[i];
        side[s] = value(f);
    }
    memcpy(p, at, n * sizeof *p);
    free(at);
    free(u);
    return fabs((side[1] - side[0]) / (2 * step) - want) / scale;
}

static void
gradient_is_the_slope(void)
{
    static const struct {
        const char *arch, *stem, *norm, *head;
    } nets[] = {
        {"resnet8", "small", "batch", "24-8"},
        {"resnet8", "small", "batch", "24-8-bn"},
        {"resnet8", "small", "group", "24-8"},
        {"resnet8", "small", "none", "none"},
        {"resnet8", "imagenet", "batch", "8"},
        {"resnet50", "small", "group", "8"},
        {"mlp", "small", "batch", "24-8"},
        {"linear", "small", "batch", "none"},
        {"vit:16x2x2x4", "small", "batch", "project:8"},
    };

    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct nn_spec spec = tiny;
        struct fixture f;
        double off = 0;

        spec.arch = nets[i].arch;
        spec.stem = nets[i].stem;
        spec.norm = nets[i].norm;
        spec.head = nets[i].head;
        spec.hidden = 20;
        spec.direct = 1;
        f = setup(&spec, 6, 1);
        for (uint64_t trial = 0; trial < 3; trial++)
            off = fmax(off, slope_error(&f, 0, f.params, trial));
        T_NEAR(off, 0, 0.03, "slope: %s, %s stem, norm %s, head %s",
               nets[i].arch, nets[i].stem, nets[i].norm, nets[i].head);
        teardown(&f);
    }
}

/* The three ways to take statistics: which values, which move, which slope. */
static void
modes_differ_in_their_statistics(void)
{
    struct nn_spec spec = tiny;
    struct fixture f, g;
    float *stays;
    double off = 0;

    spec.head = "24-8-bn";
    spec.direct = 1;
    f = setup(&spec, 6, 1);
    g = setup(&spec, 6, 1);
    stays = mem_array(f.statistics, sizeof *stays);
    value(&f);
    memcpy(stays, nn_net_statistics(f.net, NULL), f.statistics * 4);
    f.mode = NN_LOOK;
    value(&f);
    value(&g);
    T(!memcmp(f.z, g.z, 6 * f.dim * 4), "a look: the values of training");
    f.mode = NN_FIXED;
    for (uint64_t trial = 0; trial < 3; trial++)
        off = fmax(off, slope_error(&f, 0, f.params, trial));
    T_NEAR(off, 0, 0.03, "slope with fixed statistics");
    T(!memcmp(stays, nn_net_statistics(f.net, NULL), f.statistics * 4),
      "neither moves the running ones");
    memcpy(g.z, f.z, 6 * f.dim * 4);
    infer(f.net, 6, f.images, NULL, g.z);
    value(&f);
    T_NEAR(apart(6 * f.dim, f.z, g.z), 0, 1e-4, "fixed: as in evaluation");
    free(stays);
    teardown(&f);
    teardown(&g);
}

static void
fixed_chunks_add_up(void)
{
    struct fixture f = setup(&tiny, 6, 1);
    size_t pixels = tiny.height * tiny.image_width * tiny.channels;
    float *want = mem_array(f.params, sizeof *want);

    f.mode = NN_FIXED;
    value(&f);
    nn_net_backward(f.net, f.dz, 0);
    memcpy(want, nn_net_grads(f.net), f.params * sizeof *want);
    for (size_t at = 0; at < 6; at += 2) {
        forward(f.net, NN_FIXED, 2, f.images + at * pixels, NULL, f.z);
        nn_net_backward(f.net, f.dz + at * f.dim, at > 0);
    }
    T_NEAR(apart(f.params, nn_net_grads(f.net), want), 0, 1e-4,
           "fixed: three chunks have the gradient of the whole");
    free(want);
    teardown(&f);
}

/* Large enough that activations are made again instead of kept. */
static void
gradient_of_a_large_batch_is_the_slope(void)
{
    struct nn_spec spec = tiny;
    const struct nn_tensor *t;
    struct fixture f;

    spec.height = spec.image_width = 64;
    spec.direct = 1;
    f = setup(&spec, 32, 1);
    t = named(&f, "layer1.0.conv2.weight");
    T_NEAR(slope_error(&f, t->offset, t->count, 0), 0, 0.03,
           "slope of weights that see 8 MB");
    teardown(&f);
}

static void
same_again_bit_for_bit(int threads)
{
    struct fixture a, b;

    num_threads(threads);
    a = setup(&tiny, 6, 1);
    b = setup(&tiny, 6, 1);
    for (int i = 0; i < 2; i++) {
        struct fixture *f = i ? &b : &a;

        for (int step = 0; step < 2; step++) {
            forward(f->net, NN_MOVE, f->n, f->images, f->h, f->z);
            nn_net_backward(f->net, f->dz, 0);
            num_axpy(f->params, -1e-3f, nn_net_grads(f->net),
                     nn_net_params(f->net, NULL));
        }
    }
    T(!memcmp(nn_net_params(a.net, NULL), nn_net_params(b.net, NULL),
              a.params * sizeof(float)) &&
          !memcmp(nn_net_statistics(a.net, NULL),
                  nn_net_statistics(b.net, NULL),
                  a.statistics * sizeof(float)) &&
          !memcmp(a.z, b.z, a.n * a.dim * sizeof(float)),
      "two runs, %d thread(s): the same bits", threads);
    teardown(&a);
    teardown(&b);
    num_threads(1);
}

static void
gradients_add_up(void)
{
    struct fixture f = setup(&tiny, 4, 1);
    float *g = nn_net_grads(f.net), *once = mem_array(f.params, sizeof *once);
    size_t wrong = 0;

    value(&f);
    nn_net_backward(f.net, f.dz, 0);
    memcpy(once, g, f.params * sizeof *g);
    nn_net_backward(f.net, f.dz, 1);
    for (size_t i = 0; i < f.params; i++)
        wrong += fabsf(g[i] - 2 * once[i]) > 1e-6f * fabsf(once[i]);
    T(wrong == 0, "backward twice with add: twice the gradient");
    nn_net_backward(f.net, f.dz, 0);
    T(!memcmp(g, once, f.params * sizeof *g), "and without: the same again");
    free(once);
    teardown(&f);
}

/* Fewer rows than the most: as a net that was made for so many. */
static void
any_number_of_rows(void)
{
    struct fixture large = setup(&tiny, 7, 1);
    size_t rows[] = {7, 3, 1, 2, 4, 5, 7};
    int same = 1;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture own = setup(&tiny, rows[i], 1);

        nn_net_init(large.net, 1);
        forward(large.net, NN_MOVE, rows[i], large.images, large.h, large.z);
        nn_net_backward(large.net, large.dz, 0);
        forward(own.net, NN_MOVE, rows[i], large.images, own.h, own.z);
        nn_net_backward(own.net, large.dz, 0);
        same &= !memcmp(large.h, own.h, rows[i] * own.features * 4);
        same &= !memcmp(large.z, own.z, rows[i] * own.dim * 4);
        same &= !memcmp(nn_net_grads(large.net), nn_net_grads(own.net),
                        own.params * 4);
        teardown(&own);
    }
    T(same, "1 to 7 rows, more counts than plans are kept");
    teardown(&large);
}

/* Without statistics of the batch, evaluation is what training computes. */
static void
inference_is_the_same_function(const char *norm, const char *head)
{
    struct nn_spec spec = tiny;
    struct fixture f, g;

    spec.norm = norm;
    spec.head = head;
    f = setup(&spec, 4, 1);
    g = setup(&spec, 4, 0);
    forward(f.net, NN_MOVE, 4, f.images, f.h, f.z);
    infer(g.net, 4, f.images, g.h, g.z);
    T_NEAR(apart(4 * f.features, g.h, f.h), 0, 1e-4, "norm %s: h", norm);
    T_NEAR(apart(4 * f.dim, g.z, f.z), 0, 1e-4, "norm %s: z", norm);
    T(!nn_net_grads(g.net), "no gradients without train");
    teardown(&f);
    teardown(&g);
}

/* Running statistics of one batch seen for ever are those of the batch. */
static void
inference_uses_running_statistics(void)
{
    struct nn_spec spec = tiny;
    struct fixture f;
    float *h, *moved;

    spec.head = "24-8-bn";
    spec.width = 8;
    f = setup(&spec, 24, 1);
    h = mem_array(f.n * f.features, sizeof *h);
    moved = mem_array(f.statistics, sizeof *moved);
    for (int i = 0; i < 150; i++)
        forward(f.net, NN_MOVE, f.n, f.images, f.h, NULL);
    memcpy(moved, nn_net_statistics(f.net, NULL), f.statistics * 4);
    infer(f.net, f.n, f.images, h, f.z);
    T_NEAR(apart(f.n * f.features, h, f.h), 0, 0.02,
           "after 150 times the same batch: its features");
    T(!memcmp(moved, nn_net_statistics(f.net, NULL), f.statistics * 4),
      "inference moves no statistics");
    infer(f.net, f.n, f.images, f.h, NULL);
    T(!memcmp(h, f.h, f.n * f.features * 4), "z is not needed for h");
    free(h);
    free(moved);
    teardown(&f);
}

static void
inference_keeps_the_last_forward(void)
{
    struct fixture f = setup(&tiny, 4, 1);
    float *g = nn_net_grads(f.net), *want = mem_array(f.params, sizeof *want);

    value(&f);
    nn_net_backward(f.net, f.dz, 0);
    memcpy(want, g, f.params * sizeof *g);
    value(&f);
    infer(f.net, 3, f.images, f.h, NULL);
    nn_net_backward(f.net, f.dz, 0);
    T(!memcmp(g, want, f.params * sizeof *g),
      "features between forward and backward disturb nothing");
    free(want);
    teardown(&f);
}

static void
winograd_and_halves_are_close(void)
{
    struct nn_spec spec = tiny;
    struct fixture direct, winograd, halves;
    char *table, *plain;

    spec.height = spec.image_width = 16;
    winograd = setup(&spec, 6, 1);
    spec.direct = 1;
    direct = setup(&spec, 6, 1);
    value(&winograd);
    value(&direct);
    T_NEAR(apart(6 * direct.dim, winograd.z, direct.z), 0, 1e-3,
           "Winograd against direct");
    table = nn_net_algorithms(winograd.net);
    plain = nn_net_algorithms(direct.net);
    T(!strstr(plain, "wino"), "--conv direct: no Winograd in the table");
    T(strstr(table, "layer2.0.conv1.weight 16x16x16 32x8x8 ") != NULL,
      "the table has a line per convolution");
    free(table);
    free(plain);
    spec.bf16 = 1;
    if (!num_dnn_bf16()) {
        T_SKIP("halves", "no AVX-512");
    } else {
        halves = setup(&spec, 6, 1);
        value(&halves);
        T_NEAR(apart(6 * direct.dim, halves.z, direct.z), 0, 0.1,
               "halves against f32");
        nn_net_backward(halves.net, halves.dz, 0);
        nn_net_backward(direct.net, direct.dz, 0);
        {
            const float *a = nn_net_grads(halves.net);
            const float *b = nn_net_grads(direct.net);
            double cosine = num_dot(direct.params, a, b) /
                            sqrt(num_dot(direct.params, a, a) *
                                 num_dot(direct.params, b, b));

            T_NEAR(cosine, 1, 0.01, "cosine of the gradients");
        }
        teardown(&halves);
    }
    teardown(&direct);
    teardown(&winograd);
}

/* torchvision's counts of parameters, without fc: 11,689,512 - 513,000 and so
 * on; a batch norm has as many statistics as parameters. */
static void
as_large_as_torchvision_says(void)
{
    static const struct {
        const char *arch;
        size_t params, features, tensors;
    } nets[] = {
        {"resnet18", 11176512, 512, 100},
        {"resnet34", 21284672, 512, 180},
        {"resnet50", 23508032, 2048, 265},
    };

    for (size_t i = 0; i < 3; i++) {
        struct nn_spec spec = tiny;
        struct nn_net *net;
        struct err err;
        size_t params, tensors;

        spec.arch = nets[i].arch;
        spec.stem = "imagenet";
        spec.head = "none";
        spec.width = 0;
        net = nn_net_new(&spec, 1, 0, &err);
        nn_net_params(net, &params);
        nn_net_tensors(net, &tensors);
        T(params == nets[i].params, "%s: %zu parameters", nets[i].arch, params);
        T(nn_net_features(net) == nets[i].features &&
              nn_net_dim(net) == nets[i].features,
          "features, which are z without a head");
        T(tensors == nets[i].tensors, "%zu tensors", tensors);
        nn_net_free(net);
    }
}

static void
names_are_those_of_the_state_dict(void)
{
    static const char *want[] = {
        "conv1.weight",        "bn1.weight",      "bn1.bias",
        "bn1.running_mean",    "bn1.running_var", "layer1.0.conv1.weight",
        "layer1.0.bn1.weight",
    };
    struct nn_spec spec = tiny;
    struct fixture f;
    const struct nn_tensor *t;
    size_t n, same = 0, floats[2] = {0, 0};

    spec.head = "24-8-bn";
    f = setup(&spec, 1, 0);
    t = nn_net_tensors(f.net, &n);
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        same += !strcmp(t[i].name, want[i]);
    T(same == sizeof want / sizeof *want, "the first tensors");
    T(!strcmp(t[n - 1].name, "head.3.bias") &&
          !strcmp(t[n - 3].name, "head.1.running_var"),
      "the head is Linear, BatchNorm1d, ReLU, Linear");
    for (size_t i = 0; i < n; i++) {
        same += t[i].offset == floats[t[i].statistic];
        floats[t[i].statistic] += t[i].count;
    }
    T(floats[0] == f.params && floats[1] == f.statistics,
      "tensors tile the blocks");
    teardown(&f);
}

static void
weights_are_drawn_as_torchvision_does(void)
{
    struct fixture f = setup(&tiny, 1, 0);
    float *p = nn_net_params(f.net, NULL), first = p[0], most = 0;
    const struct nn_tensor *conv = named(&f, "layer3.0.conv2.weight");
    const struct nn_tensor *linear = named(&f, "head.0.weight");
    const struct nn_tensor *norm = named(&f, "layer2.0.bn1.weight");
    double square = num_dot(conv->count, p + conv->offset, p + conv->offset);

    // 64 x 9 weights lead out of each channel; relative error 1 / sqrt(2 n)
    T_NEAR(square / (double)conv->count * (64 * 9) / 2, 1, 0.03,
           "convolutions: variance 2 / fan_out");
    for (size_t i = 0; i < linear->count; i++)
        most = fmaxf(most, fabsf(p[linear->offset + i]));
    T(most <= 0.125f && most > 0.12f, "linear: within 1 / sqrt(64)");
    T(p[norm->offset] == 1 && p[norm->offset + norm->count] == 0,
      "norms: 1 and 0");
    T(nn_net_statistics(f.net, NULL)[0] == 0 &&
          nn_net_statistics(f.net, NULL)[16] == 1,
      "running mean 0, running variance 1");
    nn_net_init(f.net, 2);
    T(p[0] != first, "another seed, other weights");
    nn_net_init(f.net, 1);
    T(p[0] == first, "the seed again, the weights again");
    teardown(&f);
}

static void
refuses(struct nn_spec spec, const char *why)
{
    struct err err = {""};
    struct nn_net *net = nn_net_new(&spec, 2, 1, &err);

    T(!net && strstr(err.msg, why), "refused: %s", err.msg);
    nn_net_free(net);
}

static void
senseless_specs_are_refused(void)
{
    static const char *heads[] = {"",      "0",        "512-",       "-5",
                                  "bn",    "5-bn-6",   "a-b",        "5 6",
                                  "70000", "project:", "project:5-6"};
    static const struct {
        const char *arch, *why;
    } sizes[] = {
        {"vit", "bad encoder 'vit': want vit:WxLxP[xH]"},
        {"vit:16x2", "bad encoder 'vit:16x2'"},
        {"vit:16x2x2x2x2", "bad encoder"},
        {"vit:16x2x2x", "bad encoder"},
        {"vit:16x2x2x3", "16 numbers cannot be shared by 3 heads"},
        {"vit:16x2x5", "images of 12x10 cannot be cut into patches of 5x5"},
        {"vit:16x0x2", "bad encoder"},
        {"vit:9000x1x2", "bad encoder"},
        {"mlp:16", "no encoder 'mlp:16'"},
        {"bow:16", "a vocabulary of 0 tokens"},
    };
    struct nn_spec s = tiny;

    s.arch = "resnet19", refuses(s, "no encoder 'resnet19'"), s = tiny;
    s.arch = "resnet", refuses(s, "no encoder 'resnet'"), s = tiny;
    s.stem = "big", refuses(s, "no stem 'big'"), s = tiny;
    s.norm = "layer", refuses(s, "no norm 'layer'"), s = tiny;
    s.width = -1, refuses(s, "bad width -1"), s = tiny;
    s.height = 7, refuses(s, "bad image height 7"), s = tiny;
    s.image_width = 1025, refuses(s, "bad image width 1025"), s = tiny;
    s.channels = 2, refuses(s, "images of 2 channels"), s = tiny;
    s.deviation[1] = 0, refuses(s, "deviation of channel 1"), s = tiny;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        s.arch = sizes[i].arch, refuses(s, sizes[i].why);
    s.context = 3, s.vocabulary = 9;
    s.arch = "distilbert:30x1x4", refuses(s, "30 numbers cannot be shared by");
    s.context = 0, refuses(s, "texts of up to 0 tokens"), s = tiny;
    s.bf16 = 1, s.width = 8, refuses(s, "bfloat16 needs a"), s = tiny;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        s.head = heads[i], refuses(s, "bad head");
    nn_net_free(NULL);
}

/* A net by that name, of what it says it reads. */
static void
has_a_net(const char *arch, enum nn_input_kind kind)
{
    struct nn_spec s = tiny;
    struct err err = {""};
    struct nn_net *net;

    s.arch = arch;
    s.samples = s.views = 2;
    s.vocabulary = 20;
    s.context = 8;
    net = nn_net_new(&s, 2, 0, &err);
    T(net && nn_net_kind(net) == kind && nn_encoder_reads(arch, kind),
      "there is a net %s of what it reads: %s", arch, err.msg);
    T(net && nn_net_context(net) == (kind == NN_TOKENS ? 8 : 0),
      "%s knows how long a text may be", arch);
    nn_net_free(net);
}

/* The table of encoders: a net each. */
static void
each_encoder_has_a_net(void)
{
    static const char *const sized[] = {"vit:16x1x2", "bow:16", "clip:16x1",
                                        "distilbert:16x1x2"};
    char words[512], *rest = words;
    size_t n = 0;

    snprintf(words, sizeof words, "%s|%s", nn_encoder_words(0),
             nn_encoder_words(1));
    for (char *word; (word = strtok_r(rest, "|", &rest));) {
        const size_t len = strcspn(word, ":[");
        const char *arch = word;

        for (size_t i = 0; i < sizeof sized / sizeof *sized; i++)
            if (!strncmp(sized[i], word, len) && sized[i][len] == ':')
                arch = sized[i];
        has_a_net(arch, !strcmp(word, "table")              ? NN_IDS
                        : strstr(nn_encoder_words(1), word) ? NN_TOKENS
                                                            : NN_IMAGES);
        n++;
    }
    T(n == 12, "twelve encoders");
    T(!nn_encoder_reads("resnet", NN_IMAGES), "what is no encoder reads none");
}

int
main(void)
{
    num_threads(1);
    each_encoder_has_a_net();
    gradient_is_the_slope();
    gradient_of_a_large_batch_is_the_slope();
    modes_differ_in_their_statistics();
    fixed_chunks_add_up();
    same_again_bit_for_bit(1);
    same_again_bit_for_bit(2);
    gradients_add_up();
    any_number_of_rows();
    inference_is_the_same_function("none", "24-8");
    inference_is_the_same_function("group", "none");
    inference_uses_running_statistics();
    inference_keeps_the_last_forward();
    winograd_and_halves_are_close();
    as_large_as_torchvision_says();
    names_are_those_of_the_state_dict();
    weights_are_drawn_as_torchvision_does();
    senseless_specs_are_refused();
    return t_done();
}
