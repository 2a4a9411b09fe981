#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "num/vec.h"
#include "t.h"
#include "tiny.h"
#include "util/mem.h"

enum { ROWS = 13 };

static uint8_t images[ROWS * TINY_IMAGE];
static float dz[ROWS * TINY_DIM];

static void
fill(void)
{
    struct rng rng;

    tiny_images(images, ROWS, 1);
    rng_init(&rng, 2, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < ROWS * TINY_DIM; i++)
        dz[i] = (float)rng_normal(&rng);
}

/* Forward and backward of all rows. */
static void
step(struct train_encoder *encoder, float *z)
{
    const struct nn_input input = {.n = ROWS, .images = images};
    struct err err;

    T(!train_encoder_forward(encoder, &input, NN_TRAIN, z, &err) &&
          !train_encoder_backward(encoder, dz, &err),
      "forward and backward of a batch");
}

static double
norm(const struct train_encoder *encoder)
{
    double length = -1;
    struct err err;

    T(!train_encoder_norm(encoder, &length, &err), "the gradient has a length");
    return length;
}

/* The largest difference, over the largest number. */
static double
relative_difference(size_t n, const float *a, const float *b)
{
    double most = 0, large = 0;

    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)a[i] - b[i]));
        large = fmax(large, fabs((double)b[i]));
    }
    return most / large;
}

/* Rows of two sizes against an encoder of each, with the same weights. */
static void
two_sizes_are_two_encoders(size_t micro)
{
    enum {
        VIEWS = 3,
        SMALL = 1,
        B = 4,
        SIDE = 2 * TINY_SIDE,
        N = VIEWS * B,
        LARGE = (VIEWS - SMALL) * B,
        IMAGE = SIDE * SIDE * 3
    };
    static uint8_t pixels[LARGE * IMAGE + B * TINY_IMAGE];
    struct train_encoder_spec large = tiny_spec("group", LARGE, 0);
    struct train_encoder_spec spec = tiny_spec("group", N, micro);
    struct train_encoder both, one, two = tiny_open("group", B, 0);
    struct nn_input input = {.n = N, .images = pixels};
    float z[N * TINY_DIM], want[N * TINY_DIM], *grads, *other;
    struct err err;
    size_t n;

    spec.views = VIEWS;
    spec.small = SMALL;
    spec.small_height = spec.small_width = TINY_SIDE;
    spec.net.height = spec.net.image_width = SIDE;
    large.net = spec.net;
    tiny_images(pixels, sizeof pixels / TINY_IMAGE, 3);
    T(!train_native_open(&both, &spec, &err) &&
          !train_native_open(&one, &large, &err),
      "encoders of two sizes");
    T(!train_encoder_forward(&both, &input, NN_TRAIN, z, &err) &&
          !train_encoder_backward(&both, dz, &err),
      "a batch of two sizes, micro-batches of %zu", micro);
    input.n = LARGE;
    train_encoder_forward(&one, &input, NN_TRAIN, want, &err);
    train_encoder_backward(&one, dz, &err);
    input.n = B;
    input.images = pixels + LARGE * IMAGE;
    train_encoder_forward(&two, &input, NN_TRAIN, want + LARGE * TINY_DIM,
                          &err);
    train_encoder_backward(&two, dz + LARGE * TINY_DIM, &err);
    T(relative_difference(N * TINY_DIM, z, want) < 1e-5,
      "its embeddings are those of an encoder for each size");
    nn_net_params(train_native(&one)->net, &n);
    grads = nn_net_grads(train_native(&one)->net);
    other = nn_net_grads(train_native(&two)->net);
    for (size_t i = 0; i < n; i++)
        grads[i] += other[i];
    T(relative_difference(n, nn_net_grads(train_native(&both)->net), grads) <
          1e-4,
      "the gradient of both sizes is the sum of theirs");
    train_encoder_close(&both);
    train_encoder_close(&one);
    train_encoder_close(&two);
}

static void
micro_batches_have_the_gradient_of_the_whole(void)
{
    const size_t micro[] = {1, 3, 8, 12};
    struct train_encoder whole = tiny_open("group", ROWS, 0);
    float z[ROWS * TINY_DIM], parts_z[ROWS * TINY_DIM];
    size_t n;

    step(&whole, z);
    nn_net_params(train_native(&whole)->net, &n);
    for (size_t i = 0; i < sizeof micro / sizeof *micro; i++) {
        struct train_encoder parts = tiny_open("group", ROWS, micro[i]);

        step(&parts, parts_z);
        T(relative_difference(ROWS * TINY_DIM, parts_z, z) < 1e-5,
          "micro-batches of %zu: the embeddings of the whole batch", micro[i]);
        T(relative_difference(n, nn_net_grads(train_native(&parts)->net),
                              nn_net_grads(train_native(&whole)->net)) < 1e-4,
          "micro-batches of %zu: the gradient of the whole batch", micro[i]);
        T_NEAR(
            norm(&parts), norm(&whole), 1e-4,
            "micro-batches: the gradient's length is that of the whole batch");
        train_encoder_close(&parts);
    }
    train_encoder_close(&whole);
}

/* L = <dz, z> by central differences along the gradient itself. */
static void
the_gradient_is_that_of_the_embeddings(void)
{
    struct train_encoder e = tiny_open("group", ROWS, 5);
    const struct nn_input input = {.n = ROWS, .images = images};
    float z[ROWS * TINY_DIM];
    struct err err;
    size_t n;
    float *params = nn_net_params(train_native(&e)->net, &n);
    float *grads = mem_array(n, sizeof *grads);
    double length, slope = 0;

    step(&e, z);
    length = norm(&e);
    memcpy(grads, nn_net_grads(train_native(&e)->net), n * sizeof *grads);
    for (int side = -1; side <= 1; side += 2) {
        const double h = side * 1e-4 / length;

        for (size_t i = 0; i < n; i++)
            params[i] += (float)(h * grads[i]);
        train_encoder_forward(&e, &input, NN_ENCODE, z, &err);
        for (size_t i = 0; i < ROWS * TINY_DIM; i++)
            slope += dz[i] * (double)z[i] / (2 * h);
        for (size_t i = 0; i < n; i++)
            params[i] -= (float)(h * grads[i]);
    }
    T_NEAR(slope / (length * length), 1, 2e-2,
           "central differences along the gradient are its squared length");
    free(grads);
    train_encoder_close(&e);
}

static void
undo_restores_statistics(void)
{
    const size_t micro[] = {0, 4};

    for (int i = 0; i < 2; i++) {
        struct train_encoder e = tiny_open("batch", ROWS, micro[i]);
        const struct nn_input input = {.n = ROWS, .images = images};
        float z[ROWS * TINY_DIM];
        struct err err;
        size_t n;
        float *now = nn_net_statistics(train_native(&e)->net, &n);
        float *before = mem_array(n, sizeof *before);

        memcpy(before, now, n * sizeof *now);
        train_encoder_forward(&e, &input, NN_ENCODE, z, &err);
        T(!memcmp(before, now, n * sizeof *now),
          "encoding updates no statistics");
        step(&e, z);
        T(memcmp(before, now, n * sizeof *now), "a step updates them");
        train_encoder_undo(&e);
        T(!memcmp(before, now, n * sizeof *now), "undo restores them");
        free(before);
        train_encoder_close(&e);
    }
}

static void
an_update_follows_the_gradient(void)
{
    struct train_encoder e = tiny_open("group", ROWS, 0);
    struct err err;
    size_t n;
    float *params = nn_net_params(train_native(&e)->net, &n);
    float *want = mem_array(n, sizeof *want), z[ROWS * TINY_DIM];

    step(&e, z);
    memcpy(want, params, n * sizeof *want);
    num_axpy(n, -0.25f, nn_net_grads(train_native(&e)->net), want);
    train_encoder_update(&e, 0.25, &err);
    T(relative_difference(n, params, want) < 1e-6,
      "the first step of sgd is p -= rate g");
    T(!train_encoder_part(&e).prepare(&e, &err), "all is finite");
    params[n - 1] = NAN;
    T(train_encoder_part(&e).prepare(&e, &err),
      "one weight that is not finite is found");
    T(train_encoder_stats_finite(&e), "running statistics are finite");
    free(want);
    train_encoder_close(&e);
}

static void
a_loaded_encoder_trains_to_the_same_bits(void)
{
    struct train_encoder a = tiny_open("batch", ROWS, 4);
    struct train_encoder b = tiny_open("batch", ROWS, 4);
    size_t n;
    const float *one = nn_net_params(train_native(&a)->net, &n);
    const float *other = nn_net_params(train_native(&b)->net, &n);
    float z[ROWS * TINY_DIM];
    struct err err = {""};

    nn_average_init(&train_native(&a)->average, train_native(&a)->net);
    nn_average_init(&train_native(&b)->average, train_native(&b)->net);
    step(&a, z);
    train_encoder_update(&a, 0.1, &err);
    train_encoder_average(&a, &err);
    T(!train_encoder_part(&a).save(&a, ".", &err), "saved: %s", err.msg);
    T(!train_encoder_part(&b).load(&b, ".", &err), "loaded: %s", err.msg);
    for (int i = 0; i < 2; i++) {
        step(i ? &b : &a, z);
        train_encoder_update(i ? &b : &a, 0.1, &err);
        train_encoder_average(i ? &b : &a, &err);
    }
    T(!memcmp(one, other, n * sizeof *one),
      "the next step has the same weights, momentum included");
    T(train_native(&a)->average.steps == 2 &&
          train_native(&b)->average.steps == 2 &&
          !memcmp(train_native(&a)->average.mean,
                  train_native(&b)->average.mean, n * sizeof(double)),
      "the next step has the same mean of weights");
    train_encoder_close(&a);
    train_encoder_close(&b);
    T(!unlink("model.safetensors") && !unlink("head.safetensors") &&
          !unlink("optim.safetensors") && !unlink("average.safetensors"),
      "four files are written");
}

static void
unknown_names_are_refused(void)
{
    struct train_encoder_spec spec = tiny_spec("batch", ROWS, 0);
    struct train_encoder e;
    struct err err;

    spec.net.arch = "alexnet";
    T(train_native_open(&e, &spec, &err) && strstr(err.msg, "alexnet"),
      "an unknown net is refused: %s", err.msg);
    T(!e.ops, "the encoder is closed");
    spec = tiny_spec("batch", ROWS, 0);
    spec.optim.name = "newton";
    T(train_native_open(&e, &spec, &err) && strstr(err.msg, "newton"),
      "an unknown optimiser is refused: %s", err.msg);
    T(!e.ops, "the encoder is closed");
    train_encoder_close(&e);
}

int
main(void)
{
    char scratch[256];

    fill();
    child_scratch(scratch);
    micro_batches_have_the_gradient_of_the_whole();
    two_sizes_are_two_encoders(0);
    two_sizes_are_two_encoders(3);
    two_sizes_are_two_encoders(5);
    the_gradient_is_that_of_the_embeddings();
    undo_restores_statistics();
    an_update_follows_the_gradient();
    a_loaded_encoder_trains_to_the_same_bits();
    unknown_names_are_refused();
    T(!chdir("/") && !rmdir(scratch), "nothing else was written");
    return t_done();
}
