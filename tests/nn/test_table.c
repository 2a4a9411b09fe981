/* Encoders that are no networks: rows of free numbers, and a linear map of a
 * fixed basis or of given rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "nn/net.h"
#include "num/threads.h"
#include "num/vec.h"
#include "t.h"
#include "util/mem.h"
#include "util/rng.h"

enum { SIDE = 8, PIXELS = SIDE * SIDE * 3, N = 5 };

static const struct nn_spec table = {
    .arch = "table",
    .stem = "small",
    .norm = "batch",
    .head = "none",
    .hidden = 7,
    .samples = 4,
    .views = 2,
    .height = SIDE,
    .image_width = SIDE,
    .channels = 3,
    .deviation = {1, 1, 1},
};

static struct nn_net *
open_net(const struct nn_spec *spec, int train)
{
    struct err err = {""};
    struct nn_net *net = nn_net_new(spec, N, train, &err);

    T(net != NULL, "%s is made %s", spec->arch, err.msg);
    nn_net_init(net, 1);
    return net;
}

static void
rows_are_parameters(void)
{
    static const int32_t ids[N] = {6, 0, 3, 6, 1}, other[N] = {7, 7, 7, 7, 7};
    struct nn_net *net = open_net(&table, 1);
    float h[N * 7], z[N * 7], dz[N * 7], want[8 * 7] = {0};
    size_t n, off = 0;
    const struct nn_tensor *t = nn_net_tensors(net, &n);
    float *p, *g = nn_net_grads(net);

    T(n == 1 && !strcmp(t->name, "table.weight") && t->shape[0] == 4 &&
          t->shape[1] == 2 && t->shape[2] == 7,
      "one tensor, [samples,views,width]");
    p = nn_net_params(net, &n);
    T(n == 8 * 7 && nn_net_ids(net) == 8 && nn_net_dim(net) == 7,
      "a row for each image and view");
    nn_net_forward(net, NN_TRAIN, &(struct nn_input){.n = N, .ids = ids}, h, z);
    for (size_t i = 0; i < N; i++)
        off += !!memcmp(z + i * 7, p + ids[i] * 7, 7 * sizeof *z);
    T(!off && !memcmp(h, z, sizeof h), "z is the rows of the ids");
    for (size_t i = 0; i < N * 7; i++) {
        dz[i] = (float)i;
        want[ids[i / 7] * 7 + i % 7] += (float)i;
    }
    nn_net_backward(net, dz, 0);
    T(!memcmp(g, want, sizeof want), "their gradients are theirs alone");
    nn_net_forward(net, NN_TRAIN, &(struct nn_input){.n = N, .ids = ids}, h, z);
    nn_net_backward(net, dz, 1);
    for (size_t i = 0; i < 8 * 7; i++)
        off += g[i] != 2 * want[i];
    T(!off, "with add the gradients are added");
    nn_net_infer(net, &(struct nn_input){.n = N, .ids = other}, NULL, z);
    T(!memcmp(z + 28, p + 49, 7 * sizeof *z), "inference looks them up, too");
    nn_net_free(net);
}

static void
rows_are_normal(void)
{
    struct nn_spec spec = table;
    struct nn_net *net;
    double sum = 0, square;
    size_t n;
    float *p;

    spec.samples = 1000;
    spec.hidden = 50;
    net = open_net(&spec, 0);
    p = nn_net_params(net, &n);
    for (size_t i = 0; i < n; i++)
        sum += p[i];
    square = num_dot(n, p, p);
    // 100,000 of them: deviations .003 of the mean, .0045 of the variance
    T_NEAR(sum / (double)n, 0, 0.015, "mean 0");
    T_NEAR(square / (double)n, 1, 0.02, "variance 1");
    nn_net_free(net);
}

static void
a_head_may_follow(void)
{
    static const int32_t ids[N] = {0, 1, 2, 3, 4};
    struct nn_spec spec = table;
    struct nn_net *net;
    float z[N * 3], dz[N * 3] = {1};
    size_t n;

    spec.head = "5-3";
    net = open_net(&spec, 1);
    nn_net_forward(net, NN_TRAIN, &(struct nn_input){.n = N, .ids = ids}, NULL,
                   z);
    nn_net_backward(net, dz, 0);
    nn_net_params(net, &n);
    T(nn_net_dim(net) == 3 && nn_net_features(net) == 7, "a head after rows");
    T(num_dot(7, nn_net_grads(net), nn_net_grads(net)) > 0 &&
          num_dot(7, nn_net_grads(net) + 7, nn_net_grads(net) + 7) == 0,
      "passes the gradient to its row");
    nn_net_free(net);
}

static struct nn_spec
with_basis(long k)
{
    struct nn_spec spec = table;

    spec.arch = "linear";
    spec.samples = spec.views = 0;
    spec.hidden = 6;
    spec.basis = k;
    return spec;
}

/* z = W B (x - o) + b, naively. */
/* B (x - o) of each image, [N,k]. */
static void
inputs_of_w(size_t k, const uint8_t *images, const float *rows, double *seen)
{
    for (size_t i = 0; i < N * k; i++) {
        seen[i] = 0;
        for (size_t j = 0; j < PIXELS; j++)
            seen[i] +=
                (images[i / k * PIXELS + j] / 255. - rows[k * PIXELS + j]) *
                rows[i % k * PIXELS + j];
    }
}

static void
a_basis_is_fixed(void)
{
    enum { K = 4 };
    const struct nn_spec spec = with_basis(K);
    struct nn_net *net = open_net(&spec, 1);
    float rows[(K + 1) * PIXELS], z[N * 6], dz[N * 6];
    uint8_t images[N * PIXELS];
    double seen[N * K], off = 0, slope = 0;
    struct rng rng;
    size_t n;
    float *w = nn_net_params(net, &n), *g = nn_net_grads(net);

    T(n == 6 * (K + 1), "the basis is no parameter");
    rng_init(&rng, 1, RNG_TEST, 0, 0, 0);
    for (size_t i = 0; i < (K + 1) * PIXELS; i++)
        rows[i] = (float)rng_normal(&rng);
    for (size_t i = 0; i < N * PIXELS; i++)
        images[i] = (uint8_t)rng_u32(&rng);
    for (size_t i = 0; i < N * 6; i++)
        dz[i] = (float)rng_normal(&rng);
    nn_net_set_basis(net, rows);
    nn_net_forward(net, NN_TRAIN, &(struct nn_input){.n = N, .images = images},
                   NULL, z);
    nn_net_backward(net, dz, 0);
    inputs_of_w(K, images, rows, seen);
    for (size_t i = 0; i < N * 6; i++) {
        double want = w[6 * K + i % 6];

        for (size_t k = 0; k < K; k++)
            want += w[i % 6 * K + k] * seen[i / 6 * K + k];
        off = fmax(off, fabs(z[i] - want));
    }
    T(off < 1e-4, "z = W B (x - o) + b, error %.1e", off);
    for (size_t i = 0; i < 6 * K; i++) {
        double want = 0;

        for (size_t r = 0; r < N; r++)
            want += dz[r * 6 + i / K] * seen[r * K + i % K];
        slope = fmax(slope, fabs(g[i] - want));
    }
    T(slope < 1e-3, "dW is that of W's inputs, error %.1e", slope);
    nn_net_free(net);
}

static void
weights_of_a_basis_are_normal(void)
{
    struct nn_spec spec = with_basis(64);
    struct nn_net *net;
    double square;
    size_t n;
    float *w;

    spec.hidden = 500;
    net = open_net(&spec, 0);
    w = nn_net_params(net, &n);
    square = num_dot(n, w, w);
    T(n == 500 * 65, "a column for the constant");
    T_NEAR(65 * square / (double)n, 1, 0.04, "variance 1 / 65");
    nn_net_free(net);
}

/* z = W row + b, and no step changes a row. */
enum { GIVEN = 4 }; /* numbers of a row */

/* A linear layer of 6 outputs on 8 rows, two of each of 4 samples. */
static struct nn_net *
open_on_rows(void)
{
    struct nn_spec spec = with_basis(GIVEN);

    spec.arch = "rows";
    spec.samples = 4;
    spec.views = 2;
    return open_net(&spec, 1);
}

/* The error of z against W row + b, with W and b in w. */
static double
linear_error(const float *w, const float *row, const int32_t *ids,
             const float *z)
{
    double off = 0;

    for (size_t i = 0; i < N * 6; i++) {
        double want = w[6 * GIVEN + i % 6];

        for (size_t k = 0; k < GIVEN; k++)
            want += (double)w[i % 6 * GIVEN + k] *
                    row[(size_t)ids[i / 6] * GIVEN + k];
        off = fmax(off, fabs(z[i] - want));
    }
    return off;
}

/* The error of dW against the sum of dz row' over rows. */
static double
gradient_error(const float *dz, const float *row, const int32_t *ids,
               const float *g)
{
    double off = 0;

    for (size_t i = 0; i < 6 * GIVEN; i++) {
        double want = 0;

        for (size_t r = 0; r < N; r++)
            want += (double)dz[r * 6 + i / GIVEN] *
                    row[(size_t)ids[r] * GIVEN + i % GIVEN];
        off = fmax(off, fabs(g[i] - want));
    }
    return off;
}

static void
given_rows_stay(void)
{
    static const int32_t ids[N] = {6, 0, 3, 6, 1};
    float *row, *w, before[8 * GIVEN], z[N * 6], dz[N * 6];
    struct nn_net *net = open_on_rows();
    size_t n, running;
    const struct nn_tensor *t = nn_net_tensors(net, &n);

    T(n == 3 && !strcmp(t->name, "rows.weight") && t->statistic &&
          t->shape[0] == 4 && t->shape[1] == 2 && t->shape[2] == GIVEN,
      "rows are a statistic, [samples,views,numbers]");
    row = nn_net_statistics(net, &n);
    nn_net_running(net, &running);
    T(n == 8 * GIVEN && !running, "that no step changes");
    w = nn_net_params(net, &n);
    T(n == 6 * (GIVEN + 1) && nn_net_ids(net) == 8,
      "only the layer is trained");
    for (size_t i = 0; i < 8 * GIVEN; i++)
        before[i] = row[i] = (float)sin((double)i);
    for (size_t i = 0; i < N * 6; i++)
        dz[i] = (float)cos((double)i);
    nn_net_forward(net, NN_TRAIN, &(struct nn_input){.n = N, .ids = ids}, NULL,
                   z);
    nn_net_backward(net, dz, 0);
    T(linear_error(w, row, ids, z) < 1e-5, "z = W row + b");
    T(gradient_error(dz, row, ids, nn_net_grads(net)) < 1e-5,
      "dW is that of the rows");
    T(!memcmp(before, row, sizeof before), "the rows are unchanged");
    nn_net_free(net);
}

static void
weights_of_rows_are_normal(void)
{
    struct nn_spec spec = with_basis(64);
    struct nn_net *net;
    double square;
    size_t n;
    float *w;

    spec.arch = "rows";
    spec.samples = spec.views = 2;
    spec.hidden = 500;
    net = open_net(&spec, 0);
    w = nn_net_params(net, &n);
    square = num_dot(n, w, w);
    T_NEAR(65 * square / (double)n, 1, 0.04, "variance 1 / 65 after rows");
    nn_net_free(net);
}

static void
invalid_specs_are_refused(void)
{
    struct nn_spec none = table, many = table, deep = with_basis(4);
    struct nn_spec empty = table;
    struct err err;

    empty.arch = "rows";
    T(!nn_net_new(&empty, N, 1, &err) && strstr(err.msg, "rows of 0 numbers"),
      "%s", err.msg);

    none.samples = 0;
    many.views = 100000;
    deep.arch = "mlp";
    T(!nn_net_new(&none, N, 1, &err) && strstr(err.msg, "number of images 0"),
      "%s", err.msg);
    T(!nn_net_new(&many, N, 1, &err) && strstr(err.msg, "number of views"),
      "%s", err.msg);
    T(!nn_net_new(&deep, N, 1, &err) && strstr(err.msg, "not for mlp"), "%s",
      err.msg);
}

int
main(void)
{
    num_threads(1);
    rows_are_parameters();
    rows_are_normal();
    a_head_may_follow();
    a_basis_is_fixed();
    weights_of_a_basis_are_normal();
    given_rows_stay();
    weights_of_rows_are_normal();
    invalid_specs_are_refused();
    return t_done();
}
