/* Values, gradients and statistics of networks. */
#include "nets.h"
#include "num/dnn.h"
#include "num/threads.h"

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
        {"frozen:20x1", "small", "batch", "none"},
        {"frozen:10x2", "small", "batch", "none"},
        {"frozen:12x3", "small", "none", "24-8"},
    };

    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct nn_spec spec = tiny;
        struct fixture f;
        double off = 0;

        spec.arch = nets[i].arch;
        spec.width = strcmp(spec.arch, "resnet50") ? tiny.width : 16;
        spec.stem = nets[i].stem;
        spec.norm = nets[i].norm;
        spec.head = nets[i].head;
        spec.hidden = 20;
        spec.direct = 1;
        if (nn_encoder_of_rows(spec.arch))
            spec.height = 1, spec.channels = 4;
        f = setup(&spec, 6, 1);
        for (uint64_t trial = 0; trial < 3; trial++)
            off = fmax(off, slope_error(&f, 0, f.params, trial));
        T_NEAR(off, 0, 0.03, "slope: %s, %s stem, norm %s, head %s",
               nets[i].arch, nets[i].stem, nets[i].norm, nets[i].head);
        teardown(&f);
    }
}

/* A head on frozen rows is x at first, or with another width P x; of rows only.
 */
static void
head_of_rows_begins_as_the_row(void)
{
    struct nn_spec spec = tiny;
    float x[2 * 10], h[2 * 10];
    struct nn_net *net;
    struct rng rng;
    struct err err = {""};

    spec.arch = "frozen:10x3";
    spec.head = "none";
    T(!nn_net_new(&spec, 2, 0, &err) && strstr(err.msg, "rows"), "%s", err.msg);
    spec.height = 1;
    spec.channels = 4;
    net = nn_net_new(&spec, 2, 0, &err);
    nn_net_init(net, 1);
    rng_init(&rng, 5, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < 20; i++)
        x[i] = (float)rng_normal(&rng);
    infer(net, 2, (uint8_t *)x, h, NULL);
    T(!memcmp(x, h, sizeof x),
      "a head of the width of its rows is the identity");
    nn_net_free(net);
    spec.arch = "frozen:10x4";
    T(!nn_net_new(&spec, 2, 0, &err) && strstr(err.msg, "1 to 3"), "%s",
      err.msg);
    spec.arch = "mlp";
    T(!nn_net_new(&spec, 2, 0, &err) && strstr(err.msg, "images, not rows"),
      "%s", err.msg);
}

/* With fixed filters a net is the one whose first weights are these: the same
 * z, and the same gradient of all other parameters. */
static void
filters_are_fixed(void)
{
    enum { K = 8, WIDTH = 27 };
    struct nn_spec spec = tiny;
    struct fixture free_one = setup(&spec, 6, 1), fixed;
    float rows[(K + 1) * WIDTH], *own = nn_net_params(free_one.net, NULL);
    const size_t filters = 2 * K * WIDTH;
    size_t running;
    struct rng rng;

    spec.basis = K;
    fixed = setup(&spec, 6, 1);
    rng_init(&rng, 4, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < (K + 1) * WIDTH; i++)
        rows[i] = (float)rng_normal(&rng);
    nn_net_set_basis(fixed.net, rows);
    memcpy(own + filters, nn_net_params(fixed.net, NULL),
           fixed.params * sizeof *own);
    for (size_t r = 0; r < K; r++)
        for (size_t y = 0; y < 3; y++)
            for (size_t x = 0; x < 3; x++)
                for (size_t c = 0; c < 3; c++) {
                    const float w = rows[r * WIDTH + (y * 3 + x) * 3 + c];
                    float *to = own + r * WIDTH + c * 9 + y * 3 + x;

                    to[0] = w;
                    to[K * WIDTH] = -w;
                }
    T(free_one.params == fixed.params + filters, "filters are no parameters");
    nn_net_running(fixed.net, &running);
    T(running == free_one.statistics && fixed.statistics == running + filters,
      "filters are no running statistics");
    T(value(&fixed) == value(&free_one),
      "z is that of a net with these weights");
    nn_net_backward(fixed.net, fixed.dz, 0);
    nn_net_backward(free_one.net, free_one.dz, 0);
    T(apart(fixed.params, nn_net_grads(fixed.net),
            nn_net_grads(free_one.net) + filters) == 0,
      "the gradient of the other parameters is that of this net");
    teardown(&fixed);
    teardown(&free_one);
}

/* The three modes of statistics: their values, their running ones, their
 * slopes. */
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
    f.mode = NN_ENCODE;
    value(&f);
    value(&g);
    T(!memcmp(f.z, g.z, 6 * f.dim * 4), "a look: the values of training");
    f.mode = NN_FIXED;
    for (uint64_t trial = 0; trial < 3; trial++)
        off = fmax(off, slope_error(&f, 0, f.params, trial));
    T_NEAR(off, 0, 0.03, "slope with fixed statistics");
    T(!memcmp(stays, nn_net_statistics(f.net, NULL), f.statistics * 4),
      "neither updates the running ones");
    memcpy(g.z, f.z, 6 * f.dim * 4);
    infer(f.net, 6, f.images, NULL, g.z);
    value(&f);
    T_NEAR(apart(6 * f.dim, f.z, g.z), 0, 1e-4, "fixed: as in evaluation");
    free(stays);
    teardown(&f);
    teardown(&g);
}

/* Rows encoded by one net update another's statistics like its own would. */
static void
statistics_update_from_other_nets(void)
{
    struct nn_spec spec = tiny;
    const size_t image = spec.height * spec.image_width * spec.channels;
    struct fixture f, g;

    spec.head = "24-8-bn";
    f = setup(&spec, 6, 1);
    g = setup(&spec, 6, 1);
    for (size_t at = 0; at < 6; at += 3) {
        forward(f.net, NN_TRAIN, 3, f.images + at * image, NULL, NULL);
        forward(g.net, NN_ENCODE, 3, f.images + at * image, NULL, NULL);
        nn_net_update_running(g.net, nn_net_batch_statistics(g.net));
    }
    T(!memcmp(nn_net_statistics(f.net, NULL), nn_net_statistics(g.net, NULL),
              f.statistics * sizeof(float)),
      "batch statistics update running ones like training, bit for bit");
    forward(g.net, NN_TRAIN, 6, f.images, NULL, NULL);
    T(memcmp(nn_net_statistics(f.net, NULL), nn_net_statistics(g.net, NULL),
             f.statistics * sizeof(float)),
      "other rows give other running statistics");
    teardown(&f);
    teardown(&g);
}

/* The gradients seen by a watcher after each operator, from the offset on. */
struct seen {
    struct nn_net *net;
    float *grads; /* their numbers when complete */
    size_t from, calls, parts;
};

static void
watch_complete(void *self, size_t from)
{
    struct seen *seen = self;

    T(from <= seen->from, "complete gradients do not change: from %zu on",
      from);
    memcpy(seen->grads + from, nn_net_grads(seen->net) + from,
           (seen->from - from) * sizeof(float));
    seen->parts += from < seen->from;
    seen->from = from;
    seen->calls++;
}

static void
watchers_get_complete_gradients(void)
{
    struct fixture f = setup(&tiny, 6, 1);
    struct seen seen = {.net = f.net,
                        .grads = mem_array(f.params, sizeof(float)),
                        .from = f.params};

    value(&f);
    nn_net_watch(f.net, watch_complete, &seen);
    nn_net_backward(f.net, f.dz, 0);
    nn_net_watch(f.net, NULL, NULL);
    T(!seen.from && seen.parts > 5 && seen.calls > seen.parts,
      "%zu pieces of a gradient after %zu operators", seen.parts, seen.calls);
    T(!memcmp(seen.grads, nn_net_grads(f.net), f.params * sizeof(float)),
      "none changed afterwards");
    free(seen.grads);
    teardown(&f);
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

/* Large enough that activations are recomputed instead of stored. */
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
runs_have_the_same_bits(int threads)
{
    struct fixture a, b;

    num_threads(threads);
    a = setup(&tiny, 6, 1);
    b = setup(&tiny, 6, 1);
    for (int i = 0; i < 2; i++) {
        struct fixture *f = i ? &b : &a;

        for (int step = 0; step < 2; step++) {
            forward(f->net, NN_TRAIN, f->n, f->images, f->h, f->z);
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
    struct nn_spec spec = tiny;
    struct fixture f;
    float *g, *once;
    size_t wrong = 0;

    spec.width = 16;
    f = setup(&spec, 4, 1);
    g = nn_net_grads(f.net);
    once = mem_array(f.params, sizeof *once);
    value(&f);
    nn_net_backward(f.net, f.dz, 0);
    memcpy(once, g, f.params * sizeof *g);
    value(&f);
    nn_net_backward(f.net, f.dz, 1);
    for (size_t i = 0; i < f.params; i++)
        wrong += fabsf(g[i] - 2 * once[i]) > 1e-6f * fabsf(once[i]);
    T(wrong == 0, "backward twice with add: twice the gradient");
    value(&f);
    nn_net_backward(f.net, f.dz, 0);
    T(!memcmp(g, once, f.params * sizeof *g),
      "backward without add: the same gradient again");
    free(once);
    teardown(&f);
}

/* Fewer rows than the maximum: as a net for exactly so many. */
static void
any_number_of_rows(void)
{
    struct fixture large = setup(&tiny, 7, 1);
    size_t rows[] = {7, 3, 1, 2, 4, 5, 7};
    int same = 1;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture own = setup(&tiny, rows[i], 1);

        nn_net_init(large.net, 1);
        forward(large.net, NN_TRAIN, rows[i], large.images, large.h, large.z);
        nn_net_backward(large.net, large.dz, 0);
        forward(own.net, NN_TRAIN, rows[i], large.images, own.h, own.z);
        nn_net_backward(own.net, large.dz, 0);
        same &= !memcmp(large.h, own.h, rows[i] * own.features * 4);
        same &= !memcmp(large.z, own.z, rows[i] * own.dim * 4);
        same &= !memcmp(nn_net_grads(large.net), nn_net_grads(own.net),
                        own.params * 4);
        teardown(&own);
    }
    T(same, "1 to 7 rows, more counts than stored plans");
    teardown(&large);
}

/* Without batch statistics, evaluation equals training. */
static void
inference_is_the_same_function(const char *norm, const char *head)
{
    struct nn_spec spec = tiny;
    struct fixture f, g;

    spec.norm = norm;
    spec.head = head;
    f = setup(&spec, 4, 1);
    g = setup(&spec, 4, 0);
    forward(f.net, NN_TRAIN, 4, f.images, f.h, f.z);
    infer(g.net, 4, f.images, g.h, g.z);
    T_NEAR(apart(4 * f.features, g.h, f.h), 0, 1e-4, "norm %s: h", norm);
    T_NEAR(apart(4 * f.dim, g.z, f.z), 0, 1e-4, "norm %s: z", norm);
    T(!nn_net_grads(g.net), "no gradients without train");
    teardown(&f);
    teardown(&g);
}

/* Running statistics of one repeated batch converge to those of the batch. */
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
        forward(f.net, NN_TRAIN, f.n, f.images, f.h, NULL);
    memcpy(moved, nn_net_statistics(f.net, NULL), f.statistics * 4);
    infer(f.net, f.n, f.images, h, f.z);
    T_NEAR(apart(f.n * f.features, h, f.h), 0, 0.02,
           "after 150 times the same batch: its features");
    T(!memcmp(moved, nn_net_statistics(f.net, NULL), f.statistics * 4),
      "inference updates no statistics");
    infer(f.net, f.n, f.images, f.h, NULL);
    T(!memcmp(h, f.h, f.n * f.features * 4), "z is not needed for h");
    free(h);
    free(moved);
    teardown(&f);
}

static void
inference_preserves_the_last_forward(void)
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
      "features between forward and backward change nothing");
    free(want);
    teardown(&f);
}

static double
cosine(size_t n, const float *a, const float *b)
{
    return num_dot(n, a, b) / sqrt(num_dot(n, a, a) * num_dot(n, b, b));
}

static void
winograd_and_halves_are_close(void)
{
    struct nn_spec spec = tiny;
    struct fixture direct, winograd, halves;
    char *table, *plain;
    const char *layer = "layer2.0.conv1.weight 16x16x16 32x8x8 ";

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
    T(strstr(table, layer) != NULL, "the table has a line per convolution");
    free(table);
    free(plain);
    spec.bf16 = 1;
    spec.direct = 0;
    if (!num_dnn_bf16()) {
        T_SKIP("halves", "no AVX-512");
    } else {
        halves = setup(&spec, 6, 1);
        value(&halves);
        T_NEAR(apart(6 * direct.dim, halves.z, direct.z), 0, 0.1,
               "halves against f32");
        nn_net_backward(halves.net, halves.dz, 0);
        nn_net_backward(direct.net, direct.dz, 0);
        T_NEAR(cosine(direct.params, nn_net_grads(halves.net),
                      nn_net_grads(direct.net)),
               1, 0.01, "cosine of the gradients");
        teardown(&halves);
    }
    teardown(&direct);
    teardown(&winograd);
}

static void
heads_have_a_known_width(void)
{
    T(nn_head_width("512-128") == 128 && nn_head_width("24-8-bn") == 8 &&
          nn_head_width("project:64") == 64,
      "the output width of a head is known from its spec");
    T(!nn_head_width("none") && !nn_head_width("8-x"),
      "a head of none or of an unknown spec has no width");
}

int
main(void)
{
    heads_have_a_known_width();
    num_threads(1);
    gradient_is_the_slope();
    head_of_rows_begins_as_the_row();
    filters_are_fixed();
    gradient_of_a_large_batch_is_the_slope();
    modes_differ_in_their_statistics();
    statistics_update_from_other_nets();
    watchers_get_complete_gradients();
    fixed_chunks_add_up();
    runs_have_the_same_bits(1);
    runs_have_the_same_bits(2);
    gradients_add_up();
    any_number_of_rows();
    inference_is_the_same_function("none", "24-8");
    inference_is_the_same_function("group", "none");
    inference_uses_running_statistics();
    inference_preserves_the_last_forward();
    winograd_and_halves_are_close();
    return t_done();
}
